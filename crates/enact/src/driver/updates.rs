//! What whoever watches a run is told while it happens.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::run::{Call, Observation, PredictorName, Record, TraceStep};

/// Something that happened in a run just now.
#[derive(Debug)]
#[non_exhaustive]
pub enum Update<'a> {
    /// An event was written down.
    Recorded(&'a Record),
    /// A model is being asked.
    Asking {
        /// On behalf of whom.
        predictor: PredictorName,
    },
    /// A running tool reports how far it is.
    Progress {
        /// Which call.
        call_id: &'a str,
        /// In the tool's words.
        message: &'a str,
    },
}

/// A function that is told of every update. If it panics, the run goes on.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(&Update<'_>) + Send + Sync>);

impl Listener {
    /// Calls this function.
    pub fn new(function: impl Fn(&Update<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    pub(crate) fn tell(&self, update: &Update<'_>) {
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
