//! Tracks whether incremental JSON is complete, without parsing it again for each part.

use serde::de::IgnoredAny;

/// A value that is neither an object nor a list may also be complete. Longer ones are not arguments.
const MAX_PLAIN_BYTES: usize = 64;

/// The nesting at the end of the last part.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
    has_opened: bool,
    /// The text before anything was opened.
    plain: String,
}

impl Nesting {
    pub(super) fn push(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_text => self.is_escaped = true,
                b'"' => self.is_in_text = !self.is_in_text,
                _ if self.is_in_text => {}
                b'{' | b'[' => {
                    self.depth += 1;
                    self.has_opened = true;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        if !self.has_opened && self.plain.len() <= MAX_PLAIN_BYTES {
            self.plain.push_str(piece);
        }
    }

    /// Whether everything that was opened is closed.
    pub(super) fn is_complete(&self) -> bool {
        match self.has_opened {
            true => self.depth == 0 && !self.is_in_text,
            false if self.plain.len() > MAX_PLAIN_BYTES => false,
            false => serde_json::from_str::<IgnoredAny>(&self.plain).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_matter_where_json_is_split() {
        for whole in [r#"{"a":[{"b":"}\"{"}]}"#, "[]", "null", r#""x""#, "12"] {
            let mut nesting = Nesting::default();
            for (at, character) in whole.char_indices() {
                let is_open = whole.starts_with(['{', '[', '"']);
                assert!(!(is_open && nesting.is_complete()), "{whole} up to {at}");
                nesting.push(character.encode_utf8(&mut [0; 4]));
            }
            assert!(nesting.is_complete(), "{whole}");
        }
        assert!(!Nesting::default().is_complete());
    }
}
