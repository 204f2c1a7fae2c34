//! Runs: what happened, as an append-only log, and the views that are computed from it.

mod asked;
mod chat;
mod completion;
mod event;
mod history;
mod limits;
mod log;
mod question;
mod repair;
mod rules;
mod scratchpad;
mod seal;
mod started;
pub mod store;
mod trace;
mod trajectory;
pub(crate) mod transcript;

pub(crate) use crate::signature::canonical_args;
pub use crate::signature::canonical_json;
pub use asked::AskedQuestion;
pub use completion::Completion;
pub use event::{
    Event, FORMAT, Notice, PlannedCall, PredictorName, Record, Standing, StepOutcome, Stepped,
    TerminationReason,
};
pub use history::{Call, Entry, History, HistoryError, Observation, ToolResult};
pub(crate) use history::{visible, visible_positions};
pub use limits::Limits;
pub use log::{Run, RunError};
pub(crate) use question::Origin;
pub use question::{AnswerError, Answerer, ConfirmationStatus, Decision, Question, QuestionKind};
pub use repair::{Repair, RepairKind};
pub use rules::{Rules, ThoughtRules, ThoughtsInContext};
pub use seal::SealKey;
pub use started::{AgentSpec, Parent, Started};
pub use trace::{Action, ActionKind, Trace, TraceStep};
pub(crate) use trajectory::indented;
pub use trajectory::{COMPLETED, Trajectory, TrajectoryStep};
