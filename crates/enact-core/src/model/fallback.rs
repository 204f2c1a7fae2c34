//! Asking another model when one fails.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};

use super::{Capabilities, Chunk, LanguageModel, ModelError, ModelErrorKind, ReplyStream, Request};

/// A list of models, of which the later ones are asked when the earlier ones fail.
///
/// Every request begins with the first model. A failure leads to the next one unless the content
/// was refused. When no model answers, the last error is returned and names the others; if a
/// prompt was too long for one of them, that is the error, because a shorter prompt may do.
///
/// It has the name, the provider and the address of the first model, and can do what all of them
/// can. A reply of another model says so: [`Reply::answered_by`](super::Reply::answered_by).
/// Before another model is asked the stream carries a [`Chunk::Restart`].
///
/// Retries belong inside: `Fallback::new(Retrying::new(a)).or(Retrying::new(b))`.
///
/// ```
/// use enact::model::{Fallback, LanguageModel, ModelErrorKind, ScriptedModel, fail, say};
///
/// let large = ScriptedModel::new([fail(ModelErrorKind::Server, "down")]).with_name("large");
/// let small = ScriptedModel::new([say("hi")]).with_name("small");
/// let model = Fallback::new(large).or(small);
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let reply = model.complete(Default::default()).await.unwrap();
/// assert_eq!((reply.text.as_str(), reply.answered_by.as_deref()), ("hi", Some("small")));
/// # });
/// ```
#[derive(Debug, Clone)]
pub struct Fallback {
    first: Arc<dyn LanguageModel>,
    others: Vec<Arc<dyn LanguageModel>>,
}

impl Fallback {
    /// The model that is asked first.
    pub fn new(first: impl LanguageModel + 'static) -> Self {
        Self {
            first: Arc::new(first),
            others: Vec::new(),
        }
    }

    /// The same with one more model, which is asked when those before it failed.
    #[must_use]
    pub fn or(mut self, next: impl LanguageModel + 'static) -> Self {
        self.others.push(Arc::new(next));
        self
    }
}

struct Attempts<'a> {
    models: &'a Fallback,
    request: Request,
    /// How many of the others were asked.
    asked: usize,
    state: State<'a>,
    failures: Vec<(&'a str, ModelError)>,
}

enum State<'a> {
    Reading(ReplyStream<'a>),
    /// The next model is to be announced, then asked.
    Turning(&'a Arc<dyn LanguageModel>),
    Ended,
}

impl<'a> Attempts<'a> {
    async fn next(mut self) -> Option<(Result<Chunk, ModelError>, Self)> {
        match self.state {
            State::Ended => None,
            State::Turning(model) => {
                let name = Chunk::AnsweredBy(model.name().to_owned());
                self.state = State::Reading(model.stream(self.request.clone()));
                Some((Ok(name), self))
            }
            State::Reading(ref mut reply) => match reply.next().await {
                None => None,
                Some(Ok(chunk)) => Some((Ok(chunk), self)),
                Some(Err(error)) => Some(self.failed(error)),
            },
        }
    }

    fn failed(mut self, error: ModelError) -> (Result<Chunk, ModelError>, Self) {
        let models = self.models;
        let failed = match self.asked.checked_sub(1) {
            None => &models.first,
            Some(index) => &models.others[index],
        };
        let is_passed_on = error.kind().may_spare_others();
        self.failures.push((failed.name(), error));
        if is_passed_on && let Some(model) = models.others.get(self.asked) {
            self.asked += 1;
            self.state = State::Turning(model);
            return (Ok(Chunk::Restart), self);
        }
        self.state = State::Ended;
        let error = told(std::mem::take(&mut self.failures));
        (Err(error), self)
    }
}

/// The error that helps most, with a word on the others.
fn told(mut failures: Vec<(&str, ModelError)>) -> ModelError {
    let too_long = |(_, error): &(&str, ModelError)| error.kind() == ModelErrorKind::ContextLength;
    let last = failures.len().saturating_sub(1);
    let chosen = failures.iter().position(too_long).unwrap_or(last);
    let (_, error) = failures.remove(chosen);
    let others = failures.iter();
    let others = others.map(|(name, error)| format!("`{name}` failed, too ({error})"));
    let others: Vec<String> = others.collect();
    if others.is_empty() {
        return error;
    }
    error.with_note(&others.join("; "))
}

impl LanguageModel for Fallback {
    fn name(&self) -> &str {
        self.first.name()
    }

    fn base_url(&self) -> Option<&str> {
        self.first.base_url()
    }

    fn provider(&self) -> Option<&str> {
        self.first.provider()
    }

    fn capabilities(&self) -> Capabilities {
        let all = self.others.iter().map(|model| model.capabilities());
        all.fold(self.first.capabilities(), |known, other| Capabilities {
            tools: known.tools && other.tools,
            response_schema: known.response_schema && other.response_schema,
        })
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let attempts = Attempts {
            models: self,
            state: State::Reading(self.first.stream(request.clone())),
            request,
            asked: 0,
            failures: Vec::new(),
        };
        Box::pin(stream::unfold(attempts, Attempts::next))
    }
}
