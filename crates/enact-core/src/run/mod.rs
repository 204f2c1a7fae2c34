//! Runs: append-only logs, and the views of them.

mod asked;
mod chat;
mod completion;
mod event;
mod fold;
mod history;
mod limits;
mod log;
mod making;
mod question;
mod redaction;
mod repair;
mod rules;
mod scratchpad;
mod seal;
mod started;
mod step;
mod step_call;
pub mod store;
mod trace;
mod trajectory;
pub(crate) mod transcript;

pub(crate) use crate::signature::canonical_args;
pub use crate::signature::canonical_json;
pub use asked::AskedQuestion;
pub use completion::Completion;
pub use event::{
    Asked, Event, FORMAT, Notice, PredictorName, Reading, Record, Replied, Standing, StepOutcome,
    Stepped, TerminationReason,
};
pub use history::{Call, Entry, History, HistoryError, Observation, ToolResult};
pub(crate) use history::{visible, visible_positions};
pub use limits::Limits;
pub use log::{Run, RunError};
pub(crate) use question::Origin;
pub use question::{AnswerError, Answerer, ConfirmationStatus, Decision, Question, QuestionKind};
pub(crate) use redaction::redacted_tools;
pub use repair::{Repair, RepairKind};
pub use rules::{Rules, ThoughtRules, ThoughtsInContext};
pub use seal::SealKey;
pub use started::{AgentSpec, Parent, Started};
pub use step::{Change, Remark, Step};
pub use step_call::{Done, StepCall};
pub use trace::{Action, ActionKind, Trace, TraceStep};
pub(crate) use trajectory::indented;
pub use trajectory::{COMPLETED, Trajectory, TrajectoryStep};
