//! Records exchanges.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::TryStreamExt as _;
use serde::Serialize;
use serde_json::{Map, Value};

use super::RecordingError;
use super::file::{Exchange, Failed, Heading, Lines};
use crate::model::canonical::canonical;
use crate::model::private;
use crate::model::{
    Chunk, LanguageModel, ModelError, ModelErrorKind, ModelInfo, ReplyBuilder, ReplyStream,
    Request, Secrets, write_reply,
};

/// A model whose exchanges are recorded, for a [`Replaying`](super::Replaying).
///
/// Each exchange is a line of JSON, written when its reply is complete or has failed: the request, the
/// chunks of the reply as received, and the error if there is one. Requests can be concurrent. An
/// abandoned request is not recorded. If a reply can't be recorded, the request fails, so that a
/// recording is never incomplete.
///
/// Put it around wrappers such as [`Retrying`](crate::model::Retrying): their effects are recorded
/// with the reply. Set [`Secrets`]: a recording contains all messages.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{LanguageModel as _, Message, Recording, Replaying, Request, ScriptedModel, say};
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("recorded.jsonl");
/// let ask = || Request::new([Message::user("Capital of France?")].into_iter().collect());
///
/// let model = Recording::to_file(ScriptedModel::new([say("Paris")]), &file)?;
/// model.complete(ask()).await?;
/// drop(model);
///
/// let replay = Replaying::open(&file)?;
/// assert_eq!(replay.complete(ask()).await?.text, "Paris");
/// # Ok::<_, Box<dyn std::error::Error>>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Recording<M> {
    model: M,
    heading: Heading,
    secrets: Secrets,
    tape: Tape,
}

impl<M: LanguageModel> Recording<M> {
    /// Records to any writer.
    pub fn new(model: M, writer: impl Write + Send + 'static) -> Self {
        Self::on(model, Tape::new(Box::new(writer), Vec::new()))
    }

    /// Records to a file that only its owner can read. If the file exists, new exchanges are
    /// appended.
    ///
    /// # Errors
    /// If the file cannot be opened, is not a recording, or contains another model with this name.
    pub fn to_file(model: M, path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let io = |source| RecordingError::Io {
            path: path.to_owned(),
            source,
        };
        let file = private::open(OpenOptions::new().append(true).create(true), path);
        let file = file.map_err(io)?;
        let known = Lines::read(path)?;
        let heading = Heading::of(&model);
        if let Some(known) = known.heading(model.name())
            && (known.capabilities, &known.base_url) != (heading.capabilities, &heading.base_url)
        {
            return Err(RecordingError::OtherModel {
                path: path.to_owned(),
                model: heading.model,
            });
        }
        let known = known.headings.into_iter().map(|heading| heading.model);
        Ok(Self::on(model, Tape::new(Box::new(file), known.collect())))
    }

    fn on(model: M, tape: Tape) -> Self {
        Self {
            heading: Heading::of(&model),
            model,
            secrets: Secrets::new(),
            tape,
        }
    }

    /// Removes these secrets from the recording.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// Adds notes about the model, which [`Replaying::notes`](super::Replaying::notes)
    /// returns.
    #[must_use]
    pub fn with_notes(mut self, notes: Map<String, Value>) -> Self {
        self.heading.notes = notes;
        self
    }

    /// Records another model to the same file, such as a judge.
    pub fn beside<N: LanguageModel>(&self, model: N) -> Recording<N> {
        Recording {
            heading: Heading::of(&model),
            model,
            secrets: self.secrets.clone(),
            tape: self.tape.clone(),
        }
    }

    /// Writes an exchange.
    fn write(
        &self,
        request: &Request,
        chunks: Vec<Chunk>,
        error: Option<&ModelError>,
    ) -> Result<(), ModelError> {
        let mut exchange = Exchange {
            model: self.heading.model.clone(),
            request: Value::Object(canonical(request)),
            chunks,
            error: error.map(Failed::from),
        };
        if !self.secrets.is_empty() && exchange.error.is_none() {
            exchange.chunks = whole_if(exchange.chunks, &self.secrets);
        }
        let written = self.line(&self.heading).and_then(|heading| {
            let exchange = self.line(&exchange)?;
            self.tape.write(&self.heading.model, &heading, &exchange)
        });
        written.map_err(|problem| {
            let message = format!("the exchange could not be recorded: {problem}");
            ModelError::new(ModelErrorKind::InvalidRequest, message).with_source(problem)
        })
    }

    /// A line without secrets.
    fn line(&self, whole: &impl Serialize) -> io::Result<String> {
        let mut value = serde_json::to_value(whole)?;
        self.secrets.redact_value(&mut value);
        Ok(format!("{value}\n"))
    }
}

/// The chunks as received; if the reply contains a secret, which may span chunks, as one chunk.
fn whole_if(chunks: Vec<Chunk>, secrets: &Secrets) -> Vec<Chunk> {
    let mut builder = ReplyBuilder::default();
    for chunk in &chunks {
        builder.push(chunk.clone());
    }
    // A partial reply counts as little as a failed one.
    let Ok(reply) = builder.finish() else {
        return Vec::new();
    };
    let mut calls = reply.calls.iter();
    let is_held = secrets.is_in(&reply.text)
        || secrets.is_in(&reply.reasoning)
        || calls.any(|call| secrets.is_in(&call.name) || secrets.is_in(&call.arguments));
    if !is_held {
        return chunks;
    }
    let mut whole = vec![Chunk::Restart; reply.attempts.saturating_sub(1) as usize];
    whole.extend(Vec::<Chunk>::from(reply));
    whole
}

/// The destination of lines, for one writer at a time.
#[derive(Clone)]
struct Tape(Arc<Mutex<Open>>);

struct Open {
    writer: Box<dyn Write + Send>,
    /// The models that have a heading.
    known: Vec<String>,
}

impl Tape {
    fn new(writer: Box<dyn Write + Send>, known: Vec<String>) -> Self {
        Self(Arc::new(Mutex::new(Open { writer, known })))
    }

    fn write(&self, model: &str, heading: &str, exchange: &str) -> io::Result<()> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.known.iter().any(|known| known == model) {
            open.writer.write_all(heading.as_bytes())?;
            open.known.push(model.to_owned());
        }
        open.writer.write_all(exchange.as_bytes())?;
        open.writer.flush()
    }
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tape")
    }
}

impl<M: LanguageModel> LanguageModel for Recording<M> {
    fn info(&self) -> ModelInfo<'_> {
        self.model.info()
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        write_reply(|out| async move {
            let mut chunks = Vec::new();
            let reply = self.model.stream(request.clone());
            let read = out.copy(reply.inspect_ok(|chunk| chunks.push(chunk.clone())));
            let read = read.await;
            // Chunks before a failure don't count, so with secrets they are not recorded.
            if read.is_err() && !self.secrets.is_empty() {
                chunks.clear();
            }
            let written = self.write(&request, chunks, read.as_ref().err());
            match (read, written) {
                // The failure of the model matters more than that of the recording.
                (Err(error), Err(problem)) => Err(error.with_note(&problem.to_string())),
                (read, written) => read.and(written),
            }
        })
    }
}
