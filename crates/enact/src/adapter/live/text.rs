//! Plain text, and text without thinking tags.

use super::{Live, Piece, Trimmed};
use crate::adapter::thinking;
use crate::model::Chunk;

/// The longest tag that opens thinking, `<thinking>`.
const LONGEST_TAG: usize = 10;

/// A text without the thinking at its start, as it comes.
#[derive(Debug, Default)]
pub(in crate::adapter) struct Spoken {
    /// What may still turn out to be thinking.
    held: String,
    is_plain: bool,
}

impl Spoken {
    pub(in crate::adapter) fn push(&mut self, text: &str, tell: &mut dyn FnMut(&str)) {
        if self.is_plain {
            return tell(text);
        }
        self.held.push_str(text);
        let start = self.held.trim_start();
        let is_thinking = thinking::is_tag(start);
        // Thinking ends with a bracket; until then there is nothing to look for.
        if start.is_empty() || thinking::may_be_tag(start) || (is_thinking && !text.contains('>')) {
            return;
        }
        let spoken = thinking::spoken(&self.held).text;
        // All of it may be thinking that has not ended, and more may follow the first.
        let is_open = is_thinking && spoken.len() + LONGEST_TAG >= start.len();
        if is_open || spoken.trim().is_empty() || thinking::may_be_tag(spoken.trim_start()) {
            return;
        }
        self.is_plain = true;
        tell(spoken);
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
