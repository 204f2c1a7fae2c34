//! Steps, which the log folds into. All views of a run are computed from them.

use std::sync::Arc;

use super::event::{
    Notice, PredictorName, Reading, Replied, StepOutcome, Stepped, TerminationReason,
};
use super::step_call::StepCall;
use crate::model::{Capabilities, ModelErrorKind};
use crate::signature::Values;
use crate::time::Timestamp;

/// A step of a run: what the model wrote, what was decided, and the results.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The number, from 1.
    pub number: usize,
    /// When the reply arrived.
    pub at: Timestamp,
    /// The reply and how it was read.
    pub replied: Arc<Replied>,
    /// The calls, including the completing one.
    pub calls: Vec<StepCall>,
    /// Events after it and before the next step, besides its calls.
    pub after: Vec<Remark>,
    /// The index of its record.
    pub(crate) record: usize,
}

/// Something that happened in a run beside the calls of a step.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Remark {
    /// A reply that is not a step: it could not be read, or has another purpose.
    Reply {
        /// When it arrived.
        at: Timestamp,
        /// The reply and how it was read.
        replied: Arc<Replied>,
    },
    /// A request to a model failed.
    Failure {
        /// The predictor that asked.
        predictor: PredictorName,
        /// The kind of failure.
        kind: ModelErrorKind,
        /// In words.
        message: String,
    },
    /// The model received a notice about its work.
    Notice {
        /// The subject.
        about: Notice,
        /// The text.
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
/// those of the [run](super::Run::questions), identified by index.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The run started.
    Began,
    /// There is a new step.
    Step,
    /// Something happened beside the calls of steps.
    Remark(Remark),
    /// A call of the last step is about to run.
    CallStarted {
        /// The call.
        call: usize,
    },
    /// A call of the last step finished.
    CallDone {
        /// The call.
        call: usize,
    },
    /// A person is asked.
    Asked {
        /// The question.
        question: usize,
    },
    /// A question was answered.
    Answered {
        /// The question.
        question: usize,
    },
    /// An answer was withdrawn.
    Withdrawn {
        /// The question.
        question: usize,
    },
    /// The tools are others from here on: see [`Run::tools`](super::Run::tools).
    ToolsChanged,
    /// A condition of the user's was asked whether it ends the loop.
    ConditionChecked {
        /// Whether it does.
        ends: bool,
    },
    /// The loop of steps ended.
    LoopEnded {
        /// The reason.
        reason: TerminationReason,
    },
    /// The run ended.
    Ended,
    /// Nothing: the subject of the record doesn't exist.
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

    /// The outcome.
    pub fn outcome(&self) -> &StepOutcome {
        self.stepped()
            .map_or(&StepOutcome::Extract, |stepped| &stepped.outcome)
    }

    /// The outputs that it commits, if any.
    pub fn outputs(&self) -> Option<&Values> {
        self.replied.committed()
    }

    /// Whether there are tool calls without a result.
    pub fn is_open(&self) -> bool {
        *self.outcome() == StepOutcome::Act && self.calls.iter().any(StepCall::is_open)
    }

    pub(crate) fn find(&self, call_id: &str) -> Option<usize> {
        self.calls.iter().position(|call| call.call.id == call_id)
    }
}

impl Remark {
    /// The reply, if this is one.
    pub fn replied(&self) -> Option<&Arc<Replied>> {
        match self {
            Self::Reply { replied, .. } => Some(replied),
            _ => None,
        }
    }
}

impl Replied {
    /// The reading as a step, if it is one.
    pub fn stepped(&self) -> Option<&Stepped> {
        match &self.read {
            Reading::Step(stepped) => Some(stepped),
            _ => None,
        }
    }

    /// The thought, or the text if it was not read as a step.
    pub fn thought(&self) -> &str {
        let thought = self
            .stepped()
            .and_then(|stepped| stepped.thought.as_deref());
        thought.unwrap_or(&self.reply.text)
    }

    /// The outputs after the loop of steps, if it contains them.
    pub fn outputs(&self) -> Option<&Values> {
        match &self.read {
            Reading::Outputs(outputs) => Some(outputs),
            _ => None,
        }
    }

    /// The outputs in it, if any.
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

    /// The problem, if it could not be read.
    pub fn problem(&self) -> Option<&str> {
        match &self.read {
            Reading::Unreadable { problem } => Some(problem),
            _ => None,
        }
    }
}
