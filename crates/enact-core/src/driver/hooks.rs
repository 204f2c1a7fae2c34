//! Functions of the user's that have a say in a run.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::react::Verdict;
use crate::run::{Call, Observation, TraceStep};

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

/// Looks at every call before it is written down.
#[derive(Clone)]
pub(crate) struct BeforeCall(Arc<dyn Fn(&Call) -> Verdict + Send + Sync>);

impl BeforeCall {
    pub(crate) fn new(check: impl Fn(&Call) -> Verdict + Send + Sync + 'static) -> Self {
        Self(Arc::new(check))
    }

    pub(super) fn apply(&self, call: &Call) -> Verdict {
        catch_unwind(AssertUnwindSafe(|| (self.0)(call))).unwrap_or(Verdict::Failed)
    }
}

impl fmt::Debug for BeforeCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BeforeCall")
    }
}
