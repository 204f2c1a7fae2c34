//! The events of a run, which its log consists of.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::question::{Answerer, Decision, QuestionKind};
use super::repair::Repair;
use super::started::Started;
use super::step_call::{Done, StepCall};
use crate::lean::is_default;
use crate::model::{Capabilities, ModelErrorKind, Reply};
use crate::signature::Values;
use crate::time::Timestamp;
use crate::tool::ToolSpec;

/// The version of the log format that this release writes.
pub const FORMAT: u32 = 2;

/// An event with its position in the run and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The position: 0, 1, 2, …
    pub position: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

impl Record {
    /// An event at the current time of this machine.
    pub fn now(position: u64, event: Event) -> Self {
        Self {
            position,
            at: Timestamp::now(),
            event,
        }
    }
}

/// An event of a run.
///
/// Each fact is stored once: the details of a call are in the reply, those of a question in the step.
/// [`Run`](super::Run) folds events into [steps](super::Step), which contain everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The run started.
    Started(Arc<Started>),
    /// A model answered.
    Replied(Arc<Replied>),
    /// A model request failed.
    ModelFailed {
        /// The predictor that asked.
        predictor: PredictorName,
        /// The kind of failure.
        kind: ModelErrorKind,
        /// The message, without prompt or key.
        message: String,
    },
    /// A tool call is about to run. Durable before the effect; for a read-only call, it is written
    /// together with the next event.
    ToolStarted {
        /// The call.
        call_id: String,
    },
    /// A tool call gave something.
    ToolFinished(Done),
    /// A call was not run: the same call had been made, and nothing changed since.
    Recalled {
        /// The call.
        call_id: String,
        /// The position of the record with its result.
        answer: u64,
    },
    /// The model receives a notice about its work.
    Noticed {
        /// The subject.
        about: Notice,
        /// The text.
        text: String,
    },
    /// The tools changed. Written between steps, and before calls or questions about tools that changed
    /// meanwhile.
    ToolsChanged {
        /// The current tools as they describe themselves, without the completing one.
        tools: Vec<ToolSpec>,
    },
    /// The model lacks a capability, so the steps use another adapter from now on.
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
    /// A person is asked.
    Asked(Box<Asked>),
    /// A question was answered.
    Answered {
        /// The question.
        confirmation_id: String,
        /// The decision.
        decision: Decision,
        /// Who decided.
        #[serde(default, skip_serializing_if = "is_default")]
        by: Answerer,
    },
    /// An answer was withdrawn before it was used: the question is open again.
    Withdrawn {
        /// The question.
        confirmation_id: String,
    },
    /// A custom condition was checked for whether it ends the loop after the last step.
    ConditionChecked {
        /// Whether it does.
        ends: bool,
    },
    /// The loop of steps ended, and the outputs are to be determined from the steps so far.
    LoopEnded {
        /// The reason.
        reason: TerminationReason,
    },
    /// The run ended, with the outputs that were committed last.
    Finished {
        /// The reason.
        reason: TerminationReason,
    },
    /// The run ended without outputs.
    Failed {
        /// The reason.
        reason: TerminationReason,
        /// The message.
        message: String,
    },
}

/// A reply of a model to any predictor, and how it was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Replied {
    /// The predictor that asked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub predictor: PredictorName,
    /// The model's reply. Parsed calls are only stored in [`Replied::read`].
    pub reply: Reply,
    /// How it was read.
    pub read: Reading,
    /// The repairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// How long the reply took.
    #[serde(rename = "duration_ns", with = "crate::tool::nanos")]
    pub duration: Duration,
}

/// How a reply was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reading {
    /// As a step.
    Step(Stepped),
    /// As outputs after the loop of steps: those of the answering predictor, including its own, such as
    /// `reasoning`.
    Outputs(Values),
    /// As a summary of the older part of the transcript, for later prompts.
    Summary {
        /// The summary.
        text: String,
        /// The number of transcript entries that it replaces.
        covers: usize,
    },
    /// As the summary of an observation that is too large for a prompt.
    Condensed {
        /// The call that returned the observation.
        call_id: String,
        /// The summary, which later prompts show instead.
        summary: String,
    },
    /// As a judgement on the state of the task after a step.
    Judged {
        /// The state of the task.
        standing: Standing,
        /// The reason, in the model's words.
        why: String,
    },
    /// It could not be read.
    Unreadable {
        /// The problem, as shown to the model.
        problem: String,
    },
}

/// A question to a person, as far as the step does not tell it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Asked {
    /// The id of the question.
    pub confirmation_id: String,
    /// The kind of question.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: QuestionKind,
    /// The waiting call.
    pub call_id: String,
    /// The question of the tool; other kinds of questions follow from the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The changes to the tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The open question that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// A predictor inside an agent.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    IntoStaticStr,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PredictorName {
    /// Chooses the next tool calls.
    #[default]
    Step,
    /// Returns the declared outputs: the extraction of an agent, or a plain prediction.
    Extract,
    /// Shortens a transcript that no longer fits.
    Summarise,
    /// Judges after a step whether the task is done or impossible.
    Judge,
    /// Summarises an observation that is too large for a prompt.
    Condense,
}

impl PredictorName {
    /// All predictors.
    pub const ALL: [Self; 5] = [
        Self::Step,
        Self::Extract,
        Self::Summarise,
        Self::Judge,
        Self::Condense,
    ];

    /// The name as users see it.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A reply, read as a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stepped {
    /// The thought; `None` if the whole text of the reply is the thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    /// The calls, including the completing one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<StepCall>,
    /// What follows from it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub outcome: StepOutcome,
}

/// What a model is told about its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Notice {
    /// It repeats itself without progress.
    Stall,
    /// It repeated a failed call, or a tool failed several times in a row.
    RepeatedFailure,
    /// It repeated a call whose result it has.
    RepeatedCall,
    /// Different calls returned the same result each time.
    SameAnswer,
    /// The loop ended, and it should now submit its outputs.
    SubmitNow,
    /// Few steps are left.
    FewSteps,
    /// Few tool calls are left.
    FewToolCalls,
    /// Few tokens are left.
    FewTokens,
    /// Little money is left.
    LittleMoney,
    /// Little time is left.
    LittleTime,
}

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Standing {
    /// There is more to do.
    Open,
    /// The results are sufficient.
    Done,
    /// No further step can help.
    Impossible,
}

impl Standing {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Open, Self::Done, Self::Impossible];

    /// The word in logs and prompts.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepOutcome {
    /// The calls run, and the loop continues.
    #[default]
    Act,
    /// The outputs are committed: they are the arguments of the only call.
    Submit,
    /// The outputs are committed: they were found in the text.
    Answer(Values),
    /// The model is done, and the outputs are to be extracted.
    Extract,
    /// The model called no tool and receives this reminder.
    Nudge(String),
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TerminationReason {
    /// The agent finished by itself.
    Success,
    /// The maximum number of steps was reached.
    MaxIterations,
    /// It could not continue.
    Failure,
    /// It made no progress.
    Stalled,
    /// The context or the token budget was exhausted.
    TokenBudget,
    /// The cost budget was exhausted.
    CostBudget,
    /// The maximum number of tool calls was reached.
    ToolCallBudget,
    /// The time budget was exhausted.
    Timeout,
    /// It was cancelled.
    Cancelled,
    /// A custom condition ended it.
    Custom,
}

impl TerminationReason {
    /// The reason as one word, such as `max_iterations`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
