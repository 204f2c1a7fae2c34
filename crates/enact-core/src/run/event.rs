//! The events of a run: what the log is made of.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::history::{Call, Observation};
use super::question::{Answerer, Decision, Question};
use super::repair::Repair;
use super::started::Started;
use crate::model::{Capabilities, ModelErrorKind, Reply, Usage};
use crate::signature::Values;
use crate::tool::ToolSpec;

/// The version of the log format that this release writes.
pub const FORMAT: u32 = 1;

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
    /// An event that happens now.
    pub fn now(position: u64, event: Event) -> Self {
        Self {
            position,
            at: Timestamp::now(),
            event,
        }
    }
}

/// What happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The run began.
    Started(Arc<Started>),
    /// The model answered a step, and this is how it was read.
    Stepped(Box<Stepped>),
    /// The model answered, and the answer could not be read.
    Misread {
        /// Who had asked.
        predictor: PredictorName,
        /// What it answered.
        reply: Reply,
        /// What the model is told about it.
        problem: String,
        /// How long the reply took.
        #[serde(rename = "duration_ns", with = "crate::tool::nanos")]
        duration: Duration,
    },
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
    ToolFinished {
        /// Which call.
        call_id: String,
        /// What it gave.
        observation: Observation,
        /// How long it took.
        #[serde(rename = "duration_ns", with = "crate::tool::nanos")]
        duration: Duration,
        /// Whether it was not run, because the same call had been made and nothing changed since.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        from_record: bool,
        /// Tokens that it spent on models.
        #[serde(default, skip_serializing_if = "Usage::is_none")]
        usage: Usage,
        /// What they cost.
        #[serde(default, skip_serializing_if = "is_free")]
        cost: f64,
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
    Asked(Box<Question>),
    /// A question was answered.
    Answered {
        /// Which question.
        confirmation_id: String,
        /// What was decided.
        decision: Decision,
        /// By whom.
        #[serde(default, skip_serializing_if = "Answerer::is_person")]
        by: Answerer,
    },
    /// An answer was taken back before it was used: the question is open again.
    Withdrawn {
        /// Which question.
        confirmation_id: String,
    },
    /// The transcript no longer fitted, and its older part was summarised for later prompts.
    Summarised {
        /// The model's reply.
        reply: Reply,
        /// The summary.
        summary: String,
        /// How many transcript entries it stands for.
        covers: usize,
        /// How long the reply took.
        #[serde(rename = "duration_ns", with = "crate::tool::nanos")]
        duration: Duration,
    },
    /// A model summarised an observation that is too large for a prompt.
    Condensed {
        /// The call that gave it.
        call_id: String,
        /// The model's reply.
        reply: Reply,
        /// The summary, which later prompts show in its place.
        summary: String,
        /// How long the reply took.
        #[serde(rename = "duration_ns", with = "crate::tool::nanos")]
        duration: Duration,
    },
    /// A model said how the task stands after a step.
    Judged {
        /// The model's reply.
        reply: Reply,
        /// How it stands.
        standing: Standing,
        /// Why, in the model's words.
        why: String,
        /// How long the reply took.
        #[serde(rename = "duration_ns", with = "crate::tool::nanos")]
        duration: Duration,
    },
    /// The loop of steps is over, and the outputs are to be extracted from what there is.
    LoopEnded {
        /// Why.
        reason: TerminationReason,
    },
    /// The outputs were read from a reply after the loop of steps.
    Extracted {
        /// Who had asked: the answering predictor, or the steps, when the model was told to submit.
        #[serde(
            default = "PredictorName::extract",
            skip_serializing_if = "PredictorName::is_extract"
        )]
        predictor: PredictorName,
        /// The model's reply.
        reply: Reply,
        /// What was read, the answering predictor's own outputs such as `reasoning` included.
        outputs: Values,
        /// What was mended.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        repairs: Vec<Repair>,
        /// How long the reply took.
        #[serde(rename = "duration_ns", with = "crate::tool::nanos")]
        duration: Duration,
    },
    /// The run is over, with outputs.
    Finished {
        /// Why it ended.
        reason: TerminationReason,
        /// The declared outputs.
        outputs: Values,
    },
    /// The run is over, without outputs.
    Failed {
        /// Why it ended.
        reason: TerminationReason,
        /// What went wrong.
        message: String,
    },
}

fn is_free(cost: &f64) -> bool {
    *cost == 0.0
}

/// A predictor inside an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictorName {
    /// Chooses the next tool call.
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

    fn extract() -> Self {
        Self::Extract
    }

    fn is_extract(&self) -> bool {
        *self == Self::Extract
    }

    /// The name as users see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Extract => "extract",
            Self::Summarise => "summarise",
            Self::Judge => "judge",
            Self::Condense => "condense",
        }
    }
}

/// One step: the reply and how it was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stepped {
    /// What the model answered.
    pub reply: Reply,
    /// The thought; `None` when the whole text of the reply is the thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    /// The calls, the completing one included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<PlannedCall>,
    /// What follows from it.
    pub outcome: StepOutcome,
    /// What was mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// How long the reply took.
    #[serde(rename = "duration_ns", with = "crate::tool::nanos")]
    pub duration: Duration,
}

impl Stepped {
    /// The thought of the step.
    pub fn thought(&self) -> &str {
        self.thought.as_deref().unwrap_or(&self.reply.text)
    }
}

/// A call as it will run, or why it will not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCall {
    /// The call, its arguments coerced to the tool's schema.
    #[serde(flatten)]
    pub call: Call,
    /// Why it does not run: what the model is told instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Whether a person has to agree first, as the tool's rule said when the call was read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Impossible => "impossible",
        }
    }
}

/// What follows from a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// The calls run, and the loop goes on.
    Act,
    /// The outputs are committed.
    Commit(Values),
    /// The model is done, and the outputs are to be extracted.
    Extract,
    /// The model called nothing and is told this.
    Nudge(String),
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
        match self {
            Self::Success => "success",
            Self::MaxIterations => "max_iterations",
            Self::Failure => "failure",
            Self::Stalled => "stalled",
            Self::TokenBudget => "token_budget",
            Self::CostBudget => "cost_budget",
            Self::ToolCallBudget => "tool_call_budget",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Custom => "custom",
        }
    }
}
