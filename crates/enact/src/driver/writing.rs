//! What a model writes, told while it writes it.
//!
//! An adapter reads along as well as it can; what a reply says is known when it is whole. So every
//! piece is settled then: what is missing is told, and what was told wrongly is taken back. Whoever
//! puts the texts of a piece together since it was last taken back has its value.

use futures_util::StreamExt as _;
use serde_json::Value;

use super::{Listener, Update};
use crate::adapter::{Live, Piece};
use crate::model::{Chunk, LanguageModel, ModelError, Reply, ReplyBuilder, Request};
use crate::run::{Event, StepOutcome};

/// Tells what one reply says while it is written.
pub(super) struct Writing<'a> {
    listener: &'a Listener,
    make: Box<dyn Fn() -> Box<dyn Live> + Send + Sync + 'a>,
    live: Box<dyn Live>,
    /// What was told of each piece.
    told: Vec<(Piece, String)>,
}

impl<'a> Writing<'a> {
    pub(super) fn new(
        listener: &'a Listener,
        make: impl Fn() -> Box<dyn Live> + Send + Sync + 'a,
    ) -> Self {
        Self {
            listener,
            live: make(),
            make: Box::new(make),
            told: Vec::new(),
        }
    }

    /// Asks for a reply and tells of it while it comes.
    pub(super) async fn ask(
        &mut self,
        model: &dyn LanguageModel,
        request: Request,
    ) -> Result<Reply, ModelError> {
        let mut stream = model.stream(request);
        let mut builder = ReplyBuilder::default();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk?;
            self.take(&chunk);
            builder.push(chunk);
        }
        builder.finish()
    }

    fn take(&mut self, chunk: &Chunk) {
        if *chunk == Chunk::Restart {
            self.take_back();
            self.live = (self.make)();
            return;
        }
        let Self {
            listener,
            live,
            told,
            ..
        } = self;
        live.push(chunk, &mut |piece, text| tell(listener, told, piece, text));
    }

    /// Settles what was told by what the reply turned out to be.
    pub(super) fn settle(mut self, event: &Event) {
        let pieces: Vec<(Piece, Value)> = match event {
            Event::Stepped(step) => {
                let thought = step.thought().trim();
                let thought = (!thought.is_empty()).then(|| (Piece::Thought, thought.into()));
                let outputs = match &step.outcome {
                    StepOutcome::Commit(outputs) => Some(outputs),
                    _ => None,
                };
                thought
                    .into_iter()
                    .chain(outputs.into_iter().flat_map(named))
                    .collect()
            }
            Event::Extracted { outputs, .. } => named(outputs).collect(),
            _ => Vec::new(),
        };
        for (piece, value) in pieces {
            let whole = match &value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let known = self.told.iter().position(|(known, _)| *known == piece);
            let known = known.map(|at| self.told.remove(at).1).unwrap_or_default();
            let missing = match whole.strip_prefix(&known) {
                Some(missing) => missing,
                None => {
                    let piece = piece.clone();
                    self.listener.tell(&Update::TakenBack { piece });
                    &whole
                }
            };
            if !missing.is_empty() {
                self.listener.tell(&Update::Writing {
                    piece: piece.clone(),
                    text: missing.to_owned(),
                });
            }
            self.listener.tell(&Update::Written { piece, value });
        }
        self.take_back();
    }

    /// What was told and not settled does not count.
    pub(super) fn take_back(&mut self) {
        for (piece, _) in self.told.drain(..) {
            self.listener.tell(&Update::TakenBack { piece });
        }
    }
}

fn named(outputs: &crate::signature::Values) -> impl Iterator<Item = (Piece, Value)> {
    let outputs = outputs.iter();
    outputs.map(|(name, value)| (Piece::Output(name.clone()), value.clone()))
}

fn tell(listener: &Listener, told: &mut Vec<(Piece, String)>, piece: &Piece, text: &str) {
    if text.is_empty() {
        return;
    }
    match told.iter_mut().find(|(known, _)| known == piece) {
        Some((_, known)) => known.push_str(text),
        None => told.push((piece.clone(), text.to_owned())),
    }
    listener.tell(&Update::Writing {
        piece: piece.clone(),
        text: text.to_owned(),
    });
}

/// A reply that never becomes whole is taken back.
impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.take_back();
    }
}
