//! The thread that owns a model and its context, and processes requests one after the other.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::JoinHandle;

use enact_core::model::{Chunk, ModelError, ModelErrorKind, Request};
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::{LogOptions, send_logs_to_tracing};
use tokio::sync::mpsc::UnboundedSender;

use super::engine::{Engine, Stopped};
use super::prompt::Template;
use super::writing::{self, Sink};

/// The default size of the context, if the model was trained for it.
const USUAL_CONTEXT: u32 = 8192;

/// Receives the loading progress, from 0 to 1.
pub(crate) type Watcher = Box<dyn FnMut(f32) + Send>;

/// The settings for loading a model.
pub(crate) struct Plan {
    pub(crate) file: PathBuf,
    pub(crate) context_tokens: Option<NonZeroU32>,
    pub(crate) threads: NonZeroU32,
    pub(crate) watcher: Option<Watcher>,
    pub(crate) evaluated: Arc<AtomicU64>,
}

/// A request and the channel for its reply.
pub(crate) struct Job {
    pub(crate) request: Request,
    pub(crate) chunks: UnboundedSender<Result<Chunk, ModelError>>,
}

impl Sink for Job {
    fn is_wanted(&self) -> bool {
        !self.chunks.is_closed()
    }

    fn send(&self, chunk: Chunk) {
        // The receiver is checked before each token.
        let _ = self.chunks.send(Ok(chunk));
    }
}

/// A thread with a loaded model.
#[derive(Debug)]
pub(crate) struct Worker {
    /// Dropped to end the thread.
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Loads a model in a new thread, and returns when it is ready, with the size of its
    /// context in tokens.
    pub(crate) fn start(plan: Plan) -> Result<(Self, usize), ModelError> {
        let (jobs, received) = mpsc::channel::<Job>();
        let (ready, is_ready) = mpsc::sync_channel(1);
        let spawned = std::thread::Builder::new()
            .name("enact-llama".to_owned())
            .spawn(move || {
                if let Err(error) = work(plan, &received, &ready) {
                    // The receiver may be gone.
                    let _ = ready.send(Err(error));
                }
            });
        let thread = spawned.map_err(|error| {
            let message = "no thread can be started for the model: end other programs";
            ModelError::new(ModelErrorKind::Server, message).with_source(error)
        })?;
        let worker = Self {
            jobs: Some(jobs),
            thread: Some(thread),
        };
        match is_ready.recv() {
            Ok(Ok(context)) => Ok((worker, context)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(gone()),
        }
    }

    /// Sends a request.
    pub(crate) fn send(&self, job: Job) -> Result<(), ModelError> {
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(job).map_err(|_| gone())
    }
}

impl Drop for Worker {
    /// Waits for the thread, which ends within one token: llama.cpp must not be running when the process
    /// ends.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic in the thread was reported to the receiver of its reply.
            let _ = thread.join();
        }
    }
}

fn gone() -> ModelError {
    ModelError::new(
        ModelErrorKind::Server,
        "the thread of the model has ended: load the model again",
    )
}

fn work(
    plan: Plan,
    jobs: &mpsc::Receiver<Job>,
    ready: &mpsc::SyncSender<Result<usize, ModelError>>,
) -> Result<(), ModelError> {
    let backend = backend()?;
    let mut params = LlamaModelParams::default();
    if let Some(mut watcher) = plan.watcher {
        params = params.with_progress_callback(move |loaded| {
            watcher(loaded);
            true
        });
    }
    let model = LlamaModel::load_from_file(backend, &plan.file, &params).map_err(|error| {
        let file = plan.file.display();
        let message = format!(
            "`{file}` cannot be loaded: it is damaged, too large for the memory, or of a kind \
             that this llama.cpp does not know"
        );
        ModelError::new(ModelErrorKind::InvalidRequest, message).with_source(error)
    })?;
    let usual = USUAL_CONTEXT.min(model.n_ctx_train());
    let context = plan
        .context_tokens
        .or(NonZeroU32::new(usual))
        .unwrap_or(NonZeroU32::MIN);
    let threads = i32::try_from(plan.threads.get()).unwrap_or(i32::MAX);
    let mut engine = Engine::new(backend, &model, context, threads, plan.evaluated)?;
    let template = Template::of(&model);
    if ready.send(Ok(engine.size())).is_err() {
        return Ok(());
    }
    while let Ok(job) = jobs.recv() {
        match writing::reply(&mut engine, &template, &job.request, &job) {
            Ok(()) | Err(Stopped::Abandoned) => {}
            Err(Stopped::Failed(error)) => {
                // The receiver may be gone.
                let _ = job.chunks.send(Err(error));
            }
        }
    }
    Ok(())
}

/// Initialises llama.cpp once in a process, without output.
fn backend() -> Result<&'static LlamaBackend, ModelError> {
    static BACKEND: OnceLock<Option<LlamaBackend>> = OnceLock::new();
    let backend = BACKEND.get_or_init(|| {
        send_logs_to_tracing(LogOptions::default().with_logs_enabled(false));
        LlamaBackend::init().ok()
    });
    backend.as_ref().ok_or_else(|| {
        ModelError::new(
            ModelErrorKind::Server,
            "llama.cpp was set up by another part of this program: load models there, or here",
        )
    })
}
