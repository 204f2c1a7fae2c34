//! Retries requests after temporary errors.

use std::hash::{BuildHasher as _, Hasher as _};
use std::pin::Pin;
use std::time::Duration;

use super::{
    Chunk, LanguageModel, ModelError, ModelInfo, Reply, ReplyStream, Request, write_reply,
};

/// A model with retries after temporary errors.
///
/// Only [retryable](ModelError::is_retryable) errors lead to another attempt. Before an attempt it
/// waits as long as the provider asks for, or else twice as long each time, with random variation so
/// that clients don't retry simultaneously. The number of attempts and the time spent waiting are
/// limited; at a limit, the last error is returned and mentions it.
///
/// Before each further attempt the stream contains a [`Chunk::Restart`]: previous chunks don't
/// count.
///
/// ```
/// use std::time::Duration;
/// use enact::model::{Retrying, ScriptedModel, say};
///
/// let model = Retrying::new(ScriptedModel::new([say("hi")]))
///     .with_max_attempts(6)
///     .with_wait_budget(Duration::from_secs(120));
/// # model.inner().abandon();
/// ```
#[derive(Debug, Clone)]
pub struct Retrying<M> {
    model: M,
    max_attempts: u32,
    wait_budget: Duration,
    first_wait: Duration,
    longest_wait: Duration,
}

impl<M> Retrying<M> {
    /// At most 4 attempts and 60 seconds of waiting, starting with half a second.
    pub fn new(model: M) -> Self {
        Self {
            model,
            max_attempts: 4,
            wait_budget: Duration::from_secs(60),
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(20),
        }
    }

    /// Sets the maximum number of attempts, including the first. 0 counts as 1.
    #[must_use]
    pub fn with_max_attempts(self, max_attempts: u32) -> Self {
        Self {
            max_attempts,
            ..self
        }
    }

    /// Sets the maximum time spent waiting between the attempts of a request.
    #[must_use]
    pub fn with_wait_budget(self, wait_budget: Duration) -> Self {
        Self {
            wait_budget,
            ..self
        }
    }

    /// Sets the waiting times for errors without one from the provider: the first, and the
    /// longest.
    #[must_use]
    pub fn with_waits(self, first: Duration, longest: Duration) -> Self {
        Self {
            first_wait: first,
            longest_wait: longest,
            ..self
        }
    }

    /// The wrapped model.
    pub fn inner(&self) -> &M {
        &self.model
    }

    /// How long to wait before the next attempt, or the final error.
    fn wait(
        &self,
        error: ModelError,
        attempt: u32,
        waited: Duration,
    ) -> Result<Duration, ModelError> {
        if !error.is_retryable() {
            return Err(error);
        }
        if attempt >= self.max_attempts {
            return Err(match attempt {
                // There were no retries, so there is nothing to add.
                0 | 1 => error,
                _ => error.with_note(&format!("gave up after {attempt} attempts")),
            });
        }
        let left = self.wait_budget.saturating_sub(waited);
        match error.retry_after() {
            Some(asked) if asked > left => Err(error.with_note(&format!(
                "the provider asked to wait {asked:?}, and only {left:?} of the budget for \
                 waiting are left"
            ))),
            Some(asked) => Ok(asked),
            None => {
                let wait = self.backoff(attempt);
                if wait > left {
                    return Err(error.with_note(&format!(
                        "gave up after {attempt} attempts and {waited:?} of waiting"
                    )));
                }
                Ok(wait)
            }
        }
    }

    /// Between half and all of a duration that doubles with each attempt.
    fn backoff(&self, attempt: u32) -> Duration {
        let factor = 2u32.saturating_pow(attempt.saturating_sub(1));
        let full = self
            .first_wait
            .saturating_mul(factor)
            .min(self.longest_wait);
        full.mul_f64(0.5 + chance() / 2.0)
    }
}

/// A random number from 0 up to 1. Each `RandomState` has its own keys, which is random enough
/// here.
fn chance() -> f64 {
    let bits = std::hash::RandomState::new().build_hasher().finish();
    f64::from((bits >> 32) as u32) / (f64::from(u32::MAX) + 1.0)
}

impl<M: LanguageModel> LanguageModel for Retrying<M> {
    fn info(&self) -> ModelInfo<'_> {
        self.model.info()
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        write_reply(|reply| async move {
            let mut waited = Duration::ZERO;
            for attempt in 1.. {
                let asked = self.model.stream(request.clone());
                let Err(error) = reply.copy(asked).await else {
                    break;
                };
                let wait = self.wait(error, attempt, waited)?;
                // Sent before the wait, so that obsolete chunks aren't shown meanwhile.
                reply.write(Chunk::Restart).await;
                tokio::time::sleep(wait).await;
                waited += wait;
            }
            Ok(())
        })
    }

    /// Whole replies stay whole.
    fn complete(
        &self,
        request: Request,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + '_>> {
        Box::pin(async move {
            let mut waited = Duration::ZERO;
            let mut attempt = 1;
            loop {
                let error = match self.model.complete(request.clone()).await {
                    Ok(mut reply) => {
                        reply.attempts = reply.attempts.saturating_add(attempt - 1);
                        return Ok(reply);
                    }
                    Err(error) => error,
                };
                let wait = self.wait(error, attempt, waited)?;
                tokio::time::sleep(wait).await;
                waited += wait;
                attempt += 1;
            }
        })
    }
}
