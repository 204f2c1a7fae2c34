//! Replays recorded replies.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream;
use serde_json::{Map, Value};

use super::RecordingError;
use super::difference::{agreement, difference};
use super::file::{Exchange, Heading, Lines};
use super::matching::fits;
use crate::model::canonical::canonical;
use crate::model::{
    Chunk, LanguageModel, ModelError, ModelErrorKind, ModelInfo, ReplyStream, Request,
};

/// A model that replies from a [`Recording`](super::Recording): offline, without a key, free of
/// charge.
///
/// It is strict: each request gets the reply that was recorded for exactly this request, each reply
/// is used once, and a request that was not recorded fails with the difference. The order of requests
/// doesn't matter, so runs can be replayed concurrently. [`Replaying::loosely`] goes by position.
///
/// It has the name, address and capabilities of the recorded model. Recorded errors are returned as
/// errors. A redacted secret matches any text.
#[derive(Debug, Clone)]
pub struct Replaying {
    heading: Heading,
    order: Order,
    shelf: Arc<Shelf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    ByRequest,
    ByPosition,
}

/// The unused exchanges.
#[derive(Debug)]
struct Shelf {
    path: PathBuf,
    headings: Vec<Heading>,
    exchanges: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    exchange: Exchange,
    is_given: bool,
}

impl Replaying {
    /// Opens a recording, and replays its first model.
    ///
    /// # Errors
    /// If the file doesn't exist, is not a recording, is damaged, or was written by a newer release.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let Lines {
            headings,
            exchanges,
        } = Lines::read(path)?;
        let Some(heading) = headings.first().cloned() else {
            return Err(RecordingError::Damaged {
                path: path.to_owned(),
                line: 1,
                problem: "it is empty: nothing was recorded".to_owned(),
            });
        };
        let kept = |exchange| Kept {
            exchange,
            is_given: false,
        };
        let shelf = Shelf {
            path: path.to_owned(),
            headings,
            exchanges: Mutex::new(exchanges.into_iter().map(kept).collect()),
        };
        Ok(Self {
            heading,
            order: Order::ByRequest,
            shelf: Arc::new(shelf),
        })
    }

    /// Matches requests by content. This is the default.
    #[must_use]
    pub fn strictly(self) -> Self {
        let order = Order::ByRequest;
        Self { order, ..self }
    }

    /// Matches requests by position: the first request gets the first reply, whatever it asks. For
    /// one request at a time.
    #[must_use]
    pub fn loosely(self) -> Self {
        let order = Order::ByPosition;
        Self { order, ..self }
    }

    /// Another model of the same recording, such as a judge.
    ///
    /// # Errors
    /// If the recording doesn't contain the model.
    pub fn beside(&self, model: &str) -> Result<Self, RecordingError> {
        let headings = &self.shelf.headings;
        match headings.iter().find(|heading| heading.model == model) {
            Some(heading) => Ok(Self {
                heading: heading.clone(),
                ..self.clone()
            }),
            None => {
                let has: Vec<&str> = headings.iter().map(|heading| &*heading.model).collect();
                Err(RecordingError::NoModel {
                    path: self.shelf.path.clone(),
                    model: model.to_owned(),
                    has: has.join(", "),
                })
            }
        }
    }

    /// The notes about the model.
    pub fn notes(&self) -> &Map<String, Value> {
        &self.heading.notes
    }

    /// The number of unused exchanges of this model.
    pub fn left(&self) -> usize {
        let kept = self.shelf.lock();
        let left = kept.iter().filter(|kept| self.is_left(kept));
        left.count()
    }

    fn is_left(&self, kept: &Kept) -> bool {
        !kept.is_given && kept.exchange.model == self.heading.model
    }

    /// Takes the exchange for a request.
    fn take(&self, request: &Value) -> Result<Exchange, ModelError> {
        let mut kept = self.shelf.lock();
        let found = kept.iter_mut().find(|kept| {
            self.is_left(kept)
                && match self.order {
                    Order::ByRequest => fits(&kept.exchange.request, request),
                    Order::ByPosition => true,
                }
        });
        if let Some(found) = found {
            found.is_given = true;
            return Ok(found.exchange.clone());
        }
        Err(self.missing(&kept, request))
    }

    /// Why there is no reply to a request.
    fn missing(&self, kept: &[Kept], request: &Value) -> ModelError {
        let path = self.shelf.path.display();
        let left = kept.iter().filter(|kept| self.is_left(kept));
        // The one with the longest match was probably intended.
        let nearest = left
            .rev()
            .max_by_key(|kept| agreement(&kept.exchange.request, request));
        let message = match nearest {
            Some(kept) => format!(
                "the recording `{path}` has no reply to this request: {}; record it anew, or \
                 replay it loosely",
                difference(&kept.exchange.request, request)
            ),
            None => format!(
                "the recording `{path}` has no reply left: more is asked than was recorded; \
                 record it anew"
            ),
        };
        ModelError::new(ModelErrorKind::InvalidRequest, message)
    }
}

impl Shelf {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Kept>> {
        self.exchanges
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl LanguageModel for Replaying {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new(&self.heading.model, self.heading.capabilities)
            .with_provider(self.heading.provider.as_deref())
            .with_base_url(self.heading.base_url.as_deref())
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let items: Vec<Result<Chunk, ModelError>> =
            match self.take(&Value::Object(canonical(&request))) {
                Ok(Exchange { chunks, error, .. }) => {
                    let error = error.map(|failed| Err(failed.into()));
                    chunks.into_iter().map(Ok).chain(error).collect()
                }
                Err(error) => vec![Err(error)],
            };
        Box::pin(stream::iter(items))
    }
}
