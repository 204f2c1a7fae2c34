//! Writing exchanges down.

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

/// A model whose exchanges are written down, for a [`Replaying`](super::Replaying).
///
/// Each exchange is a line of JSON, written when its reply is whole or has failed: the request, the
/// pieces of the reply as they came, and the error if there is one. Requests may be made side by
/// side. A request that is given up is not written down. A reply that cannot be written down fails:
/// whoever records wants a recording.
///
/// Put it around wrappers such as [`Retrying`](crate::model::Retrying): what they did is recorded
/// with the reply. Put [`Secrets`] into it: a recording holds all that was said.
#[derive(Debug, Clone)]
pub struct Recording<M> {
    model: M,
    heading: Heading,
    secrets: Secrets,
    tape: Tape,
}

impl<M: LanguageModel> Recording<M> {
    /// Writes to anything that takes bytes.
    pub fn new(model: M, writer: impl Write + Send + 'static) -> Self {
        Self::on(model, Tape::new(Box::new(writer), Vec::new()))
    }

    /// Writes to a file, which only its owner can read. A recording that is there is gone on with;
    /// nothing in it is changed.
    ///
    /// # Errors
    /// When the file cannot be opened, or is not a recording, or is of another model of this name.
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

    /// The same without these secrets in what is written.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// The same with notes about the model, which [`Replaying::notes`](super::Replaying::notes)
    /// gives back.
    #[must_use]
    pub fn with_notes(mut self, notes: Map<String, Value>) -> Self {
        self.heading.notes = notes;
        self
    }

    /// Records another model on the same tape, such as one that judges.
    pub fn beside<N: LanguageModel>(&self, model: N) -> Recording<N> {
        Recording {
            heading: Heading::of(&model),
            model,
            secrets: self.secrets.clone(),
            tape: self.tape.clone(),
        }
    }

    /// Writes an exchange down.
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

/// The chunks as they came; if the reply holds a secret, which may lie across them, in one piece.
fn whole_if(chunks: Vec<Chunk>, secrets: &Secrets) -> Vec<Chunk> {
    let mut builder = ReplyBuilder::default();
    for chunk in &chunks {
        builder.push(chunk.clone());
    }
    // What was cut off counts as little as what failed.
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

/// Where lines go, one writer at a time.
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
            // No part of what came before a failure counts, so where there are secrets, none is kept.
            if read.is_err() && !self.secrets.is_empty() {
                chunks.clear();
            }
            let written = self.write(&request, chunks, read.as_ref().err());
            match (read, written) {
                // Why there is no reply matters more than why that was not written down.
                (Err(error), Err(problem)) => Err(error.with_note(&problem.to_string())),
                (read, written) => read.and(written),
            }
        })
    }
}
