//! Falls back to another model if one fails.

use std::sync::Arc;

use super::{
    Chunk, LanguageModel, ModelError, ModelErrorKind, ModelInfo, ReplyStream, Request, write_reply,
};

/// A list of models: later ones are asked if earlier ones fail.
///
/// Every request starts with the first model. Any failure leads to the next one, unless the content
/// was rejected. If all models fail, the last error is returned and mentions the others; if a prompt
/// was too long for one of them, that error is returned, because a shorter prompt may work.
///
/// It has the name, provider and address of the first model, and the capabilities that all of them
/// share. A reply of another model is marked: [`Reply::answered_by`](super::Reply::answered_by).
/// Before another model is asked, the stream contains a [`Chunk::Restart`].
///
/// Put retries inside: `Fallback::new(Retrying::new(a)).or(Retrying::new(b))`.
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
    /// Creates a list with the first model.
    pub fn new(first: impl LanguageModel + 'static) -> Self {
        Self {
            first: Arc::new(first),
            others: Vec::new(),
        }
    }

    /// Adds a model, which is asked if those before it failed.
    #[must_use]
    pub fn or(mut self, next: impl LanguageModel + 'static) -> Self {
        self.others.push(Arc::new(next));
        self
    }
}

/// The most helpful error, with a note on the others.
fn told(mut failures: Vec<(&str, ModelError)>) -> ModelError {
    let too_long = |(_, error): &(&str, ModelError)| error.kind() == ModelErrorKind::ContextLength;
    let last = failures.len().saturating_sub(1);
    let chosen = failures.iter().position(too_long).unwrap_or(last);
    let (_, error) = failures.remove(chosen);
    let others = failures.iter();
    let others = others.map(|(name, error)| format!("`{name}` also failed ({error})"));
    let others: Vec<String> = others.collect();
    if others.is_empty() {
        return error;
    }
    error.with_note(&others.join("; "))
}

impl LanguageModel for Fallback {
    fn info(&self) -> ModelInfo<'_> {
        let mut info = self.first.info();
        for other in &self.others {
            let other = other.capabilities();
            let known = &mut info.capabilities;
            known.tools &= other.tools;
            known.response_schema &= other.response_schema;
            known.ignores_tool_choice |= other.ignores_tool_choice;
        }
        info
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        write_reply(|reply| async move {
            let mut failures = Vec::new();
            for model in std::iter::once(&self.first).chain(&self.others) {
                if !failures.is_empty() {
                    reply.write(Chunk::Restart).await;
                    let name = Chunk::AnsweredBy(model.name().to_owned());
                    reply.write(name).await;
                }
                let Err(error) = reply.copy(model.stream(request.clone())).await else {
                    return Ok(());
                };
                let is_passed_on = error.kind().may_spare_others();
                failures.push((model.name(), error));
                if !is_passed_on {
                    break;
                }
            }
            Err(told(failures))
        })
    }
}
