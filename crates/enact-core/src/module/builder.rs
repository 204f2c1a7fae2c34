//! Builders of modules: settings in any order, validated once in `build`.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::compose::{Module, Part};
use super::core::{Core, Kind, Wiring};
use super::{ChainOfThought, Predict, ReAct};
use crate::adapter::{AdapterChoice, Completion};
use crate::driver::{AfterCall, BeforeCall, Condition, HookCall, HookStep};
use crate::error::Error;
use crate::model::{LanguageModel, ModelOptions, Prices};
use crate::predictor::{Demo, SavedModule};
use crate::react::{Program, ProgramError, Verdict, fill_thought_prompt};
use crate::run::{Limits, Observation, PredictorName, Rules, TraceStep};
use crate::signature::{Dynamic, Field, Shape, Signature, SignatureError, Type, TypedSignature};
use crate::tool::{ConfirmationRule, Tools};

/// The output that [`Builder::confidence`] adds.
pub(super) const CONFIDENCE: &str = "confidence";

/// How models that call tools natively are asked for a thought.
const THOUGHT_PROMPT: &str = "Before each call say in plain text what you know, what is still \
                              missing and why this call comes next.";

/// Builds a module. The order of the calls doesn't matter: all settings are validated once, in
/// `build`.
///
/// ```
/// use enact::{ReAct, Tools};
///
/// let agent = ReAct::builder("question -> answer: int")
///     .tools(Tools::new())
///     .max_iterations(5)
///     .build()?;
///
/// let error = ReAct::builder("question ->").build().unwrap_err();
/// assert!(error.to_string().contains("output"));
/// # Ok::<_, enact::Error>(())
/// ```
#[must_use = "a builder does nothing until it is built"]
#[derive(Clone)]
pub struct Builder<M> {
    signature: Result<Signature, SignatureError>,
    plan: Plan,
    module: PhantomData<fn() -> M>,
}

/// The settings besides the signature.
#[derive(Clone, Default)]
struct Plan {
    instructions: Option<String>,
    tools: Tools,
    confirmations: Vec<(String, ConfirmationRule)>,
    completion: Completion,
    has_confidence: bool,
    demos: Vec<Demo>,
    options: ModelOptions,
    limits: Limits,
    rules: Rules,
    thought_prompt: Option<String>,
    saved: Option<SavedModule>,
    wiring: Wiring,
}

macro_rules! buildable {
    ($name:ident, $what:literal) => {
        impl $name<Dynamic> {
            #[doc = concat!("Builds ", $what, " of an arrow string or a signature value.")]
            pub fn builder<E>(signature: impl TryInto<Signature, Error = E>) -> Builder<Self>
            where
                E: Into<SignatureError>,
            {
                Builder::new(signature.try_into().map_err(Into::into))
            }

            #[doc = concat!("Builds ", $what, " of a signature that is a Rust type.")]
            pub fn builder_for<S: TypedSignature>() -> Builder<$name<S>> {
                Builder::new(Ok(S::signature()))
            }
        }

        impl<S: Shape> Builder<$name<S>> {
            /// Builds the module and validates all settings.
            ///
            /// # Errors
            /// If the signature, a tool, a rule for a tool, the thought prompt, a program or saved state is
            /// invalid.
            pub fn build(mut self) -> Result<$name<S>, Error> {
                let saved = self.plan.saved.take();
                let mut module = $name::of(self.core(Kind::$name)?);
                if let Some(saved) = saved {
                    module.load(&saved)?;
                }
                Ok(module)
            }
        }
    };
}

buildable!(Predict, "a prediction");
buildable!(ChainOfThought, "a reasoned prediction");
buildable!(ReAct, "an agent");

impl<M> Builder<M> {
    fn new(signature: Result<Signature, SignatureError>) -> Self {
        Self {
            signature,
            plan: Plan::default(),
            module: PhantomData,
        }
    }

    /// Sets the model, overriding scope and global settings.
    pub fn model(mut self, model: impl LanguageModel + 'static) -> Self {
        self.plan.wiring.model = Some(Arc::new(model));
        self
    }

    /// Sets the adapter, overriding scope and global settings.
    pub fn adapter(mut self, adapter: impl Into<AdapterChoice>) -> Self {
        self.plan.wiring.adapter = Some(adapter.into());
        self
    }

    /// Replaces the instructions of the signature in all prompts.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.plan.instructions = Some(instructions.into());
        self
    }

    /// Adds worked examples that the model sees before each task.
    pub fn demos(mut self, demos: impl IntoIterator<Item = Demo>) -> Self {
        self.plan.demos = demos.into_iter().collect();
        self
    }

    /// Sets how many consecutive replies can be unparsable or call nothing that exists before the run
    /// gives up. Default: 3; 0 disables repairing.
    pub fn max_repairs(self, max_repairs: u32) -> Self {
        self.change_limits(|limits| limits.max_repairs = max_repairs)
    }

    /// Sets the sampling options of all requests.
    pub fn options(mut self, options: ModelOptions) -> Self {
        self.plan.options = options;
        self
    }

    /// Loads saved state, see [`Module::save`]. It overrides demonstrations and options set on this
    /// builder.
    pub fn load(mut self, saved: SavedModule) -> Self {
        self.plan.saved = Some(saved);
        self
    }

    fn change_limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.plan.limits);
        self
    }

    fn core(self, kind: Kind) -> Result<Core, Error> {
        let (mut signature, plan) = (self.signature?, self.plan);
        if let Some(instructions) = plan.instructions {
            signature = signature.with_instructions(instructions);
        }
        if plan.has_confidence {
            signature = signature.append_output(confidence())?;
        }
        let mut rules = plan.confirmations.into_iter();
        let tools = rules.try_fold(plan.tools, |tools, (tool, rule)| {
            tools.with_confirmation(&tool, rule)
        });
        let tools = tools.map_err(ProgramError::from)?;
        let mut program = match kind {
            Kind::Predict => Program::predict(signature)?,
            Kind::ChainOfThought => Program::chain_of_thought(signature)?,
            Kind::ReAct => Program::react(signature, &tools, plan.completion)?,
        };
        program.limits = plan.limits;
        program.rules = plan.rules;
        program.checks_calls = plan.wiring.before_call.is_some();
        program.has_condition = plan.wiring.condition.is_some();
        let note = match &plan.thought_prompt {
            Some(template) => Some(fill_thought_prompt(template, &program)?),
            None if program.rules.thoughts.required => Some(THOUGHT_PROMPT.to_owned()),
            None => None,
        };
        for name in PredictorName::ALL {
            let options = plan.options.clone();
            program.predictor_mut(name).set_options(options);
        }
        // The predictor that chooses calls, or the only one.
        let first = program.predictor_mut(PredictorName::Step);
        first.set_demos(plan.demos);
        first.set_note(note);
        plan.wiring.check(&program)?;
        Ok(Core::new(kind, program, tools, plan.wiring))
    }
}

impl<S: Shape> Builder<ReAct<S>> {
    /// Sets the tools of the agent. Default: none.
    pub fn tools(mut self, tools: Tools) -> Self {
        self.plan.tools = tools;
        self
    }

    /// Sets how the agent returns its outputs: `submit` (default), or `finish` and an extraction.
    pub fn completion(mut self, completion: Completion) -> Self {
        self.plan.completion = completion;
        self
    }

    /// Adds a confidence from 0 to 1 that the model reports with its outputs; read it with
    /// [`Prediction::confidence`](crate::Prediction::confidence). It is a self-assessment, not a
    /// probability.
    pub fn confidence(mut self) -> Self {
        self.plan.has_confidence = true;
        self
    }

    /// Sets the adapter for the steps only.
    pub fn step_adapter(mut self, adapter: impl Into<AdapterChoice>) -> Self {
        self.plan.wiring.step_adapter = Some(adapter.into());
        self
    }

    /// Sets the number of steps before the agent has to answer, called `max_iters` or `max_steps`
    /// elsewhere. Default: 10.
    pub fn max_iterations(self, max_iterations: u32) -> Self {
        self.change_limits(|limits| limits.max_iterations = max_iterations)
    }

    /// Changes the limits of a run: `limits(|limits| limits.token_budget = Some(50_000))`.
    pub fn limits(self, change: impl FnOnce(&mut Limits)) -> Self {
        self.change_limits(change)
    }

    /// Changes the rules for how a run thinks and ends:
    /// `rules(|rules| rules.success_phrases = vec!["I have it".into()])`.
    pub fn rules(mut self, change: impl FnOnce(&mut Rules)) -> Self {
        change(&mut self.plan.rules);
        self
    }

    /// Sets instructions for thinking before each call. `{inputs}`, `{outputs}` and `{tools}` are
    /// replaced with names; any other name in braces is an error.
    pub fn thought_prompt(mut self, template: impl Into<String>) -> Self {
        self.plan.thought_prompt = Some(template.into());
        self
    }

    /// Sets prices per token. Required for a cost budget; used for costs in traces.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.plan.wiring.prices = prices;
        self
    }

    /// Inspects every call after its arguments are validated and before it runs. The function can let
    /// the call run, change its arguments, veto it with a message for the model, or ask a person. A
    /// panic is a veto.
    ///
    /// Outputs are inspected too, as a call of `submit` (or `finish`, see [`completion`](Self::completion)),
    /// in whichever way they were returned. The model sees why they were vetoed and is asked again, up
    /// to `max_repairs` times in a row.
    pub fn before_call(
        mut self,
        check: impl Fn(&crate::run::Call) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        let hook = BeforeCall::new(move |asked| std::future::ready(check(&asked.call)));
        self.plan.wiring.before_call = Some(hook);
        self
    }

    /// Does what [`before_call`](Self::before_call) does, with a function that waits for something:
    /// a service, a process. Cancelling the run drops what it waits for.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use enact::model::{ScriptedModel, call};
    /// use enact::{ReAct, Verdict, values};
    /// use serde_json::json;
    ///
    /// let agent = ReAct::builder("question -> answer")
    ///     .before_call_async(|asked| async move {
    ///         match asked.call.args.get("answer") {
    ///             Some(answer) if answer == "?" => Verdict::Veto("Give an answer.".into()),
    ///             _ => Verdict::Allow,
    ///         }
    ///     })
    ///     .model(ScriptedModel::new([
    ///         call("submit", json!({"answer": "?"})),
    ///         call("submit", json!({"answer": "Paris"})),
    ///     ]))
    ///     .build()?;
    /// let done = agent.call(values! { question: "Capital of France?" }).await?.finished()?;
    /// assert_eq!(done.outputs["answer"], "Paris");
    /// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn before_call_async<W>(
        mut self,
        check: impl Fn(HookCall) -> W + Send + Sync + 'static,
    ) -> Self
    where
        W: Future<Output = Verdict> + Send + 'static,
    {
        self.plan.wiring.before_call = Some(BeforeCall::new(check));
        self
    }

    /// Inspects every result, and can replace what is logged and shown to the model. After a panic,
    /// the model sees an error instead of the result.
    pub fn after_call(
        mut self,
        change: impl Fn(&crate::run::Call, Observation) -> Observation + Send + Sync + 'static,
    ) -> Self {
        let hook = AfterCall::new(move |asked: HookCall, observation| {
            std::future::ready(change(&asked.call, observation))
        });
        self.plan.wiring.after_call = Some(hook);
        self
    }

    /// Does what [`after_call`](Self::after_call) does, with a function that waits for something.
    pub fn after_call_async<W>(
        mut self,
        change: impl Fn(HookCall, Observation) -> W + Send + Sync + 'static,
    ) -> Self
    where
        W: Future<Output = Observation> + Send + 'static,
    {
        self.plan.wiring.after_call = Some(AfterCall::new(change));
        self
    }

    /// Ends the loop when the condition returns true for a completed step: the agent answers from what
    /// it knows, with the reason [`Custom`](crate::TerminationReason::Custom). A panic also ends it.
    pub fn ending_when(
        mut self,
        condition: impl Fn(&TraceStep) -> bool + Send + Sync + 'static,
    ) -> Self {
        let hook = Condition::new(move |asked| std::future::ready(Ok(condition(&asked.step))));
        self.plan.wiring.condition = Some(hook);
        self
    }

    /// Does what [`ending_when`](Self::ending_when) does, with a function that waits for something.
    /// An error stops the run, which can be resumed: the condition is checked again then.
    pub fn ending_when_async<W, E>(
        mut self,
        condition: impl Fn(HookStep) -> W + Send + Sync + 'static,
    ) -> Self
    where
        W: Future<Output = Result<bool, E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let hook = Condition::new(move |asked| {
            let holds = condition(asked);
            async move { holds.await.map_err(Into::into) }
        });
        self.plan.wiring.condition = Some(hook);
        self
    }

    /// Sets from outside when a person is asked about calls of a tool, whatever the tool says: a
    /// [`Confirmation`](crate::tool::Confirmation), or a function of their arguments.
    pub fn confirmation(
        mut self,
        tool: impl Into<String>,
        rule: impl Into<ConfirmationRule>,
    ) -> Self {
        let rule = (tool.into(), rule.into());
        self.plan.confirmations.push(rule);
        self
    }

    /// Sets the program that provides the outputs if the loop ended without them; by default, one
    /// request that reasons first. It receives the inputs of the agent and `trajectory`, and returns the
    /// outputs. A [`Predict`] saves the reasoning; [`Signature::with_trajectory`] is its signature.
    pub fn extraction(mut self, program: impl Module + 'static) -> Self {
        self.plan.wiring.extraction = Some(Part::new(program));
        self
    }

    /// Sets the program that summarises a transcript that no longer fits into a prompt. It receives
    /// `task` and `transcript`, and returns `summary`.
    pub fn compaction(mut self, program: impl Module + 'static) -> Self {
        self.plan.wiring.compaction = Some(Part::new(program));
        self
    }
}

fn confidence() -> Field {
    let schema = serde_json::json!({"type": "number", "minimum": 0, "maximum": 1});
    Field::new(CONFIDENCE, Type::schema(CONFIDENCE, schema))
        .describe("How sure you are of the other outputs: from 0, a guess, to 1, certain.")
}

impl<M> fmt::Debug for Builder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = self.signature.as_ref().map(Signature::arrow);
        f.debug_tuple("Builder").field(&arrow).finish()
    }
}
