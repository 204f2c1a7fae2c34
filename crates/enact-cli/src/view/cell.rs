//! Characters as a person sees them: invisible characters are escaped, and long repetitions are
//! counted.

use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory};
use icu_properties::{CodePointMapData, CodePointSetData};

use super::text::grouped;

/// Longer sequences of spaces or combining marks are counted instead of shown.
const SPACES: usize = 40;
const COMBINING: usize = 8;
/// By category these are letters, marks or symbols, but fonts show nothing or a space for them: an empty
/// braille cell, an object placeholder, a note without a head, joiners and a filler.
const UNSEEN: [char; 6] = [
    '\u{2800}',
    '\u{fffc}',
    '\u{1d159}',
    '\u{2d7f}',
    '\u{1107f}',
    '\u{16fe4}',
];
/// Encloses a remark that is not part of the text. Text that looks like a remark has its first
/// character escaped.
const REMARK: (char, char) = ('«', '»');

/// Whether a character is invisible, or looks like a space.
pub(super) fn is_hidden(character: char) -> bool {
    use GeneralCategory as Category;
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    let is_markless = matches!(
        category,
        Category::Control
            | Category::Format
            | Category::LineSeparator
            | Category::ParagraphSeparator
            | Category::SpaceSeparator
            // Fonts show nothing for many of these.
            | Category::PrivateUse
            | Category::Unassigned
            | Category::Surrogate
    );
    // By category, fillers are letters and variation selectors are marks.
    is_markless
        || UNSEEN.contains(&character)
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
}

/// A character as shown, or a remark instead of several characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Whether it is not part of the text itself.
    pub(super) is_mark: bool,
    /// The number of characters that it stands for.
    pub(super) characters: usize,
}

impl Cell {
    pub(super) fn of(character: char) -> Self {
        Self {
            text: match is_hidden(character) {
                true => character.escape_unicode().to_string(),
                false => character.to_string(),
            },
            is_mark: is_hidden(character),
            characters: 1,
        }
    }

    fn remark(text: &str, characters: usize) -> Self {
        let (before, after) = REMARK;
        Self {
            text: format!("{before}{text}{after}"),
            is_mark: true,
            characters,
        }
    }

    /// A count of repeated characters.
    pub(super) fn counted(characters: usize, noun: &str) -> Self {
        Self::remark(
            &format!("{} {noun}", grouped(characters as u64)),
            characters,
        )
    }

    /// A count of omitted characters.
    pub(super) fn note(characters: usize) -> Self {
        Self::counted(characters, "characters left out")
    }
}

pub(super) fn cells(line: &str) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut rest = line;
    while let Some((cell, after)) = next_cell(rest) {
        cells.push(cell);
        rest = after;
    }
    cells
}

/// The first cell of a text, and the rest.
pub(super) fn next_cell(text: &str) -> Option<(Cell, &str)> {
    let first = text.chars().next()?;
    let run = |is_meant: fn(char) -> bool| {
        let length = text.find(|c| !is_meant(c)).unwrap_or(text.len());
        (text[..length].chars().count(), &text[length..])
    };
    if first.is_whitespace() {
        // All of one kind, or mixed.
        let (count, rest) = run(|c| c.is_whitespace() && c != '\n');
        let noun = match text.chars().take(count).all(|c| c == first) {
            true if first == ' ' => "spaces",
            true if first == '\t' => "tabs",
            _ => "blanks",
        };
        if count > SPACES {
            return Some((Cell::counted(count, noun), rest));
        }
    }
    if is_combining(first) {
        let (count, rest) = run(is_combining);
        if count > COMBINING {
            return Some((Cell::counted(count, "combining marks"), rest));
        }
    }
    if first == '\\' {
        // Doubled where it would look like an escape, or precedes one.
        let (count, rest) = run(|c| c == '\\');
        let is_doubled = rest.starts_with("u{") || rest.starts_with(is_hidden);
        let times = if is_doubled { 2 * count } else { count };
        let cell = Cell {
            text: "\\".repeat(times),
            is_mark: false,
            characters: count,
        };
        // Long text is wrapped like any other.
        return match count {
            1..=SPACES => Some((cell, rest)),
            _ => Some((Cell::counted(count, "backslashes"), rest)),
        };
    }
    let rest = &text[first.len_utf8()..];
    if first == REMARK.0 && rest.starts_with(|c: char| c.is_ascii_digit()) {
        let cell = Cell {
            text: first.escape_unicode().to_string(),
            is_mark: true,
            characters: 1,
        };
        return Some((cell, rest));
    }
    Some((Cell::of(first), rest))
}

fn is_combining(character: char) -> bool {
    use GeneralCategory as Category;
    !character.is_ascii()
        && matches!(
            CodePointMapData::<GeneralCategory>::new().get(character),
            Category::NonspacingMark | Category::EnclosingMark
        )
}
