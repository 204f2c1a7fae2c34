//! Plain text, and text without thinking tags.

use super::{Live, Piece, Tell, Trimmed};
use crate::adapter::thinking;
use crate::model::Chunk;

/// The length of the longest tag, `</thinking>`, minus one: a possible start of a tag.
const LONGEST_START: usize = 10;

/// Reads the text of a reply as it arrives.
pub(super) trait Reads: Send {
    /// Takes more of the text.
    fn take(&mut self, text: &str, tell: &mut Tell<'_>);
}

/// Reads a reply without the thinking at its start.
#[derive(Debug)]
pub(super) struct Speech<R> {
    spoken: Spoken,
    reader: R,
}

impl<R: Reads + 'static> Speech<R> {
    pub(super) fn live(reader: R) -> Box<dyn Live> {
        Box::new(Self::of(reader))
    }

    fn of(reader: R) -> Self {
        let spoken = Spoken::default();
        Self { spoken, reader }
    }
}

impl<R: Reads> Live for Speech<R> {
    fn push(&mut self, chunk: &Chunk, tell: &mut Tell<'_>) {
        let Self { spoken, reader } = self;
        if let Chunk::Text(text) = chunk {
            spoken.push(text, &mut |text| reader.take(text, tell));
        }
    }
}

/// A text without the thinking at its start, as it arrives.
#[derive(Debug, Default)]
struct Spoken {
    state: State,
    /// A possible start of a tag.
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
    fn push(&mut self, text: &str, tell: &mut dyn FnMut(&str)) {
        if self.state == State::Plain {
            return tell(text);
        }
        self.held.push_str(text);
        loop {
            let rest = match self.state {
                State::Start => {
                    // A field doesn't start with white space.
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
    trimmed: Trimmed,
    /// Whether it is a text, not a call written as text, once that is known.
    is_text: Option<bool>,
}

impl TextReader {
    pub(in crate::adapter) fn live(piece: Piece) -> Box<dyn Live> {
        Box::new(Self::of(piece))
    }

    pub(super) fn of(piece: Piece) -> Speech<Self> {
        Speech::of(Self {
            piece,
            trimmed: Trimmed::default(),
            is_text: None,
        })
    }
}

impl Reads for TextReader {
    fn take(&mut self, text: &str, tell: &mut Tell<'_>) {
        let Self {
            piece,
            trimmed,
            is_text,
        } = self;
        trimmed.push(text, |text| {
            let begins = || !text.starts_with(['{', '[', '<', '`', '\\']);
            if *is_text.get_or_insert_with(begins) {
                tell(piece, text);
            }
        });
    }
}
