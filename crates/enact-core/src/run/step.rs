//! Steps, which the log folds into. All views of a run are computed from them.

use std::sync::Arc;
use std::time::Duration;

use super::event::{
    Notice, PlannedCall, PredictorName, Reading, Replied, StepOutcome, Stepped, TerminationReason,
    ToolFinished,
};
use super::history::{Call, Observation};
use crate::model::{Capabilities, ModelErrorKind, Usage};
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

/// A call of a step.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StepCall {
    /// The call as decided: as the model wrote it, or as a person changed it.
    pub call: Arc<Call>,
    /// Why it doesn't run, as shown to the model.
    pub refusal: Option<String>,
    /// How often it was started.
    pub attempts: usize,
    /// Whether its tool asked a person a question.
    pub has_asked: bool,
    /// The result, once there is one.
    pub done: Option<Done>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Done {
    /// The observation.
    pub observation: Arc<Observation>,
    /// What prompts show instead of an observation that is too large for them.
    pub summary: Option<String>,
    /// How long it took.
    pub duration: Duration,
    /// Whether it was not run, because the result was known.
    pub from_record: bool,
    /// When it was logged.
    pub at: Timestamp,
    /// The index of its record.
    pub(crate) record: usize,
}

/// An event of a run besides the calls of a step.
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
    },
    /// The model received a notice about its work.
    Notice {
        /// The subject.
        about: Notice,
        /// The text.
        text: String,
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
    /// A model replied with something other than a step.
    Reply(Arc<Replied>),
    /// A request to a model failed.
    Failure {
        /// The predictor that asked.
        predictor: PredictorName,
        /// The kind of failure.
        kind: ModelErrorKind,
        /// The message.
        message: String,
    },
    /// A call of the last step is about to run.
    CallStarted {
        /// The call.
        call: usize,
    },
    /// A call of the last step finished.
    CallDone {
        /// The call.
        call: usize,
        /// Its usage of models.
        usage: Usage,
        /// The cost of that usage.
        cost: f64,
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
    /// The model received a notice.
    Noticed {
        /// The subject.
        about: Notice,
        /// The text.
        text: String,
    },
    /// The tools changed: see [`Run::tools`](super::Run::tools).
    ToolsChanged,
    /// The steps use another adapter from now on.
    AdapterChanged {
        /// The predictor that uses the model.
        predictor: PredictorName,
        /// The new adapter.
        adapter: String,
        /// The capabilities of the model.
        capabilities: Capabilities,
        /// How that was discovered.
        why: String,
    },
    /// A custom condition was checked for whether it ends the loop.
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
            calls: stepped.calls.iter().map(StepCall::new).collect(),
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
        match self.outcome() {
            StepOutcome::Submit => self.calls.first().map(|call| &call.call.args),
            StepOutcome::Answer(outputs) => Some(outputs),
            _ => None,
        }
    }

    /// Whether there are tool calls without a result.
    pub fn is_open(&self) -> bool {
        *self.outcome() == StepOutcome::Act && self.calls.iter().any(StepCall::is_open)
    }

    pub(super) fn find(&self, call_id: &str) -> Option<usize> {
        self.calls.iter().position(|call| call.call.id == call_id)
    }
}

impl StepCall {
    fn new(planned: &PlannedCall) -> Self {
        Self {
            call: planned.call.clone(),
            refusal: planned.refusal.clone(),
            attempts: 0,
            has_asked: false,
            done: None,
        }
    }

    /// Whether it can still return a result.
    pub fn is_open(&self) -> bool {
        self.refusal.is_none() && self.done.is_none()
    }

    /// The result as transcripts show it: the reason, if the call was rejected.
    pub fn observation(&self) -> Option<Observation> {
        if let Some(refusal) = &self.refusal {
            return Some(Observation::error(refusal.clone()));
        }
        let done = self.done.as_ref()?;
        let mut observation = (*done.observation).clone();
        observation.summary.clone_from(&done.summary);
        Some(observation)
    }

    /// Whether the result is an error.
    pub fn is_error(&self) -> bool {
        let done = self.done.as_ref();
        self.refusal.is_some() || done.is_some_and(|done| done.observation.is_error)
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

impl Done {
    pub(super) fn of(finished: &ToolFinished, at: Timestamp, record: usize) -> Self {
        Self {
            observation: finished.observation.clone(),
            summary: None,
            duration: finished.duration,
            from_record: false,
            at,
            record,
        }
    }

    pub(super) fn recalled(observation: Arc<Observation>, at: Timestamp, record: usize) -> Self {
        Self {
            observation,
            summary: None,
            duration: Duration::ZERO,
            from_record: true,
            at,
            record,
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
