//! Plain text, and text without thinking tags.

use super::{Live, Piece, Trimmed};
use crate::adapter::thinking;
use crate::model::Chunk;

/// The longest tag, `</thinking>`, less one: what may be the start of one.
const LONGEST_START: usize = 10;

/// A text without the thinking at its start, as it comes.
#[derive(Debug, Default)]
pub(in crate::adapter) struct Spoken {
    state: State,
    /// What may still turn out to be a tag.
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    Thinking,
    Plain,
}

impl Spoken {
    pub(in crate::adapter) fn push(&mut self, text: &str, tell: &mut dyn FnMut(&str)) {
        if self.state == State::Plain {
            return tell(text);
        }
        self.held.push_str(text);
        loop {
            let rest = match self.state {
                State::Start => {
                    // No field begins with space.
                    let space = self.held.len() - self.held.trim_start().len();
                    self.held.drain(..space);
                    if self.held.is_empty() || thinking::may_be_tag(&self.held) {
                        return;
                    }
                    let Some(inside) = thinking::after_opening(&self.held) else {
                        self.state = State::Plain;
                        return tell(&std::mem::take(&mut self.held));
                    };
                    self.state = State::Thinking;
                    inside.to_owned()
                }
                _ => match thinking::after_closing(&self.held) {
                    Some(after) => {
                        self.state = State::Start;
                        after.to_owned()
                    }
                    None => {
                        let mut cut = self.held.len().saturating_sub(LONGEST_START);
                        while !self.held.is_char_boundary(cut) {
                            cut += 1;
                        }
                        self.held.drain(..cut);
                        return;
                    }
                },
            };
            self.held = rest;
        }
    }
}

/// A reply that is one piece.
#[derive(Debug)]
pub(in crate::adapter) struct TextReader {
    piece: Piece,
    spoken: Spoken,
    trimmed: Trimmed,
    start: Start,
}

/// Whether a text is one, or a call that was written into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Unknown,
    Text,
    Structure,
}

impl TextReader {
    pub(in crate::adapter) fn new(piece: Piece) -> Self {
        Self {
            piece,
            spoken: Spoken::default(),
            trimmed: Trimmed::default(),
            start: Start::Unknown,
        }
    }
}

impl Live for TextReader {
    fn push(&mut self, chunk: &Chunk, tell: &mut dyn FnMut(&Piece, &str)) {
        let Chunk::Text(text) = chunk else {
            return;
        };
        let Self {
            piece,
            spoken,
            trimmed,
            start,
        } = self;
        spoken.push(text, &mut |text| {
            trimmed.push(text, |text| {
                if *start == Start::Unknown {
                    *start = match text.starts_with(['{', '[', '<', '`', '\\']) {
                        true => Start::Structure,
                        false => Start::Text,
                    };
                }
                if *start == Start::Text {
                    tell(piece, text);
                }
            });
        });
    }
}
