//! What all modules have in common: a program, its tools, and whom to ask in which words.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::adapter::{AdapterChoice, Completion};
use crate::driver::{AfterCall, BeforeCall, Condition, Listener, Local};
use crate::error::{Error, ErrorKind};
use crate::model::{Capabilities, LanguageModel, Prices};
use crate::predictor::{Demo, Predictor, SavedModule, SavedTools};
use crate::react::{Program, ProgramError, Wording, fill_thought_prompt};
use crate::run::{AgentSpec, Limits, PredictorName, Rules};
use crate::settings;
use crate::signature::{Field, Signature, Type};
use crate::tool::{Confirmation, Tools};

/// Which module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Predict,
    ChainOfThought,
    ReAct,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Predict => "predict",
            Self::ChainOfThought => "chain_of_thought",
            Self::ReAct => "react",
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Core {
    kind: Kind,
    program: Arc<Program>,
    tools: Tools,
    model: Option<Arc<dyn LanguageModel>>,
    adapter: Option<AdapterChoice>,
    step_adapter: Option<AdapterChoice>,
    prices: Prices,
    condition: Option<Condition>,
    thought_prompt: Option<String>,
    before_call: Option<BeforeCall>,
    after_call: Option<AfterCall>,
}

/// The only predictor of a module without steps.
const PREDICT: &str = "predict";

/// The output that [`ReAct::with_confidence`](super::ReAct::with_confidence) adds.
pub(super) const CONFIDENCE: &str = "confidence";

/// How models that call tools natively are asked for a thought.
const THOUGHT_PROMPT: &str = "Before each call say in plain text what you know, what is still \
                              missing and why this call comes next.";

/// What stops a run from outside: for good, or until it is resumed.
#[derive(Debug, Clone, Default)]
pub(super) struct Stops {
    pub(super) cancellation: CancellationToken,
    pub(super) interruption: CancellationToken,
}

/// A predictor's model and adapter, settled for one run.
type Settled = (Arc<dyn LanguageModel>, AdapterChoice, Capabilities);

impl Core {
    pub(super) fn new(kind: Kind, program: Program, tools: Tools) -> Self {
        Self {
            kind,
            program: Arc::new(program),
            tools,
            model: None,
            adapter: None,
            step_adapter: None,
            prices: Prices::new(),
            condition: None,
            thought_prompt: None,
            before_call: None,
            after_call: None,
        }
    }

    pub(super) fn program(&self) -> &Arc<Program> {
        &self.program
    }

    pub(super) fn tools(&self) -> &Tools {
        &self.tools
    }

    pub(super) fn set_model(&mut self, model: Arc<dyn LanguageModel>) {
        self.model = Some(model);
    }

    pub(super) fn set_adapter(&mut self, adapter: AdapterChoice) {
        self.adapter = Some(adapter);
    }

    pub(super) fn set_step_adapter(&mut self, adapter: AdapterChoice) {
        self.step_adapter = Some(adapter);
    }

    pub(super) fn change_limits(&mut self, change: impl FnOnce(&mut Limits)) {
        change(&mut Arc::make_mut(&mut self.program).limits);
    }

    pub(super) fn change_rules(&mut self, change: impl FnOnce(&mut Rules)) {
        change(&mut Arc::make_mut(&mut self.program).rules);
        self.note_thoughts();
    }

    pub(super) fn set_thought_prompt(&mut self, template: &str) -> Result<(), Error> {
        self.thought_prompt = Some(fill_thought_prompt(template, &self.program)?);
        self.note_thoughts();
        Ok(())
    }

    /// Puts into the prompt of the steps how to think.
    fn note_thoughts(&mut self) {
        let is_required = self.program.rules.thoughts.required;
        let asked = || THOUGHT_PROMPT.to_owned();
        let note = self
            .thought_prompt
            .clone()
            .or_else(|| is_required.then(asked));
        if let Some(step) = &mut Arc::make_mut(&mut self.program).step {
            step.set_note(note);
        }
    }

    pub(super) fn set_before_call(&mut self, check: BeforeCall) {
        Arc::make_mut(&mut self.program).checks_calls = true;
        self.before_call = Some(check);
    }

    pub(super) fn set_after_call(&mut self, check: AfterCall) {
        self.after_call = Some(check);
    }

    pub(super) fn set_prices(&mut self, prices: Prices) {
        self.prices = prices;
    }

    pub(super) fn set_condition(&mut self, condition: Condition) {
        Arc::make_mut(&mut self.program).has_condition = true;
        self.condition = Some(condition);
    }

    pub(super) fn set_instructions(&mut self, instructions: String) -> Result<(), Error> {
        self.set_signature(self.program.declared.with_instructions(instructions))
    }

    pub(super) fn add_confidence(&mut self) -> Result<(), Error> {
        let schema = json!({"type": "number", "minimum": 0, "maximum": 1});
        let confidence = Field::new(CONFIDENCE, Type::schema(CONFIDENCE, schema))
            .describe("How sure you are of the other outputs: from 0, a guess, to 1, certain.");
        self.set_signature(self.program.declared.append_output(confidence)?)
    }

    fn set_signature(&mut self, signature: Signature) -> Result<(), Error> {
        let program = match self.kind {
            Kind::Predict => Program::predict(signature)?,
            Kind::ChainOfThought => Program::chain_of_thought(signature)?,
            Kind::ReAct => Program::react(signature, &self.tools, self.program.completion)?,
        };
        self.replace_program(program);
        Ok(())
    }

    pub(super) fn set_completion(&mut self, completion: Completion) -> Result<(), Error> {
        let program = Program::react(self.program.declared.clone(), &self.tools, completion)?;
        self.replace_program(program);
        Ok(())
    }

    pub(super) fn set_confirmation(&mut self, tool: &str, rule: Confirmation) -> Result<(), Error> {
        let tools = self.tools.clone().with_confirmation(tool, rule);
        self.tools = tools.map_err(ProgramError::from)?;
        self.set_completion(self.program.completion)
    }

    /// Takes a program built anew; what was set on the predictors and the limits stays.
    fn replace_program(&mut self, mut program: Program) {
        program.limits = self.program.limits;
        program.rules = self.program.rules.clone();
        program.checks_calls = self.program.checks_calls;
        program.has_condition = self.program.has_condition;
        let kept: Vec<Predictor> = self
            .predictors()
            .into_iter()
            .map(|(_, predictor)| predictor.clone())
            .collect();
        let mut kept = kept.into_iter();
        each_predictor(&mut program, |predictor| {
            if let Some(old) = kept.next() {
                predictor.take_settings(old);
            }
        });
        self.program = Arc::new(program);
    }

    pub(super) fn predictors(&self) -> Vec<(&'static str, &Predictor)> {
        let program = &self.program;
        if program.step.is_none() {
            return vec![(PREDICT, &program.extract)];
        }
        let names = PredictorName::ALL.into_iter();
        names
            .map(|name| (name.as_str(), program.predictor(name)))
            .collect()
    }

    pub(super) fn predictor_mut(&mut self, name: &str) -> Option<&mut Predictor> {
        let has_steps = self.program.step.is_some();
        let program = Arc::make_mut(&mut self.program);
        if !has_steps {
            return (name == PREDICT).then_some(&mut program.extract);
        }
        let mut names = PredictorName::ALL.into_iter();
        let name = names.find(|known| known.as_str() == name)?;
        Some(program.predictor_mut(name))
    }

    /// Examples of whole tasks: for the steps, or for the only predictor.
    pub(super) fn set_demos(&mut self, demos: Vec<Demo>) {
        let program = Arc::make_mut(&mut self.program);
        program
            .step
            .as_mut()
            .unwrap_or(&mut program.extract)
            .set_demos(demos);
    }

    pub(super) fn for_each_predictor(&mut self, change: impl FnMut(&mut Predictor)) {
        each_predictor(Arc::make_mut(&mut self.program), change);
    }

    fn saved_tools(&self) -> Option<SavedTools> {
        self.program
            .step
            .as_ref()
            .map(|_| SavedTools::of(self.program.tool_specs()))
    }

    pub(super) fn save(&self) -> SavedModule {
        SavedModule::of(self.kind.name(), &self.predictors(), self.saved_tools())
    }

    pub(super) fn load(&mut self, saved: &SavedModule) -> Result<(), Error> {
        let restored = saved.restore(self.kind.name(), &self.predictors(), self.saved_tools())?;
        let mut restored = restored.into_iter();
        self.for_each_predictor(|predictor| {
            if let Some(new) = restored.next() {
                *predictor = new;
            }
        });
        Ok(())
    }

    /// The model and the adapter of a predictor: its own, the module's, the scope's, the
    /// program's, in this order.
    fn settle(&self, predictor: &Predictor, own: Option<&AdapterChoice>) -> Result<Settled, Error> {
        let model = predictor
            .model()
            .or(self.model.as_ref())
            .cloned()
            .or_else(settings::current_model)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::NoModel,
                    "no model is set: use `with_model`, `enact::scope` or `enact::configure`",
                )
            })?;
        let capabilities = model.capabilities();
        let choice = predictor
            .adapter()
            .or(own)
            .or(self.adapter.as_ref())
            .cloned();
        let choice = choice.unwrap_or_else(settings::current_adapter);
        Ok((model, choice, capabilities))
    }

    /// Settles whom to ask in which words for one run, and what the log says about it.
    pub(super) fn prepare(
        &self,
        stops: Stops,
        listener: Option<Listener>,
    ) -> Result<(Local, Wording, AgentSpec), Error> {
        let program = &self.program;
        let extract = self.settle(&program.extract, None)?;
        let adapter = extract.1.resolve(extract.2);
        let mut spec = AgentSpec::new(program.declared.clone(), "", adapter.name());
        spec.completion = program.completion;
        spec.tools = program.tool_specs().cloned().collect();
        let mut wording = Wording::new(&extract.1, extract.2);
        let mut models = HashMap::new();
        for name in PredictorName::ALL {
            let is_step = name == PredictorName::Step && program.step.is_some();
            let own = self.step_adapter.as_ref().filter(|_| is_step);
            let (model, choice, capabilities) = self.settle(program.predictor(name), own)?;
            if name == PredictorName::Step {
                spec.model = model.name().to_owned();
                spec.base_url = model.base_url().map(str::to_owned);
                let adapter = choice.resolve(capabilities);
                spec.step_adapter = is_step.then(|| adapter.name().to_owned());
            }
            if let Some(price) = self.prices.get(model.name()) {
                spec.prices.insert(name, price);
            }
            wording = wording.with(name, &choice, capabilities);
            models.insert(name, model);
        }
        let mut local = Local::new(models, self.tools.clone());
        local.cancellation = stops.cancellation;
        local.interruption = stops.interruption;
        local.listener = listener;
        local.before_call = self.before_call.clone();
        local.after_call = self.after_call.clone();
        local.condition = self.condition.clone();
        local.secrets = settings::secrets();
        Ok((local, wording, spec))
    }
}

/// Visits the predictors in the order of [`Core::predictors`].
fn each_predictor(program: &mut Program, mut change: impl FnMut(&mut Predictor)) {
    if program.step.is_none() {
        return change(&mut program.extract);
    }
    for name in PredictorName::ALL {
        change(program.predictor_mut(name));
    }
}
