//! Tracks open spans.
//!
//! A span ends when its last handle is dropped, and other threads may hold one slightly longer than the
//! run, for example that of a database. The end of a program waits for them.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use enact_core::telemetry::TARGET;
use tracing::span::{Attributes, Id};
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Counts the open spans of enact.
#[derive(Debug, Clone, Default)]
pub struct OpenSpans(Arc<Count>);

#[derive(Debug, Default)]
struct Count {
    open: Mutex<usize>,
    closed: Condvar,
}

impl OpenSpans {
    fn change(&self, metadata: &Metadata<'_>, change: impl FnOnce(usize) -> usize) {
        if metadata.target() == TARGET {
            let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
            *open = change(*open);
            self.0.closed.notify_all();
        }
    }

    /// Returns once none is open, or after this time.
    pub(crate) fn wait(&self, at_most: Duration) {
        let open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Whether they are closed or the time is up, the result is the same.
        let _ = self
            .0
            .closed
            .wait_timeout_while(open, at_most, |open| *open > 0);
    }
}

impl<S: Subscriber + for<'span> LookupSpan<'span>> Layer<S> for OpenSpans {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        self.change(attributes.metadata(), |open| open + 1);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(metadata) = context.metadata(&id) {
            self.change(metadata, |open| open.saturating_sub(1));
        }
    }
}
