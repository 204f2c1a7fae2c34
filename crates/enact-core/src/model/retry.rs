//! Asking again when asking again may help.

use std::hash::{BuildHasher as _, Hasher as _};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};

use super::{Capabilities, Chunk, LanguageModel, ModelError, ReplyStream, Request};

/// A model that is asked again when it fails for a reason that may pass.
///
/// Only [retryable](ModelError::is_retryable) errors lead to another attempt. Between attempts it
/// waits: as long as the provider asked for, else twice as long each time, with some chance in it
/// so that many clients do not come back at once. Attempts and the time spent waiting are both
/// bounded; when a bound is reached, the last error is returned and says so.
///
/// Before each further attempt the stream carries a [`Chunk::Restart`]: what came before it does
/// not count.
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
    /// At most 4 attempts and 60 seconds of waiting, beginning with half a second.
    pub fn new(model: M) -> Self {
        Self {
            model,
            max_attempts: 4,
            wait_budget: Duration::from_secs(60),
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(20),
        }
    }

    /// The same with another bound on attempts, the first one included. 0 counts as 1.
    #[must_use]
    pub fn with_max_attempts(self, max_attempts: u32) -> Self {
        Self {
            max_attempts,
            ..self
        }
    }

    /// The same with another bound on the time spent waiting between the attempts of one request.
    #[must_use]
    pub fn with_wait_budget(self, wait_budget: Duration) -> Self {
        Self {
            wait_budget,
            ..self
        }
    }

    /// The same with other waits where the provider asks for none: the first one, and the one
    /// beyond which they no longer grow.
    #[must_use]
    pub fn with_waits(self, first: Duration, longest: Duration) -> Self {
        Self {
            first_wait: first,
            longest_wait: longest,
            ..self
        }
    }

    /// The model that is asked.
    pub fn inner(&self) -> &M {
        &self.model
    }

    /// How long to wait before the attempt after number `attempt`, or the error to give up with.
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
                // Nothing was tried again, so there is nothing to add.
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

    /// Between half and all of a time that doubles with each attempt.
    fn backoff(&self, attempt: u32) -> Duration {
        let factor = 2u32.saturating_pow(attempt.saturating_sub(1));
        let full = self
            .first_wait
            .saturating_mul(factor)
            .min(self.longest_wait);
        full.mul_f64(0.5 + chance() / 2.0)
    }
}

/// A number from 0 up to 1. Every `RandomState` has its own keys, which is all the chance that
/// is needed here.
fn chance() -> f64 {
    let bits = std::hash::RandomState::new().build_hasher().finish();
    f64::from((bits >> 32) as u32) / (f64::from(u32::MAX) + 1.0)
}

struct Attempts<'a, M> {
    retrying: &'a Retrying<M>,
    request: Request,
    state: State<'a>,
    attempt: u32,
    waited: Duration,
}

enum State<'a> {
    Waiting(Duration),
    Reading(ReplyStream<'a>),
    Ended,
}

impl<'a, M: LanguageModel> Attempts<'a, M> {
    async fn next(mut self) -> Option<(Result<Chunk, ModelError>, Self)> {
        loop {
            match &mut self.state {
                State::Ended => return None,
                State::Waiting(wait) => {
                    tokio::time::sleep(*wait).await;
                    self.attempt += 1;
                    let request = self.request.clone();
                    self.state = State::Reading(self.retrying.model.stream(request));
                }
                State::Reading(reply) => {
                    let error = match reply.next().await {
                        None => {
                            self.state = State::Ended;
                            return None;
                        }
                        Some(Ok(chunk)) => return Some((Ok(chunk), self)),
                        Some(Err(error)) => error,
                    };
                    return match self.retrying.wait(error, self.attempt, self.waited) {
                        // Told before the wait, so that nobody looks at what no longer counts.
                        Ok(wait) => {
                            self.waited += wait;
                            self.state = State::Waiting(wait);
                            Some((Ok(Chunk::Restart), self))
                        }
                        Err(error) => {
                            self.state = State::Ended;
                            Some((Err(error), self))
                        }
                    };
                }
            }
        }
    }
}

impl<M: LanguageModel> LanguageModel for Retrying<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn base_url(&self) -> Option<&str> {
        self.model.base_url()
    }

    fn provider(&self) -> Option<&str> {
        self.model.provider()
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let attempts = Attempts {
            retrying: self,
            state: State::Reading(self.model.stream(request.clone())),
            request,
            attempt: 1,
            waited: Duration::ZERO,
        };
        Box::pin(stream::unfold(attempts, Attempts::next))
    }
}
