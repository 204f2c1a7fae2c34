//! What whoever watches a run is told while it happens.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::adapter::Piece;
use crate::run::{PredictorName, Record, TraceStep};

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
