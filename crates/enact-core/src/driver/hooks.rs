//! Custom functions that affect a run.

use std::error::Error as StdError;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt as _;

use crate::error::{Error, ErrorKind};
use crate::react::Verdict;
use crate::run::{Call, Observation, TraceStep};

/// A call that an asynchronous hook looks at.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookCall {
    /// The run that the call is part of.
    pub run_id: String,
    /// The number of its step, counted from 1.
    pub step: usize,
    /// The call.
    pub call: Call,
}

/// A step that an asynchronous condition looks at.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookStep {
    /// The run that the step is part of.
    pub run_id: String,
    /// The step, which is over.
    pub step: TraceStep,
}

/// What a hook does.
type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A condition that holds, does not hold, or could not be checked.
type Holds = Result<bool, Box<dyn StdError + Send + Sync>>;

/// A function of the user's.
pub(crate) struct Hook<F: ?Sized>(Arc<F>);

/// A user's own condition for ending the loop.
pub(crate) type Condition = Hook<dyn Fn(HookStep) -> Work<Holds> + Send + Sync>;

/// Looks at every call before it is written down.
pub(crate) type BeforeCall = Hook<dyn Fn(HookCall) -> Work<Verdict> + Send + Sync>;

/// Looks at what a call gave before it is written down.
pub(crate) type AfterCall = Hook<dyn Fn(HookCall, Observation) -> Work<Observation> + Send + Sync>;

impl Condition {
    pub(crate) fn new<W>(condition: impl Fn(HookStep) -> W + Send + Sync + 'static) -> Self
    where
        W: Future<Output = Holds> + Send + 'static,
    {
        Self(Arc::new(move |step| Box::pin(condition(step))))
    }

    /// Whether it ends the loop. One that panics does: nobody knows what it would have said.
    pub(super) async fn holds(&self, step: HookStep) -> Result<bool, Error> {
        let holds = AssertUnwindSafe(async { (self.0)(step).await }).catch_unwind();
        holds.await.unwrap_or(Ok(true)).map_err(|problem| {
            let message = format!("the condition that ends the loop failed: {problem}");
            Error::new(ErrorKind::Hook, message)
        })
    }
}

impl BeforeCall {
    pub(crate) fn new<W>(check: impl Fn(HookCall) -> W + Send + Sync + 'static) -> Self
    where
        W: Future<Output = Verdict> + Send + 'static,
    {
        Self(Arc::new(move |call| Box::pin(check(call))))
    }

    pub(super) async fn apply(&self, call: HookCall) -> Verdict {
        let verdict = AssertUnwindSafe(async { (self.0)(call).await }).catch_unwind();
        verdict.await.unwrap_or(Verdict::Failed)
    }
}

impl AfterCall {
    pub(crate) fn new<W>(
        change: impl Fn(HookCall, Observation) -> W + Send + Sync + 'static,
    ) -> Self
    where
        W: Future<Output = Observation> + Send + 'static,
    {
        Self(Arc::new(move |call, observation| {
            Box::pin(change(call, observation))
        }))
    }

    /// What is observed. Where the check fails, nobody knows whether the model may see what the
    /// call gave, so it does not.
    pub(super) async fn apply(&self, call: HookCall, observation: Observation) -> Observation {
        let name = call.call.name.clone();
        let changed = AssertUnwindSafe(async { (self.0)(call, observation).await }).catch_unwind();
        changed.await.unwrap_or_else(|_| {
            Observation::error(format!(
                "{name} was executed, but the check of its result failed, so it is not shown"
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
