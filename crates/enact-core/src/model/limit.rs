//! Limits the rate of requests.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::{LanguageModel, ModelInfo, ReplyStream, Request, write_reply};

const MINUTE: Duration = Duration::from_secs(60);

/// A model with limits for concurrent requests and requests per minute.
///
/// Requests beyond a limit wait, in the order in which they arrived. Clones share the limit, so one
/// limit can apply to several agents.
///
/// Retries count as requests: `Retrying::new(Limited::new(model))`.
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
    /// The start times of recent requests, oldest first.
    begun: Mutex<VecDeque<Instant>>,
}

impl<M> Limited<M> {
    /// Wraps a model, without limits at first.
    pub fn new(model: M) -> Self {
        Self {
            model,
            places: None,
            rate: None,
        }
    }

    /// Sets the maximum number of concurrent requests. 0 counts as 1.
    #[must_use]
    pub fn with_concurrency(self, requests: u32) -> Self {
        let places = usize::try_from(requests.max(1)).unwrap_or(usize::MAX);
        let places = Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
        Self {
            places: Some(places),
            ..self
        }
    }

    /// Sets the maximum number of requests in any minute. 0 counts as 1.
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

    /// The wrapped model.
    pub fn inner(&self) -> &M {
        &self.model
    }

    /// Waits until a request can start.
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
        // Held while waiting, so that later requests queue up.
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
            // Released when the reply ends or is dropped.
            let _place = self.admitted().await;
            reply.copy(self.model.stream(request)).await
        })
    }
}
