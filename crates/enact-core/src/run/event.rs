//! The events of a run: what the log is made of.

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

/// One event with its place in the run and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its place: 0, 1, 2, …
    pub position: u64,
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

impl Record {
    /// An event that happens now, by the clock of this machine.
    pub fn now(position: u64, event: Event) -> Self {
        Self {
            position,
            at: Timestamp::now(),
            event,
        }
    }
}

/// What happened in a run.
///
/// Each fact stands here once: what a reply says of a call is told by the call, and what a question is
/// about by the step. [`Run`](super::Run) folds events into [steps](super::Step), which say all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The run began.
    Started(Arc<Started>),
    /// A model answered.
    Replied(Arc<Replied>),
    /// The model request failed.
    ModelFailed {
        /// Who had asked.
        predictor: PredictorName,
        /// How.
        kind: ModelErrorKind,
        /// In words, without prompt or key.
        message: String,
    },
    /// A tool call is about to run. Durable before the effect; that of a read-only call is written
    /// with what comes next.
    ToolStarted {
        /// Which call.
        call_id: String,
    },
    /// A tool call gave something.
    ToolFinished(Done),
    /// A call was not run: the same call had been made, and nothing changed since.
    Recalled {
        /// Which call.
        call_id: String,
        /// The position of the record that holds what it gives.
        answer: u64,
    },
    /// The model is told something about its work.
    Noticed {
        /// What about.
        about: Notice,
        /// In these words.
        text: String,
    },
    /// The tools are others from here on. Written between steps, and before calls or questions about
    /// them when they changed meanwhile.
    ToolsChanged {
        /// The tools as they now are, in their own words, without the completing one.
        tools: Vec<ToolSpec>,
    },
    /// The model does less than was thought, so the steps are put into other words from here on.
    AdapterChanged {
        /// Whose model it is.
        predictor: PredictorName,
        /// The adapter from here on.
        adapter: String,
        /// What the model does.
        capabilities: Capabilities,
        /// What showed it.
        why: String,
    },
    /// A person is asked.
    Asked(Box<Asked>),
    /// A question was answered.
    Answered {
        /// Which question.
        confirmation_id: String,
        /// What was decided.
        decision: Decision,
        /// By whom.
        #[serde(default, skip_serializing_if = "is_default")]
        by: Answerer,
    },
    /// An answer was taken back before it was used: the question is open again.
    Withdrawn {
        /// Which question.
        confirmation_id: String,
    },
    /// A condition of the user's was asked whether it ends the loop after the last step.
    ConditionChecked {
        /// Whether it does.
        ends: bool,
    },
    /// The loop of steps is over, and the outputs are to be had from what there is.
    LoopEnded {
        /// Why.
        reason: TerminationReason,
    },
    /// The run is over, with the outputs that were committed last.
    Finished {
        /// Why it ended.
        reason: TerminationReason,
    },
    /// The run is over, without outputs.
    Failed {
        /// Why it ended.
        reason: TerminationReason,
        /// What went wrong.
        message: String,
    },
}

/// A reply of a model, whoever asked for it, and how it was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Replied {
    /// Who had asked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub predictor: PredictorName,
    /// What the model answered. Calls that could be read stand in [`Replied::read`] alone.
    pub reply: Reply,
    /// How it was read.
    pub read: Reading,
    /// What was mended.
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
    /// As outputs, given after the loop of steps: those of the answering predictor, its own such as
    /// `reasoning` included.
    Outputs(Values),
    /// As a summary of the older part of the transcript, for later prompts.
    Summary {
        /// The summary.
        text: String,
        /// How many transcript entries it stands for.
        covers: usize,
    },
    /// As the summary of an observation that is too large for a prompt.
    Condensed {
        /// The call that gave it.
        call_id: String,
        /// The summary, which later prompts show in its place.
        summary: String,
    },
    /// As a judgement of how the task stands after a step.
    Judged {
        /// How it stands.
        standing: Standing,
        /// Why, in the model's words.
        why: String,
    },
    /// It could not be read.
    Unreadable {
        /// What the model is told about it.
        problem: String,
    },
}

/// A question to a person, as far as the step does not tell it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Asked {
    /// Names the question.
    pub confirmation_id: String,
    /// What is asked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: QuestionKind,
    /// The call that waits.
    pub call_id: String,
    /// What the tool asks; the other kinds of questions follow from the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What changed about the tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The open question that this one takes the place of.
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
    /// Chooses the next tool call.
    #[default]
    Step,
    /// Gives the declared outputs: the extraction of an agent, or a plain prediction.
    Extract,
    /// Shortens a transcript that no longer fits.
    Summarise,
    /// Says after a step whether the task is done or cannot be done.
    Judge,
    /// Summarises an observation that is too large for a prompt.
    Condense,
}

impl PredictorName {
    /// All of them.
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

/// How a reply was read as a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stepped {
    /// The thought; `None` when the whole text of the reply is the thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    /// The calls, the completing one included.
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
    /// It goes round in circles.
    Stall,
    /// It repeated a call that had failed, or a tool failed several times in a row.
    RepeatedFailure,
    /// It repeated a call whose answer it has.
    RepeatedCall,
    /// It asked for different things and was given the same answer each time.
    SameAnswer,
    /// The loop is over, and it is to submit its outputs now.
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

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Standing {
    /// There is more to do.
    Open,
    /// What was found is enough.
    Done,
    /// No further step can help.
    Impossible,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Open, Self::Done, Self::Impossible];

    /// The word for it in logs and prompts.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What follows from a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepOutcome {
    /// The calls run, and the loop goes on.
    #[default]
    Act,
    /// The outputs are committed: they are the arguments of the only call.
    Submit,
    /// The outputs are committed: these were found in the text.
    Answer(Values),
    /// The model is done, and the outputs are to be extracted.
    Extract,
    /// The model called nothing and is told this.
    Nudge(String),
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TerminationReason {
    /// The agent came to its outputs.
    Success,
    /// It ran out of steps.
    MaxIterations,
    /// It could not go on.
    Failure,
    /// It made no progress.
    Stalled,
    /// The context or the token budget was used up.
    TokenBudget,
    /// The cost budget was used up.
    CostBudget,
    /// The tools were called as often as they may.
    ToolCallBudget,
    /// It ran out of time.
    Timeout,
    /// It was told to stop.
    Cancelled,
    /// A condition of the user's ended it.
    Custom,
}

impl TerminationReason {
    /// The reason as one word, such as `max_iterations`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
