//! Steps: what a log folds into. Every view of a run is computed from them.

use std::sync::Arc;

use super::event::{
    Notice, PredictorName, Reading, Replied, StepOutcome, Stepped, TerminationReason,
};
use super::step_call::StepCall;
use crate::model::{Capabilities, ModelErrorKind};
use crate::signature::Values;
use crate::time::Timestamp;

/// One step of a run: what the model wrote, what was decided, and what came of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// Its number, counted from 1.
    pub number: usize,
    /// When its reply was there.
    pub at: Timestamp,
    /// The reply and how it was read.
    pub replied: Arc<Replied>,
    /// Its calls, the completing one included.
    pub calls: Vec<StepCall>,
    /// What happened after it and before the next step, beside its calls.
    pub after: Vec<Remark>,
    /// The index of its record.
    pub(crate) record: usize,
}

/// Something that happened in a run beside the calls of a step.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Remark {
    /// A reply that is no step: it could not be read, or says something else.
    Reply {
        /// When it was there.
        at: Timestamp,
        /// The reply and how it was read.
        replied: Arc<Replied>,
    },
    /// A request to a model failed.
    Failure {
        /// Who had asked.
        predictor: PredictorName,
        /// How.
        kind: ModelErrorKind,
        /// In words.
        message: String,
    },
    /// The model was told something about its work.
    Notice {
        /// What about.
        about: Notice,
        /// In these words.
        text: String,
    },
    /// The steps use another adapter from here on.
    Adapter {
        /// Whose model it is.
        predictor: PredictorName,
        /// The adapter from here on.
        adapter: String,
        /// What the model does.
        capabilities: Capabilities,
        /// What showed it.
        why: String,
    },
}

/// What a record changed in a run. Calls are those of the last [step](super::Run::steps), questions
/// those of the [run](super::Run::questions), each by its index.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The run began.
    Began,
    /// There is another step.
    Step,
    /// Something happened beside the calls of steps.
    Remark(Remark),
    /// A call of the last step is about to run.
    CallStarted {
        /// Which.
        call: usize,
    },
    /// A call of the last step gave something.
    CallDone {
        /// Which.
        call: usize,
    },
    /// A person is asked.
    Asked {
        /// Which question.
        question: usize,
    },
    /// A question was answered.
    Answered {
        /// Which question.
        question: usize,
    },
    /// An answer was taken back.
    Withdrawn {
        /// Which question.
        question: usize,
    },
    /// The tools are others from here on: see [`Run::tools`](super::Run::tools).
    ToolsChanged,
    /// A condition of the user's was asked whether it ends the loop.
    ConditionChecked {
        /// Whether it does.
        ends: bool,
    },
    /// The loop of steps is over.
    LoopEnded {
        /// Why.
        reason: TerminationReason,
    },
    /// The run is over.
    Ended,
    /// Nothing: what the record is about does not exist.
    Nothing,
}

impl Step {
    pub(super) fn new(
        number: usize,
        at: Timestamp,
        replied: Arc<Replied>,
        stepped: &Stepped,
        record: usize,
    ) -> Self {
        Self {
            number,
            at,
            calls: stepped.calls.clone(),
            after: Vec::new(),
            record,
            replied,
        }
    }

    /// How the reply was read.
    pub fn stepped(&self) -> Option<&Stepped> {
        self.replied.stepped()
    }

    /// The thought.
    pub fn thought(&self) -> &str {
        self.replied.thought()
    }

    /// What follows from it.
    pub fn outcome(&self) -> &StepOutcome {
        self.stepped()
            .map_or(&StepOutcome::Extract, |stepped| &stepped.outcome)
    }

    /// The outputs that it commits, if it does.
    pub fn outputs(&self) -> Option<&Values> {
        self.replied.committed()
    }

    /// Whether tools were called, and not all calls have given something.
    pub fn is_open(&self) -> bool {
        *self.outcome() == StepOutcome::Act && self.calls.iter().any(StepCall::is_open)
    }

    pub(crate) fn find(&self, call_id: &str) -> Option<usize> {
        self.calls.iter().position(|call| call.call.id == call_id)
    }
}

impl Remark {
    /// The reply, if it is one.
    pub fn replied(&self) -> Option<&Arc<Replied>> {
        match self {
            Self::Reply { replied, .. } => Some(replied),
            _ => None,
        }
    }
}

impl Replied {
    /// How it was read as a step, if it was.
    pub fn stepped(&self) -> Option<&Stepped> {
        match &self.read {
            Reading::Step(stepped) => Some(stepped),
            _ => None,
        }
    }

    /// The thought; the text, if it was not read as a step.
    pub fn thought(&self) -> &str {
        let thought = self
            .stepped()
            .and_then(|stepped| stepped.thought.as_deref());
        thought.unwrap_or(&self.reply.text)
    }

    /// The outputs that it gave after the loop of steps, if it did.
    pub fn outputs(&self) -> Option<&Values> {
        match &self.read {
            Reading::Outputs(outputs) => Some(outputs),
            _ => None,
        }
    }

    /// The outputs that it holds, if it holds them.
    pub fn committed(&self) -> Option<&Values> {
        match &self.read {
            Reading::Outputs(outputs) => Some(outputs),
            Reading::Step(stepped) => match &stepped.outcome {
                StepOutcome::Submit => stepped.calls.first().map(|planned| &planned.call.args),
                StepOutcome::Answer(outputs) => Some(outputs),
                _ => None,
            },
            _ => None,
        }
    }

    /// What was wrong with it, if it could not be read.
    pub fn problem(&self) -> Option<&str> {
        match &self.read {
            Reading::Unreadable { problem } => Some(problem),
            _ => None,
        }
    }
}
