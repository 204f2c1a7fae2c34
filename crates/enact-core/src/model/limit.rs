//! Asking no more than a provider allows.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::{LanguageModel, ModelInfo, ReplyStream, Request, write_reply};

const MINUTE: Duration = Duration::from_secs(60);

/// A model that is asked by no more than so many at a time, and no more than so often a minute.
///
/// Requests beyond a limit wait their turn, in the order in which they came. A clone counts with
/// its original, so one limit can hold for many agents.
///
/// A retry is a request, too: `Retrying::new(Limited::new(model))`.
///
/// ```
/// use enact::model::{Limited, ScriptedModel, say};
///
/// let model = Limited::new(ScriptedModel::new([say("hi")]))
///     .with_concurrency(4)
///     .with_requests_per_minute(60);
/// # model.inner().abandon();
/// ```
#[derive(Debug, Clone)]
pub struct Limited<M> {
    model: M,
    places: Option<Arc<Semaphore>>,
    rate: Option<Arc<Rate>>,
}

#[derive(Debug)]
struct Rate {
    per_minute: usize,
    /// When the last requests began, the oldest first.
    begun: Mutex<VecDeque<Instant>>,
}

impl<M> Limited<M> {
    /// The model, without a limit so far.
    pub fn new(model: M) -> Self {
        Self {
            model,
            places: None,
            rate: None,
        }
    }

    /// The same with at most this many requests at a time. 0 counts as 1.
    #[must_use]
    pub fn with_concurrency(self, requests: u32) -> Self {
        let places = usize::try_from(requests.max(1)).unwrap_or(usize::MAX);
        let places = Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
        Self {
            places: Some(places),
            ..self
        }
    }

    /// The same with at most this many requests in any minute. 0 counts as 1.
    #[must_use]
    pub fn with_requests_per_minute(self, requests: u32) -> Self {
        let rate = Rate {
            per_minute: usize::try_from(requests.max(1)).unwrap_or(usize::MAX),
            begun: Mutex::default(),
        };
        Self {
            rate: Some(Arc::new(rate)),
            ..self
        }
    }

    /// The model that is asked.
    pub fn inner(&self) -> &M {
        &self.model
    }

    /// Waits until a request may begin.
    async fn admitted(&self) -> Option<OwnedSemaphorePermit> {
        let place = match &self.places {
            // The semaphore is never closed.
            Some(places) => Arc::clone(places).acquire_owned().await.ok(),
            None => None,
        };
        if let Some(rate) = &self.rate {
            rate.admit().await;
        }
        place
    }
}

impl Rate {
    async fn admit(&self) {
        // Held while waiting: those who come later wait behind.
        let mut begun = self.begun.lock().await;
        if begun.len() >= self.per_minute
            && let Some(oldest) = begun.front()
        {
            tokio::time::sleep_until(*oldest + MINUTE).await;
            begun.pop_front();
        }
        begun.push_back(Instant::now());
    }
}

impl<M: LanguageModel> LanguageModel for Limited<M> {
    fn info(&self) -> ModelInfo<'_> {
        self.model.info()
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        write_reply(|reply| async move {
            // It is given back when the reply has ended or is dropped.
            let _place = self.admitted().await;
            reply.copy(self.model.stream(request)).await
        })
    }
}
