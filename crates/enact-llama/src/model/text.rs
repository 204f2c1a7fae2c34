//! Converts the bytes of tokens to text, held back as long as they may be part of a mark.

/// The effect of a token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// More text.
    Text(String),
    /// A complete mark.
    Mark {
        /// The text before it.
        text: String,
        /// The mark.
        mark: usize,
        /// The number of bytes after it.
        behind: usize,
    },
}

/// Converts tokens to text. A character can consist of several tokens, and so can a mark.
#[derive(Debug)]
pub(crate) struct Pieces<'a> {
    marks: &'a [&'a str],
    held: Vec<u8>,
}

impl<'a> Pieces<'a> {
    /// Sets the marks to detect.
    pub(crate) fn new(marks: &'a [&'a str]) -> Self {
        Self {
            marks,
            held: Vec::new(),
        }
    }

    /// Adds a token.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Found {
        self.held.extend_from_slice(piece);
        let found = self.marks.iter().enumerate().filter_map(|(index, mark)| {
            let place = find(&self.held, mark.as_bytes())?;
            Some((place, index, mark.len()))
        });
        if let Some((place, mark, length)) = found.min() {
            let behind = self.held.len() - place - length;
            let text = String::from_utf8_lossy(&self.held[..place]).into_owned();
            self.held.clear();
            return Found::Mark { text, mark, behind };
        }
        let begun = self
            .marks
            .iter()
            .map(|mark| begun(&self.held, mark.as_bytes()));
        let kept = begun.max().unwrap_or(0);
        let ready = self.held.len() - kept;
        let ready = whole_characters(&self.held[..ready]);
        let rest = self.held.split_off(ready);
        let text = String::from_utf8_lossy(&self.held).into_owned();
        self.held = rest;
        Found::Text(text)
    }

    /// The rest at the end.
    pub(crate) fn rest(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}

fn find(text: &[u8], mark: &[u8]) -> Option<usize> {
    if mark.is_empty() {
        return None;
    }
    text.windows(mark.len()).position(|window| window == mark)
}

/// The number of bytes at the end that may start the mark.
fn begun(text: &[u8], mark: &[u8]) -> usize {
    let most = mark.len().saturating_sub(1).min(text.len());
    let lengths = (1..=most).rev();
    let mut fitting = lengths.filter(|length| text.ends_with(&mark[..*length]));
    fitting.next().unwrap_or(0)
}

/// The number of bytes that are complete characters, or invalid.
fn whole_characters(text: &[u8]) -> usize {
    let mut start = 0;
    loop {
        match std::str::from_utf8(&text[start..]) {
            Ok(_) => return text.len(),
            Err(error) => match error.error_len() {
                // Ends within a character.
                None => return start + error.valid_up_to(),
                Some(length) => start += error.valid_up_to() + length,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Found {
        Found::Text(text.to_owned())
    }

    #[test]
    fn a_mark_is_found_across_pieces_and_never_shown() {
        let mut pieces = Pieces::new(&["<tool_call>", "STOP"]);
        assert_eq!(pieces.push(b"Well, a < b <to"), text("Well, a < b "));
        assert_eq!(pieces.push(b"ol_c"), text(""));
        let mark = Found::Mark {
            text: String::new(),
            mark: 0,
            behind: 2,
        };
        assert_eq!(pieces.push(b"all>{\""), mark);
    }

    #[test]
    fn what_only_looked_like_a_mark_is_text_again() {
        let mut pieces = Pieces::new(&["<tool_call>"]);
        assert_eq!(pieces.push(b"a <tool"), text("a "));
        assert_eq!(pieces.push(b"box>"), text("<toolbox>"));
        assert_eq!(pieces.push(b"<t"), text(""));
        assert_eq!(pieces.rest(), "<t");
    }

    #[test]
    fn characters_come_whole() {
        let mut pieces = Pieces::new(&[]);
        let euro = "€".as_bytes();
        assert_eq!(pieces.push(&euro[..1]), text(""));
        assert_eq!(pieces.push(&euro[1..]), text("€"));
        assert_eq!(pieces.push(b"\xFFa"), text("\u{FFFD}a"));
        assert_eq!(pieces.push(&euro[..2]), text(""));
        assert_eq!(pieces.rest(), "\u{FFFD}");
    }
}
