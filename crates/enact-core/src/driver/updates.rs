//! What whoever watches a run is told while it happens.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::adapter::Piece;
use crate::run::{Call, Observation, PredictorName, Record, TraceStep};

/// Something that happened in a run just now.
///
/// A piece, the thought of a step or an output, comes in [`Writing`](Self::Writing) while the model
/// writes it, and ends in one [`Written`](Self::Written). What was told of a reply that could not be
/// read, or turned out to say something else, is [taken back](Self::TakenBack): the texts since then
/// are the value. Outputs that are no text come as JSON.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "update", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Update {
    /// An event was written down.
    Recorded {
        /// Which.
        record: Box<Record>,
    },
    /// A step is over, with all that it did.
    StepFinished {
        /// What it was.
        step: Box<TraceStep>,
    },
    /// The model writes more of a piece.
    Writing {
        /// Of what.
        piece: Piece,
        /// What comes after what was told.
        text: String,
    },
    /// A piece is whole.
    Written {
        /// Which.
        piece: Piece,
        /// What it is.
        value: Value,
    },
    /// What was told of a piece does not count.
    TakenBack {
        /// Of which.
        piece: Piece,
    },
    /// A model is being asked.
    Asking {
        /// On behalf of whom.
        predictor: PredictorName,
    },
    /// A running tool reports how far it is.
    Progress {
        /// Which call.
        call_id: String,
        /// In the tool's words.
        message: String,
    },
}

/// A function that is told of every update. If it panics, the run goes on.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(&Update) + Send + Sync>);

impl Listener {
    /// Calls this function.
    pub fn new(function: impl Fn(&Update) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    pub(crate) fn tell(&self, update: &Update) {
        // A listener must not be able to end a run: its panic is its own.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.0)(update)));
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// A user's own condition for ending the loop.
#[derive(Clone)]
pub(crate) struct Condition(Arc<dyn Fn(&TraceStep) -> bool + Send + Sync>);

impl Condition {
    pub(crate) fn new(condition: impl Fn(&TraceStep) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(condition))
    }

    /// Whether it ends the loop. One that panics does: nobody knows what it would have said.
    pub(super) fn holds(&self, step: &TraceStep) -> bool {
        catch_unwind(AssertUnwindSafe(|| (self.0)(step))).unwrap_or(true)
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Condition")
    }
}

type Change = dyn Fn(&Call, Observation) -> Observation + Send + Sync;

/// Looks at what a call gave before it is written down.
#[derive(Clone)]
pub(crate) struct AfterCall(Arc<Change>);

impl AfterCall {
    pub(crate) fn new(
        change: impl Fn(&Call, Observation) -> Observation + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(change))
    }

    /// What is observed. Where the check fails, nobody knows whether the model may see what the
    /// call gave, so it does not.
    pub(super) fn apply(&self, call: &Call, observation: Observation) -> Observation {
        let changed = catch_unwind(AssertUnwindSafe(|| (self.0)(call, observation)));
        changed.unwrap_or_else(|_| {
            Observation::error(format!(
                "{} was executed, but the check of its result failed, so it is not shown",
                call.name
            ))
        })
    }
}

impl fmt::Debug for AfterCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AfterCall")
    }
}
