//! What a model writes, told while it writes it.
//!
//! An adapter reads along as well as it can; what a reply says is known when it is whole. So every
//! piece is settled then: what is missing is told, and what was told wrongly is taken back. Whoever
//! puts the texts of a piece together since it was last taken back has its value.

use futures_util::StreamExt as _;
use serde_json::Value;

use super::{Listener, Update};
use crate::adapter::{Live, Piece};
use crate::model::{Chunk, LanguageModel, ModelError, Reply, ReplyBuilder, Request, Secrets};
use crate::run::Event;

/// Tells what one reply says while it is written.
pub(super) struct Writing<'a> {
    listener: &'a Listener,
    make: Box<dyn Fn() -> Box<dyn Live> + Send + Sync + 'a>,
    live: Box<dyn Live>,
    secrets: &'a Secrets,
    told: Vec<Told>,
}

/// What is known of a piece.
struct Told {
    piece: Piece,
    /// What the model wrote.
    written: String,
    /// What was told of it, without secrets.
    told: String,
}

impl<'a> Writing<'a> {
    pub(super) fn new(
        listener: &'a Listener,
        secrets: &'a Secrets,
        make: impl Fn() -> Box<dyn Live> + Send + Sync + 'a,
    ) -> Self {
        Self {
            listener,
            live: make(),
            make: Box::new(make),
            secrets,
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
            secrets,
            told,
            ..
        } = self;
        live.push(chunk, &mut |piece, text| {
            tell(listener, secrets, told, piece, text);
        });
    }

    /// Settles what was told by what the reply turned out to be.
    pub(super) fn settle(mut self, event: &Event) {
        let pieces: Vec<(Piece, Value)> = match event.reply() {
            Some(replied) => {
                let thought = replied.stepped().map(|_| replied.thought().trim());
                let thought = thought.filter(|thought| !thought.is_empty());
                let thought = thought.map(|thought| (Piece::Thought, thought.into()));
                let outputs = replied.committed().into_iter().flat_map(named);
                thought.into_iter().chain(outputs).collect()
            }
            None => Vec::new(),
        };
        for (piece, value) in pieces {
            let whole = match &value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let known = self.told.iter().position(|known| known.piece == piece);
            let known = known.map(|at| self.told.remove(at).told);
            let known = known.unwrap_or_default();
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
        for Told { piece, .. } in self.told.drain(..) {
            self.listener.tell(&Update::TakenBack { piece });
        }
    }
}

fn named(outputs: &crate::signature::Values) -> impl Iterator<Item = (Piece, Value)> {
    let outputs = outputs.iter();
    outputs.map(|(name, value)| (Piece::Output(name.clone()), value.clone()))
}

/// Tells more of a piece, but not what may yet turn out to be a secret.
fn tell(listener: &Listener, secrets: &Secrets, all: &mut Vec<Told>, piece: &Piece, text: &str) {
    if text.is_empty() {
        return;
    }
    let place = all.iter().position(|known| known.piece == *piece);
    let place = place.unwrap_or_else(|| {
        all.push(Told {
            piece: piece.clone(),
            written: String::new(),
            told: String::new(),
        });
        all.len() - 1
    });
    let known = &mut all[place];
    let more = if secrets.is_empty() {
        text.to_owned()
    } else {
        known.written.push_str(text);
        let shown = &known.written[..secrets.showable(&known.written)];
        let shown = secrets.redact(shown);
        // What was held back does not begin before what was told.
        shown.get(known.told.len()..).unwrap_or_default().to_owned()
    };
    if more.is_empty() {
        return;
    }
    known.told.push_str(&more);
    listener.tell(&Update::Writing {
        piece: piece.clone(),
        text: more,
    });
}

/// A reply that never becomes whole is taken back.
impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.take_back();
    }
}
