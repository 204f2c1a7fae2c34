//! Functions of the user's that have a say in a run.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::react::Verdict;
use crate::run::{Call, Observation, TraceStep};

/// A function of the user's.
pub(crate) struct Hook<F: ?Sized>(pub(crate) Arc<F>);

/// A user's own condition for ending the loop.
pub(crate) type Condition = Hook<dyn Fn(&TraceStep) -> bool + Send + Sync>;

/// Looks at every call before it is written down.
pub(crate) type BeforeCall = Hook<dyn Fn(&Call) -> Verdict + Send + Sync>;

/// Looks at what a call gave before it is written down.
pub(crate) type AfterCall = Hook<dyn Fn(&Call, Observation) -> Observation + Send + Sync>;

impl Condition {
    /// Whether it ends the loop. One that panics does: nobody knows what it would have said.
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
