//! Reports what a model writes, while it writes it.
//!
//! Live reading by an adapter is approximate; the complete reply decides. So every piece is settled at the
//! end: missing text is reported, and wrong text is taken back. The texts of a piece since it was last
//! taken back are its value.

use futures_util::StreamExt as _;
use serde_json::Value;

use super::{Listener, Update};
use crate::adapter::{Live, Piece};
use crate::model::{Chunk, LanguageModel, ModelError, Reply, ReplyBuilder, Request, Secrets};
use crate::run::Replied;
use crate::signature::{Values, plain_text};

/// Reports a reply while it is written.
pub(super) struct Writing {
    listener: Listener,
    secrets: Secrets,
    told: Vec<Told>,
}

/// The state of a piece.
struct Told {
    piece: Piece,
    /// What the model wrote.
    written: String,
    /// What has been reported, without secrets.
    told: String,
}

impl Writing {
    pub(super) fn new(listener: Listener, secrets: Secrets) -> Self {
        Self {
            listener,
            secrets,
            told: Vec::new(),
        }
    }

    /// Requests a reply and reports it as it arrives.
    pub(super) async fn ask(
        &mut self,
        model: &dyn LanguageModel,
        request: Request,
        reader: &(dyn Fn() -> Box<dyn Live> + Sync),
    ) -> Result<Reply, ModelError> {
        let mut stream = model.stream(request);
        let mut builder = ReplyBuilder::default();
        let mut live = reader();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk?;
            if chunk == Chunk::Restart {
                self.take_back();
                live = reader();
            } else {
                live.push(&chunk, &mut |piece, text| self.tell(piece, text));
            }
            builder.push(chunk);
        }
        builder.finish()
    }

    /// Corrects what was reported according to the complete reply.
    pub(super) fn settle(mut self, replied: &Replied) {
        let thought = replied.stepped().map(|_| replied.thought().trim());
        let thought = thought.filter(|thought| !thought.is_empty());
        let thought = thought.map(|thought| (Piece::Thought, Value::from(thought)));
        let outputs = replied.committed().into_iter().flat_map(named);
        for (piece, value) in thought.into_iter().chain(outputs) {
            let whole = plain_text(&value);
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

    /// Reports more of a piece, except what may turn out to be a secret.
    fn tell(&mut self, piece: &Piece, text: &str) {
        if text.is_empty() {
            return;
        }
        let place = self.told.iter().position(|known| known.piece == *piece);
        let place = place.unwrap_or_else(|| {
            self.told.push(Told {
                piece: piece.clone(),
                written: String::new(),
                told: String::new(),
            });
            self.told.len() - 1
        });
        let known = &mut self.told[place];
        let more = if self.secrets.is_empty() {
            text.to_owned()
        } else {
            known.written.push_str(text);
            let shown = &known.written[..self.secrets.showable(&known.written)];
            let shown = self.secrets.redact(shown);
            // What was held back doesn't start before what was reported.
            shown.get(known.told.len()..).unwrap_or_default().to_owned()
        };
        if more.is_empty() {
            return;
        }
        known.told.push_str(&more);
        self.listener.tell(&Update::Writing {
            piece: piece.clone(),
            text: more,
        });
    }

    /// Text that was reported but not settled is invalid.
    fn take_back(&mut self) {
        for Told { piece, .. } in self.told.drain(..) {
            self.listener.tell(&Update::TakenBack { piece });
        }
    }
}

fn named(outputs: &Values) -> impl Iterator<Item = (Piece, Value)> {
    let outputs = outputs.iter();
    outputs.map(|(name, value)| (Piece::Output(name.clone()), value.clone()))
}

/// Takes back a reply that never completes.
impl Drop for Writing {
    fn drop(&mut self) {
        self.take_back();
    }
}
