//! Keeping replies, to give them again to the same request.

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

/// A model whose replies are kept: the same request gets the same reply, and nobody is asked.
///
/// Two requests are the same when the model, its address, the messages, the tools and all options
/// are. Only whole replies are kept, never failures. A reply from the cache costs nothing: its
/// usage is zero, and [`Reply::answered_by`] is [`ANSWERED_BY_CACHE`].
///
/// Meant for tests, evaluations and work on prompts. An agent that is asked the same question
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
    /// Keeps replies for as long as this value and its clones live.
    pub fn in_memory(model: M) -> Self {
        Self {
            model,
            place: Place::Memory(Arc::default()),
            secrets: Secrets::new(),
        }
    }

    /// Keeps replies in a folder, a file each, named after the request. The folder is made if it
    /// is not there. The files hold what the model said, in plain text, and only their owner can read
    /// them; keep secrets out of them with [`Cached::with_secrets`].
    ///
    /// # Errors
    /// When there is no such folder and it cannot be made.
    pub fn in_folder(model: M, folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        private::create_folder(&folder)?;
        Ok(Self {
            model,
            place: Place::Folder(Arc::new(folder)),
            secrets: Secrets::new(),
        })
    }

    /// The same without these secrets in what is kept: where one was, a reply that is given again says
    /// `[redacted]`.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// The model that is asked for what is not kept.
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
                // What cannot be read is asked for again, and replaced.
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
                    // The reply is there all the same; the next request pays again.
                    tracing::warn!(%error, "a reply could not be kept in the cache");
                }
            }
        }
    }
}

fn file(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}.json"))
}

/// Writes a file that is there as a whole or not at all.
fn write(folder: &Path, key: &str, reply: &Reply) -> io::Result<()> {
    let unfinished = folder.join(format!("{key}.{}.part", uuid::Uuid::now_v7()));
    let mut out = private::open(OpenOptions::new().write(true).create_new(true), &unfinished)?;
    serde_json::to_writer(&mut out, reply)?;
    out.flush()?;
    std::fs::rename(&unfinished, file(folder, key))
}

/// What makes a request this one, in one short text.
fn key(model: &dyn LanguageModel, request: &Request) -> String {
    let mut all = canonical(request);
    let info = model.info();
    all.insert("provider".to_owned(), json!(info.provider));
    all.insert("base_url".to_owned(), json!(info.base_url));
    all.insert("model".to_owned(), json!(info.name));
    let mut all = Value::Object(all);
    // The order of keys does not count.
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
            // It may have been kept before the secret was known to be one.
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
