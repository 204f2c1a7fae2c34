//! Modules: what a user holds and calls. [`Predict`] asks once, [`ChainOfThought`] reasons before
//! it answers, [`ReAct`] works with tools until the outputs are committed.

mod call;
mod confirmations;
mod core;
mod delegate;
mod handover;
mod prediction;
mod stream;

use std::marker::PhantomData;
use std::sync::Arc;

pub use call::Call;
pub use confirmations::Confirmations;
pub use delegate::AgentTool;
pub use handover::HandOver;
pub use prediction::{Outcome, PauseContext, Paused, Prediction};
pub use stream::RunStream;

use self::core::{Core, Kind};
use crate::adapter::{AdapterChoice, Completion};
use crate::driver::{AfterCall, BeforeCall, Condition};
use crate::error::Error;
use crate::model::{LanguageModel, ModelOptions, Prices};
use crate::predictor::{Demo, Predictor, SavedModule};
use crate::react::{Program, Verdict};
use crate::run::store::Store;
use crate::run::{Limits, Observation, Rules, Run, TraceStep};
use crate::signature::{Dynamic, Shape, Signature, TypedSignature};
use crate::tool::{Confirmation, Tools};

macro_rules! module {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<S: Shape = Dynamic> {
            core: Core,
            shape: PhantomData<fn() -> S>,
        }

        impl<S: Shape> $name<S> {
            fn of(core: Core) -> Self {
                Self { core, shape: PhantomData }
            }

            /// What goes in and what comes out.
            pub fn signature(&self) -> &Signature {
                &self.core.program().declared
            }

            /// Asks this model, whatever is set for the scope or the program.
            #[must_use]
            pub fn with_model(mut self, model: impl LanguageModel + 'static) -> Self {
                self.core.set_model(Arc::new(model));
                self
            }

            /// Uses this adapter, whatever is set for the scope or the program.
            #[must_use]
            pub fn with_adapter(mut self, adapter: impl Into<AdapterChoice>) -> Self {
                self.core.set_adapter(adapter.into());
                self
            }

            /// Replaces the instructions, in every inner prompt.
            pub fn with_instructions(mut self, instructions: impl Into<String>) -> Result<Self, Error> {
                self.core.set_instructions(instructions.into())?;
                Ok(self)
            }

            /// Shows the model these worked examples before each task.
            #[must_use]
            pub fn with_demos(mut self, demos: Vec<Demo>) -> Self {
                self.core.set_demos(demos);
                self
            }

            /// How many replies in a row may be unreadable or call nothing that exists before
            /// the model is no longer asked again; 3 unless set, 0 switches repairing off.
            #[must_use]
            pub fn with_max_repairs(mut self, max_repairs: u32) -> Self {
                self.core.change_limits(|limits| limits.max_repairs = max_repairs);
                self
            }

            /// Samples this way in every inner request.
            #[must_use]
            pub fn with_options(mut self, options: ModelOptions) -> Self {
                self.core.for_each_predictor(|predictor| predictor.set_options(options.clone()));
                self
            }

            /// The predictors by name.
            pub fn predictors(&self) -> Vec<(&'static str, &Predictor)> {
                self.core.predictors()
            }

            /// The predictor of this name, to tune it.
            pub fn predictor_mut(&mut self, name: &str) -> Option<&mut Predictor> {
                self.core.predictor_mut(name)
            }

            /// What was tuned, to be kept as JSON.
            pub fn save(&self) -> SavedModule {
                self.core.save()
            }

            /// Takes over what was tuned elsewhere. On failure nothing is changed, and the error
            /// names what does not fit.
            pub fn load(&mut self, saved: &SavedModule) -> Result<(), Error> {
                self.core.load(saved)
            }

            /// Starts a call. Nothing happens until it is awaited.
            pub fn call(&self, input: S::Input) -> Call<'_, S> {
                Call::new(&self.core, input)
            }

            /// Goes on with a run that was paused or interrupted, from its log.
            pub fn resume(&self, run: impl Into<Run>) -> Call<'_, S> {
                Call::resume(&self.core, run.into())
            }

            /// Goes on with a run that a store keeps.
            pub fn resume_stored(
                &self,
                store: impl Store + 'static,
                run_id: impl Into<String>,
            ) -> Call<'_, S> {
                Call::resume_stored(&self.core, Arc::new(store), run_id.into())
            }
        }

        impl<S: Shape> Clone for $name<S> {
            fn clone(&self) -> Self {
                Self::of(self.core.clone())
            }
        }

        impl<S: Shape> std::fmt::Debug for $name<S> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.signature().arrow()).finish()
            }
        }
    };
}

module! {
    /// Asks a model once for the outputs of a signature.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use enact::model::{ScriptedModel, say};
    /// use enact::{Predict, values};
    ///
    /// let qa = Predict::dynamic("question -> answer")?
    ///     .with_model(ScriptedModel::new([say("Paris")]));
    /// let prediction = qa.call(values! { question: "Capital of France?" }).await?.finished()?;
    /// assert_eq!(prediction.outputs["answer"], "Paris");
    /// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    Predict
}

module! {
    /// Asks a model for the outputs of a signature, after it has reasoned.
    ///
    /// The reasoning is the output `reasoning` of the reply; read it with
    /// [`Prediction::reasoning`].
    ChainOfThought
}

module! {
    /// An agent: thinks, calls tools and observes until the outputs are committed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use enact::model::{ScriptedModel, call};
    /// use enact::{ReAct, ToolError, tool, tools, values};
    /// use serde_json::json;
    ///
    /// /// Adds two numbers.
    /// #[tool(read_only)]
    /// async fn add(a: i64, b: i64) -> Result<i64, ToolError> {
    ///     Ok(a + b)
    /// }
    ///
    /// let agent = ReAct::dynamic("question -> answer: int", tools![add])?
    ///     .with_model(ScriptedModel::new([
    ///         call("add", json!({"a": 2, "b": 40})).thinking("I add them."),
    ///         call("submit", json!({"answer": 42})),
    ///     ]));
    /// let done = agent.call(values! { question: "2 + 40?" }).await?.finished()?;
    /// assert_eq!(done.outputs["answer"], 42);
    /// assert_eq!(done.trajectory().steps()[0].observation, 42);
    /// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ReAct
}

impl<S: TypedSignature> Predict<S> {
    /// A prediction of a typed signature.
    pub fn new() -> Result<Self, Error> {
        Ok(Self::of(Core::new(
            Kind::Predict,
            Program::predict(S::signature())?,
            Tools::new(),
        )))
    }
}

impl Predict<Dynamic> {
    /// A prediction of an arrow string or a signature value.
    pub fn dynamic<E>(signature: impl TryInto<Signature, Error = E>) -> Result<Self, Error>
    where
        Error: From<E>,
    {
        let program = Program::predict(signature.try_into()?)?;
        Ok(Self::of(Core::new(Kind::Predict, program, Tools::new())))
    }
}

impl<S: TypedSignature> ChainOfThought<S> {
    /// A reasoned prediction of a typed signature.
    pub fn new() -> Result<Self, Error> {
        let program = Program::chain_of_thought(S::signature())?;
        Ok(Self::of(Core::new(
            Kind::ChainOfThought,
            program,
            Tools::new(),
        )))
    }
}

impl ChainOfThought<Dynamic> {
    /// A reasoned prediction of an arrow string or a signature value.
    pub fn dynamic<E>(signature: impl TryInto<Signature, Error = E>) -> Result<Self, Error>
    where
        Error: From<E>,
    {
        let program = Program::chain_of_thought(signature.try_into()?)?;
        Ok(Self::of(Core::new(
            Kind::ChainOfThought,
            program,
            Tools::new(),
        )))
    }
}

impl<S: TypedSignature> ReAct<S> {
    /// An agent of a typed signature with these tools.
    pub fn new(tools: Tools) -> Result<Self, Error> {
        let program = Program::react(S::signature(), &tools, Completion::default())?;
        Ok(Self::of(Core::new(Kind::ReAct, program, tools)))
    }
}

impl ReAct<Dynamic> {
    /// An agent of an arrow string or a signature value with these tools.
    pub fn dynamic<E>(
        signature: impl TryInto<Signature, Error = E>,
        tools: Tools,
    ) -> Result<Self, Error>
    where
        Error: From<E>,
    {
        let program = Program::react(signature.try_into()?, &tools, Completion::default())?;
        Ok(Self::of(Core::new(Kind::ReAct, program, tools)))
    }
}

impl<S: Shape> ReAct<S> {
    /// How the agent comes to its outputs: `submit` by default, or `finish` and an extraction.
    pub fn with_completion(mut self, completion: Completion) -> Result<Self, Error> {
        self.core.set_completion(completion)?;
        Ok(self)
    }

    /// Has the model say how sure it is, from 0 to 1, whichever way it comes to its outputs: read it
    /// with [`Prediction::confidence`]. It is what the model says of itself, no probability.
    pub fn with_confidence(mut self) -> Result<Self, Error> {
        self.core.add_confidence()?;
        Ok(self)
    }

    /// Uses this adapter for the steps only.
    #[must_use]
    pub fn with_step_adapter(mut self, adapter: impl Into<AdapterChoice>) -> Self {
        self.core.set_step_adapter(adapter.into());
        self
    }

    /// How many steps a run may take before it has to answer; 10 unless set. The other names for
    /// it are `max_iters` and `max_steps`.
    #[must_use]
    pub fn with_max_iterations(mut self, max_iterations: u32) -> Self {
        self.core
            .change_limits(|limits| limits.max_iterations = max_iterations);
        self
    }

    /// Changes how far a run may go: `with_limits(|limits| limits.token_budget = Some(50_000))`.
    #[must_use]
    pub fn with_limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        self.core.change_limits(change);
        self
    }

    /// Changes by which rules a run thinks and ends:
    /// `with_rules(|rules| rules.success_phrases = vec!["I have it".into()])`.
    #[must_use]
    pub fn with_rules(mut self, change: impl FnOnce(&mut Rules)) -> Self {
        self.core.change_rules(change);
        self
    }

    /// Tells the model how to think before each call. `{inputs}`, `{outputs}` and `{tools}` stand for
    /// the names of those; anything else in braces is an error.
    pub fn with_thought_prompt(mut self, template: &str) -> Result<Self, Error> {
        self.core.set_thought_prompt(template)?;
        Ok(self)
    }

    /// What tokens cost. A cost budget needs it, and a trace tells the cost by it.
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.core.set_prices(prices);
        self
    }

    /// Looks at every call before it runs, after its arguments were checked: lets it run, changes
    /// its arguments, vetoes it with a message for the model, or has a person asked. A check that
    /// panics is a veto.
    #[must_use]
    pub fn before_call(
        mut self,
        check: impl Fn(&crate::run::Call) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.core.set_before_call(BeforeCall::new(check));
        self
    }

    /// Looks at what every call gave, and says what is written down and shown to the model instead.
    /// If it panics, that is an error observation, and what the call gave is not shown.
    #[must_use]
    pub fn after_call(
        mut self,
        change: impl Fn(&crate::run::Call, Observation) -> Observation + Send + Sync + 'static,
    ) -> Self {
        self.core.set_after_call(AfterCall::new(change));
        self
    }

    /// Ends the loop when this says so of a step that is over: the agent answers from what it has,
    /// and the reason is [`Custom`](crate::TerminationReason::Custom). A panic ends it, too.
    #[must_use]
    pub fn ending_when(
        mut self,
        condition: impl Fn(&TraceStep) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.core.set_condition(Condition::new(condition));
        self
    }

    /// Sets from outside when a person is asked about calls of a tool, whatever the tool says.
    pub fn with_confirmation(
        mut self,
        tool: &str,
        confirmation: Confirmation,
    ) -> Result<Self, Error> {
        self.core.set_confirmation(tool, confirmation)?;
        Ok(self)
    }

    /// The same agent, with values by name instead of types.
    pub fn untyped(self) -> ReAct<Dynamic> {
        ReAct::of(self.core)
    }

    /// The tools.
    pub fn tools(&self) -> &Tools {
        self.core.tools()
    }
}
