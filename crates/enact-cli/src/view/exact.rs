//! Shows texts that a person decides on without hiding anything: invisible characters are escaped,
//! and a long text shows its beginning, end and length.

use std::borrow::Cow;

use console::measure_text_width;

use super::cell::{Cell, cells, is_hidden, next_cell};
use super::screen::{Ink, Screen};
use super::text::grouped;

/// The maximum number of rows of a text, at its beginning and at its end.
const HEAD: usize = 24;
const TAIL: usize = 16;
/// The maximum number of cells of an unwrapped line, at its beginning and at its end.
const LINE_HEAD: usize = 1_500;
const LINE_TAIL: usize = 500;
/// The same for a name.
const NAME_HEAD: usize = 80;
const NAME_TAIL: usize = 40;
/// Longer sequences of blank lines are counted instead of shown.
const BLANK_LINES: usize = 2;

/// How much of a text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The beginning and the end of a long text.
    Ends,
    Whole,
}

/// A text as shown.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The rows, each with whether it continues the line before.
    pub(crate) rows: Vec<(String, bool)>,
    /// Whether something was left out.
    pub(crate) is_cut: bool,
    /// The length of the text, unless its rows show it.
    pub(crate) length: Option<String>,
}

/// A text in one line, with invisible characters escaped, as in `\u{200b}`.
pub(crate) fn spelled_out(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) && !text.contains("\\u{") {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((cell, after)) = next_cell(rest) {
        match rest.starts_with('\n') {
            true => shown.push_str("\\n"),
            false => shown.push_str(&cell.text),
        }
        rest = after;
    }
    Cow::Owned(shown)
}

/// A name unchanged, or in quotes if it could be mistaken for more than a name.
pub(crate) fn identifier(name: &str) -> Cow<'_, str> {
    let is_part = |c: char| (c.is_alphanumeric() || "_-.$".contains(c)) && !is_hidden(c);
    match name.chars().all(is_part) {
        true => Cow::Borrowed(name),
        false => Cow::Owned(serde_json::Value::from(name).to_string()),
    }
}

/// JSON text with invisible characters escaped. Its meaning stays the same.
pub(crate) fn escaped_json(json: &str) -> Cow<'_, str> {
    // Control characters outside of strings are intended line breaks.
    let is_escaped = |character: char| !character.is_ascii() && is_hidden(character);
    if !json.chars().any(is_escaped) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if is_escaped(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// A name in one line, and whether part of it was left out.
pub(crate) fn name(screen: &Screen, ink: Ink, name: &str, extent: Extent) -> (String, bool) {
    let name = identifier(name);
    let all = cells(&name);
    if all.is_empty() {
        return (screen.paint(Ink::Hidden, "(no name)"), false);
    }
    let (cells, is_cut) = shortened(all, NAME_HEAD, NAME_TAIL, extent);
    (painted(&cells, screen, Some(ink)), is_cut)
}

/// A caption in one line.
pub(crate) fn caption(screen: &Screen, text: &str) -> String {
    painted(&cells(text), screen, None)
}

/// The number of rows to show at the beginning and end of a text, so that its surroundings also fit
/// on the screen.
fn ends(screen: &Screen) -> (usize, usize) {
    match screen.height() {
        None => (HEAD, TAIL),
        Some(height) => {
            let rows = height.saturating_sub(11).clamp(6, HEAD + TAIL);
            (rows * 3 / 5, rows - rows * 3 / 5)
        }
    }
}

/// A text in rows, wrapped at the given width.
pub(crate) fn text(screen: &Screen, text: &str, width: Option<usize>, extent: Extent) -> Shown {
    let characters = text.chars().count();
    let lines = text.lines().count();
    let shown = bounded(screen, rows(text, width, extent), extent);
    let length = (lines > 1 || shown.is_cut).then(|| {
        let counted = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            count => format!("{} {noun}s", grouped(count as u64)),
        };
        format!(
            "{}, {}",
            counted(lines, "line"),
            counted(characters, "character")
        )
    });
    Shown { length, ..shown }
}

/// Rows as shown: the first and the last, if there are too many.
pub(super) fn bounded(screen: &Screen, mut rows: Vec<Row>, extent: Extent) -> Shown {
    let mut is_cut = rows.iter().any(|row| row.is_cut);
    let (head, tail) = ends(screen);
    if extent == Extent::Ends && rows.len() > head + tail {
        let middle = head..rows.len() - tail;
        let left_out = rows[middle.clone()].iter().map(|row| row.characters).sum();
        let note = Row {
            cells: vec![Cell::note(left_out)],
            ..Row::default()
        };
        rows.splice(middle, [note]);
        is_cut = true;
    }
    let rows = rows
        .iter()
        .map(|row| (painted(&row.cells, screen, row.ink), row.continues));
    Shown {
        rows: rows.collect(),
        is_cut,
        length: None,
    }
}

/// A line of a text, and its colour.
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) ink: Option<Ink>,
}

/// A line in rows, wrapped at the given width.
pub(super) fn broken(line: Line<'_>, width: Option<usize>, extent: Extent) -> Vec<Row> {
    let mut rows = Vec::new();
    match width {
        Some(width) => add_broken(cells(line.text), width, &mut rows),
        None => {
            let (cells, is_cut) = shortened(cells(line.text), LINE_HEAD, LINE_TAIL, extent);
            rows.push(Row {
                is_cut,
                characters: line.text.chars().count(),
                cells,
                ..Row::default()
            });
        }
    }
    for row in &mut rows {
        row.ink = line.ink;
    }
    rows
}

/// A row of the screen.
#[derive(Debug, Default)]
pub(super) struct Row {
    cells: Vec<Cell>,
    ink: Option<Ink>,
    continues: bool,
    is_cut: bool,
    characters: usize,
}

/// The cells without those in the middle, if there are too many; and whether any were left out.
fn shortened(mut cells: Vec<Cell>, head: usize, tail: usize, extent: Extent) -> (Vec<Cell>, bool) {
    let is_cut = extent == Extent::Ends && cells.len() > head + tail;
    if is_cut {
        let middle = head..cells.len() - tail;
        let left_out = cells[middle.clone()].iter().map(|cell| cell.characters);
        let note = Cell::note(left_out.sum());
        cells.splice(middle, [note]);
    }
    (cells, is_cut)
}

fn rows(text: &str, width: Option<usize>, extent: Extent) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut blank = Vec::new();
    // `lines` also treats `\r\n` as a line break.
    for line in text.lines() {
        if line.trim_matches([' ', '\t']).is_empty() {
            blank.push(line);
            continue;
        }
        add_blank(std::mem::take(&mut blank), &mut rows);
        let line = Line {
            text: line,
            ink: None,
        };
        rows.extend(broken(line, width, extent));
    }
    add_blank(blank, &mut rows);
    rows
}

fn add_blank(lines: Vec<&str>, rows: &mut Vec<Row>) {
    if lines.len() > BLANK_LINES {
        let characters = lines.iter().map(|line| line.chars().count() + 1).sum();
        rows.push(Row {
            cells: vec![Cell {
                characters,
                ..Cell::counted(lines.len(), "blank lines")
            }],
            characters,
            ..Row::default()
        });
    } else {
        rows.extend(lines.iter().map(|_| Row::default()));
    }
}

/// Wraps a line into rows, after a space if possible.
fn add_broken(cells: Vec<Cell>, width: usize, rows: &mut Vec<Row>) {
    let mut current: Vec<Cell> = Vec::new();
    let mut used = 0;
    let mut continues = false;
    let mut push = |cells: Vec<Cell>| {
        rows.push(Row {
            characters: cells.iter().map(|cell| cell.characters).sum(),
            cells,
            continues,
            ..Row::default()
        });
        continues = true;
    };
    for cell in cells {
        let wide = measure_text_width(&cell.text);
        if used + wide > width && !current.is_empty() {
            let space = current.iter().rposition(|cell| cell.text == " ");
            let next = match space {
                Some(space) => current.split_off(space + 1),
                None => Vec::new(),
            };
            used = next.iter().map(|cell| measure_text_width(&cell.text)).sum();
            push(std::mem::replace(&mut current, next));
        }
        used += wide;
        current.push(cell);
    }
    push(current);
}

/// Cells as text, with remarks in their own colour.
fn painted(cells: &[Cell], screen: &Screen, ink: Option<Ink>) -> String {
    let mut painted = String::new();
    for group in cells.chunk_by(|one, next| one.is_mark == next.is_mark) {
        let text: String = group.iter().map(|cell| cell.text.as_str()).collect();
        match (group[0].is_mark, ink) {
            (true, _) => painted.push_str(&screen.paint(Ink::Hidden, &text)),
            (false, Some(ink)) => painted.push_str(&screen.paint(ink, &text)),
            (false, None) => painted.push_str(&text),
        }
    }
    painted
}

#[cfg(test)]
mod tests {
    use super::super::screen::Stream;
    use super::*;

    fn shown(value: &str, width: Option<usize>) -> Shown {
        text(&Screen::new(Stream::Nowhere), value, width, Extent::Ends)
    }

    fn rows_of(value: &str, width: Option<usize>) -> Vec<String> {
        shown(value, width)
            .rows
            .into_iter()
            .map(|(row, _)| row)
            .collect()
    }

    #[test]
    fn truth_what_leaves_no_mark_is_spelled_out() {
        let hidden = [
            '\u{0}',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{a0}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180e}',
            '\u{2003}',
            '\u{200b}',
            '\u{200d}',
            '\u{200e}',
            '\u{2028}',
            '\u{2029}',
            '\u{202e}',
            '\u{2060}',
            '\u{2066}',
            '\u{2800}',
            '\u{3000}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{e000}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{10ffff}',
            '\t',
            '\u{2d7f}',
            '\u{fffc}',
            '\u{1107f}',
            '\u{16fe4}',
            '\u{1d159}',
        ];
        for character in hidden {
            let code = format!("\\u{{{:x}}}", u32::from(character));
            assert_eq!(
                rows_of(&format!("a{character}b"), None),
                [format!("a{code}b")]
            );
        }
        for plain in ["naïve", "日本語", "שלום", "नमस्ते", "e\u{301}", "🦀", "…—“"]
        {
            assert_eq!(rows_of(plain, None), [plain]);
            assert_eq!(spelled_out(plain), plain);
        }
        assert_eq!(spelled_out("a\nb\u{200b}"), "a\\nb\\u{200b}");
        let json = "{\"a\u{200b}\": \"\u{e0041}é\"}";
        let escaped = escaped_json(json);
        assert_eq!(escaped, r#"{"a\u200b": "\udb40\udc41é"}"#);
        let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(value(&escaped), value(json));
    }

    #[test]
    fn truth_the_end_of_a_text_is_always_shown_with_its_length() {
        // Blank lines and spaces that push the end away are counted.
        let pushed = format!("ls{}rm -rf /", "\n".repeat(201));
        let seen = shown(&pushed, Some(60));
        assert_eq!(seen.length.unwrap(), "202 lines, 211 characters");
        assert_eq!(
            seen.rows
                .iter()
                .map(|(row, _)| row.as_str())
                .collect::<Vec<_>>(),
            ["ls", "«200 blank lines»", "rm -rf /"]
        );
        let pushed = format!("ls{};rm -rf /", " ".repeat(5_000));
        assert_eq!(rows_of(&pushed, Some(60)), ["ls«5,000 spaces»;rm -rf /"]);

        let lines: Vec<String> = (0..500).map(|number| format!("line {number}")).collect();
        let seen = shown(&lines.join("\n"), Some(60));
        assert!(seen.is_cut);
        assert_eq!(seen.rows.len(), HEAD + 1 + TAIL);
        assert_eq!(seen.rows.last().unwrap().0, "line 499");
        assert!(
            seen.rows[HEAD].0.contains("characters left out"),
            "{seen:?}"
        );

        let long = format!("{}end", "x".repeat(100_000));
        for width in [None, Some(60)] {
            let seen = shown(&long, width);
            assert!(seen.is_cut && seen.rows.last().unwrap().0.ends_with("end"));
            assert!(seen.length.unwrap().contains("100,003 characters"));
            let whole = text(&Screen::new(Stream::Nowhere), &long, width, Extent::Whole);
            let whole: String = whole.rows.into_iter().map(|(row, _)| row).collect();
            assert_eq!(whole, long);
        }
    }

    #[test]
    fn truth_what_is_typed_is_told_from_what_stands_for_something() {
        for (text, seen) in [
            ("\\u{200b}", "\\\\u{200b}"),
            ("\\\\u{200b}", "\\\\\\\\u{200b}"),
            ("\\\u{200b}", "\\\\\\u{200b}"),
            ("C:\\users\\t\\n", "C:\\users\\t\\n"),
            ("(50 spaces)", "(50 spaces)"),
            ("«50 spaces»", "\\u{ab}50 spaces»"),
            ("« 50 »", "« 50 »"),
            (
                "«1,000 characters left out»",
                "\\u{ab}1,000 characters left out»",
            ),
        ] {
            assert_eq!(rows_of(text, None), [seen]);
        }
        assert_eq!(spelled_out("\\u{200b}"), "\\\\u{200b}");
        assert_eq!(identifier("path-1.x"), "path-1.x");
        assert_eq!(identifier("größe"), "größe");
        assert_eq!(identifier("a: b\n\"c"), "\"a: b\\n\\\"c\"");
    }

    #[test]
    fn truth_white_space_and_combining_marks_are_counted() {
        for (run, seen) in [
            ("\t".repeat(420), "«420 tabs»"),
            (" \t".repeat(100), "«200 blanks»"),
            ("\u{a0}".repeat(60), "«60 blanks»"),
            ("\u{301}".repeat(500), "«500 combining marks»"),
        ] {
            let text = format!("rm -rf /;{run}echo hi");
            assert_eq!(
                rows_of(&text, Some(60)),
                [format!("rm -rf /;{seen}echo hi")]
            );
        }
        assert_eq!(rows_of("a\tb", None), ["a\\u{9}b"]);
    }

    #[test]
    fn truth_a_long_name_is_known_to_be_cut() {
        let screen = Screen::new(Stream::Nowhere);
        let long = "K".repeat(300);
        let (shown, is_cut) = name(&screen, Ink::Plain, &long, Extent::Ends);
        assert!(
            is_cut && shown.contains("«180 characters left out»"),
            "{shown}"
        );
        let whole = name(&screen, Ink::Plain, &long, Extent::Whole);
        assert_eq!(whole, (long, false));
    }

    #[test]
    fn a_row_that_continues_a_line_is_told_from_a_new_one() {
        let seen = shown("one two three\nfour", Some(9));
        let expected = [("one two ", false), ("three", true), ("four", false)];
        assert_eq!(seen.rows, expected.map(|(row, is)| (row.to_owned(), is)));
        assert_eq!(rows_of("abcdefghijkl", Some(8)), ["abcdefgh", "ijkl"]);
        assert_eq!(rows_of("a\r\nb\n", None), ["a", "b"]);
        assert!(rows_of("", None).is_empty());
    }
}
