//! Updates for listeners, while a run is in progress.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::adapter::Piece;
use crate::run::{PredictorName, Record, TraceStep};

/// An event of a run in progress.
///
/// A piece, which is the thought of a step or an output, arrives in [`Writing`](Self::Writing) while the
/// model writes it, and ends with one [`Written`](Self::Written). Text from a reply that turned out to be
/// unreadable or different is [taken back](Self::TakenBack): the texts since then are the value. Outputs
/// other than text arrive as JSON.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "update", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Update {
    /// An event was logged.
    Recorded {
        /// The record.
        record: Box<Record>,
    },
    /// A step is complete, with all of its actions.
    StepFinished {
        /// The step.
        step: Box<TraceStep>,
    },
    /// The model wrote more of a piece.
    Writing {
        /// The piece.
        piece: Piece,
        /// The text to append.
        text: String,
    },
    /// A piece is complete.
    Written {
        /// The piece.
        piece: Piece,
        /// Its value.
        value: Value,
    },
    /// The text of a piece so far is invalid.
    TakenBack {
        /// The piece.
        piece: Piece,
    },
    /// A model is being asked.
    Asking {
        /// The predictor.
        predictor: PredictorName,
    },
    /// A running tool reports progress.
    Progress {
        /// The call.
        call_id: String,
        /// The tool's message.
        message: String,
    },
}

/// A listener for updates. If it panics, the run continues.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(&Update) + Send + Sync>);

impl Listener {
    /// Creates a listener that calls this function.
    pub fn new(function: impl Fn(&Update) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    pub(crate) fn tell(&self, update: &Update) {
        // A listener must not end a run, so its panic is ignored.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.0)(update)));
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}
