//! A language model in the process.

mod engine;
mod form;
mod prompt;
mod text;
mod worker;
mod writing;

use std::fmt;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use enact_core::LanguageModel;
use enact_core::model::{
    Capabilities, ModelError, ModelErrorKind, ModelInfo, ReplyStream, Request, ToolChoice,
    cut_endless, max_reply_bytes,
};
use enact_models::is_gguf;
use futures_util::stream;
use tokio::sync::mpsc::unbounded_channel;

use worker::{Job, Plan, Watcher, Worker};

/// A GGUF model that runs in the process, with llama.cpp.
///
/// ```no_run
/// use enact::{ReAct, Tools};
/// use enact_llama::LocalModel;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = LocalModel::file("qwen2.5-7b-instruct-q4_k_m.gguf").load()?;
/// let agent = ReAct::builder("question -> answer").model(model).build()?;
/// # Ok(())
/// # }
/// ```
///
/// - **Replies have the required form**, because grammars restrict the tokens. A demanded call names an
///   available tool and has arguments according to its schema, and a response schema is followed. If
///   calls are optional, the model writes text, and a call after the mark `<tool_call>`. What a grammar
///   can't express, such as the limits of a decimal number, is validated by enact as with any model. A
///   reply that was cut off by the length limit is marked.
/// - **Nothing is processed twice**: the prefix that a prompt shares with the last one is kept, and counts
///   as cached.
/// - **One request at a time**: one thread owns the model. Dropping a reply stops it within one token.
/// - **2048 tokens** is the default [limit](enact_core::model::ModelOptions::max_tokens) of a reply.
/// - **The most likely token** is selected, unless a temperature is set; a seed makes it reproducible.
/// - Images and [extra options](enact_core::model::ModelOptions::extra) are rejected, and a reasoning
///   effort has no effect.
///
/// Clones share the model. It is unloaded with the last of them.
#[derive(Clone)]
pub struct LocalModel {
    name: Arc<str>,
    context_tokens: usize,
    calls_are_demanded: bool,
    evaluated: Arc<AtomicU64>,
    worker: Arc<Worker>,
}

impl LocalModel {
    /// The model in this file, ready to be [loaded](Loading::load).
    pub fn file(path: impl Into<PathBuf>) -> Loading {
        Loading {
            file: path.into(),
            name: None,
            context_tokens: None,
            threads: None,
            watcher: None,
        }
    }

    /// Requires a tool call whenever tools are available. Small models often describe a call instead of
    /// making it; agents also commit their outputs with a tool.
    #[must_use]
    pub fn with_demanded_calls(self) -> Self {
        Self {
            calls_are_demanded: true,
            ..self
        }
    }

    /// The maximum number of tokens of a prompt and its reply.
    pub fn context_tokens(&self) -> usize {
        self.context_tokens
    }

    /// The number of tokens processed since the model was loaded. Tokens kept from an earlier request don't
    /// count.
    pub fn evaluated_tokens(&self) -> u64 {
        self.evaluated.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for LocalModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalModel")
            .field("name", &self.name)
            .field("context_tokens", &self.context_tokens)
            .finish_non_exhaustive()
    }
}

impl LanguageModel for LocalModel {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new(&self.name, Capabilities::FULL).with_provider("llama.cpp")
    }

    fn stream(&self, mut request: Request) -> ReplyStream<'_> {
        if self.calls_are_demanded && request.tool_choice == ToolChoice::Auto {
            request.tool_choice = ToolChoice::Required;
        }
        let prompt_bytes = request.prompt.bytes();
        let max_bytes = max_reply_bytes(request.options.max_tokens);
        let (chunks, received) = unbounded_channel();
        if let Err(error) = self.worker.send(Job { request, chunks }) {
            return Box::pin(stream::iter([Err(error)]));
        }
        let reply = Box::pin(stream::unfold(received, async |mut received| {
            let chunk = received.recv().await?;
            Some((chunk, received))
        }));
        cut_endless(reply, prompt_bytes, max_bytes)
    }
}

/// Settings for loading a model.
#[must_use]
pub struct Loading {
    file: PathBuf,
    name: Option<String>,
    context_tokens: Option<NonZeroU32>,
    threads: Option<NonZeroU32>,
    watcher: Option<Watcher>,
}

impl Loading {
    /// Sets the name. Default: that of the file.
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..self
        }
    }

    /// Sets the size of the context in tokens, for a prompt and its reply. Default: 8192, or the training
    /// context of the model if that is smaller.
    pub fn with_context_tokens(self, tokens: NonZeroU32) -> Self {
        Self {
            context_tokens: Some(tokens),
            ..self
        }
    }

    /// Sets the number of threads. Default: half the number of hardware threads.
    pub fn with_threads(self, threads: NonZeroU32) -> Self {
        Self {
            threads: Some(threads),
            ..self
        }
    }

    /// Sets a listener for the progress, from 0 to 1.
    pub fn watched_by(self, watcher: impl FnMut(f32) + Send + 'static) -> Self {
        Self {
            watcher: Some(Box::new(watcher)),
            ..self
        }
    }

    /// Loads the model. This blocks until the whole file has been read.
    ///
    /// # Errors
    /// If the file doesn't exist or is not a model, or the memory is insufficient.
    pub fn load(self) -> Result<LocalModel, ModelError> {
        check(&self.file)?;
        let stem = self.file.file_stem().unwrap_or(self.file.as_os_str());
        let name = self.name.unwrap_or_else(|| stem.to_string_lossy().into());
        let evaluated = Arc::new(AtomicU64::new(0));
        let (worker, context_tokens) = Worker::start(Plan {
            file: self.file,
            context_tokens: self.context_tokens,
            threads: self.threads.unwrap_or_else(usual_threads),
            watcher: self.watcher,
            evaluated: evaluated.clone(),
        })?;
        Ok(LocalModel {
            name: name.into(),
            context_tokens,
            calls_are_demanded: false,
            evaluated,
            worker: Arc::new(worker),
        })
    }
}

impl fmt::Debug for Loading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loading")
            .field("file", &self.file)
            .field("name", &self.name)
            .field("context_tokens", &self.context_tokens)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// Two hardware threads usually share a core, and using both is slower than using
/// one.
fn usual_threads() -> NonZeroU32 {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let half = u32::try_from(all / 2).unwrap_or(1);
    NonZeroU32::new(half).unwrap_or(NonZeroU32::MIN)
}

/// llama.cpp only reports that it failed; this explains the usual causes.
fn check(file: &Path) -> Result<(), ModelError> {
    let shown = file.display();
    match is_gguf(file) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let message = format!("`{shown}` is no GGUF file: name one that llama.cpp can load");
            Err(ModelError::new(ModelErrorKind::InvalidRequest, message))
        }
        Err(error) => {
            let message = format!("the model file `{shown}` cannot be read: {error}");
            Err(ModelError::new(ModelErrorKind::NotFound, message).with_source(error))
        }
    }
}
