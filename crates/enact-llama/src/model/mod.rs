//! A language model inside the process.

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

/// A GGUF model that runs inside the process, by llama.cpp.
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
/// - **Replies have the form that was asked for**, because nothing else can be written: grammars
///   choose among the tokens. A demanded call names a tool on offer and has arguments by its schema,
///   a response schema is kept. With a free choice the model writes text, and from the mark
///   `<tool_call>` on a call. What a grammar cannot say, such as the bounds of a decimal number, is
///   checked by enact as with any model. A reply that the length limit cut says so.
/// - **Nothing is read twice**: what a prompt has in common with the last one is kept, and counts
///   as cached.
/// - **One request at a time**: one thread owns the model. Dropping a reply stops it within a token.
/// - **2048 tokens** are the most that a reply has, unless [told otherwise](enact_core::model::ModelOptions::max_tokens).
/// - **The likeliest token** is taken, unless a temperature is asked for; a seed makes it repeatable.
/// - Pictures and [extra options](enact_core::model::ModelOptions::extra) are refused, a reasoning
///   effort has no meaning.
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
    /// The model in this file, to be [loaded](Loading::load).
    pub fn file(path: impl Into<PathBuf>) -> Loading {
        Loading {
            file: path.into(),
            name: None,
            context_tokens: None,
            threads: None,
            watcher: None,
        }
    }

    /// The same, which has to call a tool whenever it is offered some. Small models write about a
    /// call rather than to call; an agent ends by a tool, too.
    #[must_use]
    pub fn with_demanded_calls(self) -> Self {
        Self {
            calls_are_demanded: true,
            ..self
        }
    }

    /// How many tokens a prompt and its reply may have together.
    pub fn context_tokens(&self) -> usize {
        self.context_tokens
    }

    /// How many tokens were evaluated since the model was loaded. What was kept from an earlier
    /// request does not count.
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

/// How a model is loaded.
#[must_use]
pub struct Loading {
    file: PathBuf,
    name: Option<String>,
    context_tokens: Option<NonZeroU32>,
    threads: Option<NonZeroU32>,
    watcher: Option<Watcher>,
}

impl Loading {
    /// Under this name, instead of that of the file.
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..self
        }
    }

    /// With a context of this many tokens, for a prompt and its reply. Without it, 8192, or what the
    /// model was trained for, if that is less.
    pub fn with_context_tokens(self, tokens: NonZeroU32) -> Self {
        Self {
            context_tokens: Some(tokens),
            ..self
        }
    }

    /// With this many threads. Without it, one for every two that the processor runs at a time.
    pub fn with_threads(self, threads: NonZeroU32) -> Self {
        Self {
            threads: Some(threads),
            ..self
        }
    }

    /// Tells how much is loaded, from 0 to 1, while it is being loaded.
    pub fn watched_by(self, watcher: impl FnMut(f32) + Send + 'static) -> Self {
        Self {
            watcher: Some(Box::new(watcher)),
            ..self
        }
    }

    /// Loads the model. This reads the whole file, and returns when that is done.
    ///
    /// # Errors
    /// When there is no such file, when it is no model, or when the memory is too small.
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

/// Two threads of a processor mostly share a core, and waiting for each other they are slower than
/// one.
fn usual_threads() -> NonZeroU32 {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let half = u32::try_from(all / 2).unwrap_or(1);
    NonZeroU32::new(half).unwrap_or(NonZeroU32::MIN)
}

/// llama.cpp only says that it failed; this says why, in the usual cases.
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
