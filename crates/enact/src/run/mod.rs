//! Runs: what happened, as an append-only log, and the views that are computed from it.

mod history;

pub use history::{Call, Entry, History, HistoryError, Observation, ToolResult};
