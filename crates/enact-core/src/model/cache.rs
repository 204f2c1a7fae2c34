//! Caches replies, to reuse them for identical requests.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{TryStreamExt as _, stream};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::canonical::canonical;
use super::private;
use super::{
    ANSWERED_BY_CACHE, Chunk, LanguageModel, ModelInfo, Reply, ReplyBuilder, ReplyStream, Request,
    Secrets, Usage, write_reply,
};

/// A model with a cache: identical requests get the same reply, without asking the model.
///
/// Two requests are identical if the model, its address, the messages, the tools and all options
/// match. Only complete replies are cached, never failures. A cached reply costs nothing: its
/// usage is zero, and [`Reply::answered_by`] is [`ANSWERED_BY_CACHE`].
///
/// Intended for tests, evaluations and work on prompts. An agent that is asked the same question
/// twice gives the same answer twice, however high the temperature is.
///
/// ```
/// use enact::model::{Cached, LanguageModel, ScriptedModel, say};
///
/// let model = Cached::in_memory(ScriptedModel::new([say("hi")]));
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// for _ in 0..2 {
///     assert_eq!(model.complete(Default::default()).await.unwrap().text, "hi");
/// }
/// # });
/// ```
#[derive(Debug, Clone)]
pub struct Cached<M> {
    model: M,
    place: Place,
    secrets: Secrets,
}

#[derive(Debug, Clone)]
enum Place {
    Memory(Arc<Mutex<HashMap<String, Reply>>>),
    Folder(Arc<PathBuf>),
}

impl<M> Cached<M> {
    /// Caches replies as long as this value and its clones exist.
    pub fn in_memory(model: M) -> Self {
        Self {
            model,
            place: Place::Memory(Arc::default()),
            secrets: Secrets::new(),
        }
    }

    /// Caches replies in a directory, in one file per request. The directory is created if it doesn't
    /// exist. The files contain replies as plain text, and only their owner can read them; keep secrets
    /// out of them with [`Cached::with_secrets`].
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub fn in_folder(model: M, folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        private::create_folder(&folder)?;
        Ok(Self {
            model,
            place: Place::Folder(Arc::new(folder)),
            secrets: Secrets::new(),
        })
    }

    /// Removes these secrets from the cache: a reused reply contains `[redacted]`
    /// instead.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// The model that answers uncached requests.
    pub fn inner(&self) -> &M {
        &self.model
    }
}

impl Place {
    fn find(&self, key: &str) -> Option<Reply> {
        match self {
            Self::Memory(kept) => {
                let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.get(key).cloned()
            }
            Self::Folder(folder) => {
                let path = file(folder, key);
                let mut kept = std::fs::File::open(&path).ok()?;
                private::tighten(&kept, &path);
                let mut text = Vec::new();
                kept.read_to_end(&mut text).ok()?;
                // An unreadable file is replaced by a new reply.
                serde_json::from_slice(&text).ok()
            }
        }
    }

    fn keep(&self, key: String, reply: &Reply) {
        match self {
            Self::Memory(kept) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.insert(key, reply.clone());
            }
            Self::Folder(folder) => {
                if let Err(error) = write(folder, &key, reply) {
                    // The reply is still returned; the next request asks the model again.
                    tracing::warn!(%error, "a reply could not be written to the cache");
                }
            }
        }
    }
}

fn file(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}.json"))
}

/// Writes a file atomically.
fn write(folder: &Path, key: &str, reply: &Reply) -> io::Result<()> {
    let unfinished = folder.join(format!("{key}.{}.part", uuid::Uuid::now_v7()));
    let mut out = private::open(OpenOptions::new().write(true).create_new(true), &unfinished)?;
    serde_json::to_writer(&mut out, reply)?;
    out.flush()?;
    std::fs::rename(&unfinished, file(folder, key))
}

/// A short key that identifies a request.
fn key(model: &dyn LanguageModel, request: &Request) -> String {
    let mut all = canonical(request);
    let info = model.info();
    all.insert("provider".to_owned(), json!(info.provider));
    all.insert("base_url".to_owned(), json!(info.base_url));
    all.insert("model".to_owned(), json!(info.name));
    let mut all = Value::Object(all);
    // The order of keys doesn't matter.
    all.sort_all_objects();
    let bytes = Sha256::digest(all.to_string());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl<M: LanguageModel> LanguageModel for Cached<M> {
    fn info(&self) -> ModelInfo<'_> {
        self.model.info()
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let key = key(&self.model, &request);
        if let Some(reply) = self.place.find(&key) {
            // It may have been cached before the secret was known.
            let mut reply = reply.redacted(&self.secrets);
            reply.answered_by = Some(ANSWERED_BY_CACHE.to_owned());
            reply.usage = Usage::default();
            let chunks: Vec<Chunk> = reply.into();
            return Box::pin(stream::iter(chunks.into_iter().map(Ok)));
        }
        write_reply(|out| async move {
            let mut builder = ReplyBuilder::default();
            let reply = self.model.stream(request);
            out.copy(reply.inspect_ok(|chunk| builder.push(chunk.clone())))
                .await?;
            if let Ok(reply) = builder.finish() {
                self.place.keep(key, &reply.redacted(&self.secrets));
            }
            Ok(())
        })
    }
}
