//! What all modules have in common: a program, its tools, models and adapters.

use std::collections::HashMap;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::compose::{Module, Part};
use crate::adapter::{AdapterChoice, Json};
use crate::driver::{AfterCall, BeforeCall, Condition, Effects, Listener, Local};
use crate::error::{Error, ErrorKind};
use crate::model::{Capabilities, LanguageModel, Prices};
use crate::predictor::{Predictor, SavedTools};
use crate::react::{Program, Wording};
use crate::run::{AgentSpec, PredictorName};
use crate::settings::{self, Settings};
use crate::signature::{Field, Signature};
use crate::tool::Tools;

/// The kind of module.
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

/// A built module: a validated program with its models and adapters.
#[derive(Debug, Clone)]
pub(super) struct Core {
    kind: Kind,
    program: Arc<Program>,
    tools: Tools,
    wiring: Wiring,
}

/// The model and adapter of a module, and what else takes part in its runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Wiring {
    pub(super) model: Option<Arc<dyn LanguageModel>>,
    pub(super) adapter: Option<AdapterChoice>,
    pub(super) step_adapter: Option<AdapterChoice>,
    pub(super) prices: Prices,
    pub(super) condition: Option<Condition>,
    pub(super) before_call: Option<BeforeCall>,
    pub(super) after_call: Option<AfterCall>,
    pub(super) extraction: Option<Part>,
    pub(super) compaction: Option<Part>,
}

/// The only predictor of a module without steps.
const PREDICT: &str = "predict";

/// The names of an agent's programs, as its parts.
const EXTRACTION: &str = "extraction";
const COMPACTION: &str = "compaction";

/// Tokens that stop a run: for good, or until it is resumed.
#[derive(Debug, Clone, Default)]
pub(super) struct Stops {
    pub(super) cancellation: CancellationToken,
    pub(super) interruption: CancellationToken,
}

/// Wraps the effects of a call.
pub(super) type Through = dyn FnOnce(Box<dyn Effects>) -> Box<dyn Effects> + Send;

/// What a call needs to start or resume a run.
pub(super) struct Ready {
    pub(super) local: Local,
    pub(super) wording: Wording,
    /// The description of the agent for the log.
    pub(super) agent: AgentSpec,
    pub(super) through: Option<Box<Through>>,
}

/// A predictor's model and adapter, resolved for one run.
type Settled = (Arc<dyn LanguageModel>, AdapterChoice, Capabilities);

impl Wiring {
    /// The program that replaces a predictor.
    fn program(&self, name: PredictorName) -> Option<&Part> {
        match name {
            PredictorName::Extract => self.extraction.as_ref(),
            PredictorName::Summarise => self.compaction.as_ref(),
            _ => None,
        }
    }

    /// Checks the inputs and outputs of the programs.
    pub(super) fn check(&self, program: &Program) -> Result<(), Error> {
        if let Some(part) = &self.extraction {
            let (given, wanted) = (program.extract.signature(), &program.declared);
            fit(EXTRACTION, part.get().signature(), given, wanted)?;
        }
        if let Some(part) = &self.compaction {
            let asked = program.predictor(PredictorName::Summarise).signature();
            fit(COMPACTION, part.get().signature(), asked, asked)?;
        }
        Ok(())
    }
}

/// Checks that a program accepts the inputs of one signature, and returns the outputs of another.
fn fit(name: &str, own: &Signature, given: &Signature, wanted: &Signature) -> Result<(), Error> {
    let is_given = |input: &str| given.inputs().iter().any(|field| field.name == input);
    let gives = |output: &str| own.outputs().iter().any(|field| field.name == output);
    let unknown = own.inputs().iter().find(|field| !is_given(&field.name));
    let missing = wanted.outputs().iter().find(|field| !gives(&field.name));
    let problem = match (unknown, missing) {
        (Some(input), _) => format!("it takes `{}`, which it is not given", input.name),
        (_, Some(output)) => format!("it does not give `{}`", output.name),
        (None, None) => return Ok(()),
    };
    let names = |fields: &[Field]| {
        let names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
        names.join(", ")
    };
    let message = format!(
        "the {name} program `{}` does not fit: {problem}. It is given `{}` and has to give `{}`",
        own.arrow(),
        names(given.inputs()),
        names(wanted.outputs())
    );
    Err(Error::new(ErrorKind::Signature, message))
}

impl Core {
    pub(super) fn new(kind: Kind, program: Program, tools: Tools, wiring: Wiring) -> Self {
        Self {
            kind,
            program: Arc::new(program),
            tools,
            wiring,
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        self.kind.name()
    }

    pub(super) fn program(&self) -> &Arc<Program> {
        &self.program
    }

    pub(super) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// The predictors by name, except those replaced by programs.
    pub(super) fn predictors(&self) -> Vec<(&str, &Predictor)> {
        let program = &self.program;
        if program.step.is_none() {
            return vec![(PREDICT, &program.extract)];
        }
        let names = PredictorName::ALL.into_iter();
        names
            .filter(|name| self.wiring.program(*name).is_none())
            .map(|name| (name.as_str(), program.predictor(name)))
            .collect()
    }

    /// Mutable access to the predictors.
    pub(super) fn predictors_mut(&mut self) -> Vec<(&str, &mut Predictor)> {
        let program = Arc::make_mut(&mut self.program);
        let mut all = program.all_predictors_mut();
        if all.len() == 1 {
            return all.drain(..).map(|(_, only)| (PREDICT, only)).collect();
        }
        all.retain(|(name, _)| self.wiring.program(*name).is_none());
        let all = all.into_iter();
        all.map(|(name, predictor)| (name.as_str(), predictor))
            .collect()
    }

    pub(super) fn parts(&self) -> Vec<(&str, &dyn Module)> {
        let wiring = &self.wiring;
        let parts = [
            (EXTRACTION, &wiring.extraction),
            (COMPACTION, &wiring.compaction),
        ]
        .into_iter();
        parts
            .filter_map(|(name, part)| Some((name, &**part.as_ref()?.get())))
            .collect()
    }

    pub(super) fn parts_mut(&mut self) -> Vec<(&str, &mut dyn Module)> {
        let wiring = &mut self.wiring;
        let parts = [
            (EXTRACTION, &mut wiring.extraction),
            (COMPACTION, &mut wiring.compaction),
        ]
        .into_iter();
        parts
            .filter_map(|(name, part)| Some((name, part.as_mut()?.make_mut()?)))
            .collect()
    }

    pub(super) fn saved_tools(&self) -> Option<SavedTools> {
        self.program
            .step
            .as_ref()
            .map(|_| SavedTools::of(self.program.tool_specs()))
    }

    /// Resolves the model and adapter of a predictor: its own, the module's, the scope's, the
    /// program's, in this order.
    fn settle(
        &self,
        settings: &Settings,
        predictor: &Predictor,
        own: Option<&AdapterChoice>,
    ) -> Result<Settled, Error> {
        let model = predictor
            .model()
            .or(self.wiring.model.as_ref())
            .cloned()
            .or_else(|| settings.model.clone())
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::NoModel,
                    "no model is set: use `model` of the builder, `enact::scope` or `enact::configure`",
                )
            })?;
        let capabilities = model.capabilities();
        let choice = predictor
            .adapter()
            .or(own)
            .or(self.wiring.adapter.as_ref())
            .or(settings.adapter.as_ref())
            .cloned();
        Ok((model, choice.unwrap_or_default(), capabilities))
    }

    /// Resolves models and adapters for one run, and describes them for the log.
    pub(super) fn prepare(
        &self,
        stops: Stops,
        listener: Option<Listener>,
        through: Option<Box<Through>>,
    ) -> Result<Ready, Error> {
        let (program, settings) = (&self.program, settings::current());
        let extract = self.settle(&settings, &program.extract, None)?;
        let adapter = extract.1.resolve(extract.2);
        let mut spec = AgentSpec::new(program.declared.clone(), "", adapter.name());
        spec.completion = program.completion;
        spec.tools = program.tool_specs().cloned().collect();
        let mut wording = Wording::new(&extract.1, extract.2);
        let mut models = HashMap::new();
        let mut programs = HashMap::new();
        for name in PredictorName::ALL {
            let is_step = name == PredictorName::Step && program.step.is_some();
            let own = self.wiring.step_adapter.as_ref().filter(|_| is_step);
            let (model, choice, capabilities) =
                self.settle(&settings, program.predictor(name), own)?;
            if name == PredictorName::Step {
                spec.model = model.name().to_owned();
                spec.base_url = model.base_url().map(str::to_owned);
                let adapter = choice.resolve(capabilities);
                spec.step_adapter = is_step.then(|| adapter.name().to_owned());
            }
            if let Some(price) = self.wiring.prices.get(model.name()) {
                spec.prices.insert(name, price);
            }
            if let Some(program) = self.wiring.program(name) {
                // Its outputs are parsed as JSON.
                wording = wording.with(name, &AdapterChoice::from(Json), capabilities);
                programs.insert(name, program.as_program());
                continue;
            }
            wording = wording.with(name, &choice, capabilities);
            models.insert(name, model);
        }
        let mut local = Local::new(models, self.tools.clone());
        local.programs = programs;
        local.cancellation = stops.cancellation;
        local.interruption = stops.interruption;
        local.listener = listener;
        local.before_call = self.wiring.before_call.clone();
        local.after_call = self.wiring.after_call.clone();
        local.condition = self.wiring.condition.clone();
        local.secrets = settings.secrets.unwrap_or_default();
        local.schemas = Arc::clone(program.schemas());
        Ok(Ready {
            local,
            wording,
            agent: spec,
            through,
        })
    }
}
