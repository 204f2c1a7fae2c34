//! Custom functions that affect a run.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::react::Verdict;
use crate::run::{Call, Observation, TraceStep};

/// A custom function.
pub(crate) struct Hook<F: ?Sized>(pub(crate) Arc<F>);

/// A custom condition that ends the loop.
pub(crate) type Condition = Hook<dyn Fn(&TraceStep) -> bool + Send + Sync>;

/// Inspects calls before they are logged.
pub(crate) type BeforeCall = Hook<dyn Fn(&Call) -> Verdict + Send + Sync>;

/// Inspects results before they are logged.
pub(crate) type AfterCall = Hook<dyn Fn(&Call, Observation) -> Observation + Send + Sync>;

impl Condition {
    /// Whether it ends the loop. After a panic it does, since the result is unknown.
    pub(super) fn holds(&self, step: &TraceStep) -> bool {
        catch_unwind(AssertUnwindSafe(|| (self.0)(step))).unwrap_or(true)
    }
}

impl BeforeCall {
    pub(super) fn apply(&self, call: &Call) -> Verdict {
        catch_unwind(AssertUnwindSafe(|| (self.0)(call))).unwrap_or(Verdict::Failed)
    }
}

impl AfterCall {
    /// The observation. If the check fails, the model doesn't see the result, since it is unknown whether it
    /// may.
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

impl<F: ?Sized> Clone for Hook<F> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<F: ?Sized> fmt::Debug for Hook<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}
