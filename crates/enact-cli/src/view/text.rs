//! Sanitises text from models and tools for display.

use std::borrow::Cow;

use console::measure_text_width;

use super::cell::is_hidden;

/// The text without anything that a terminal would interpret: control characters become symbols,
/// direction marks are replaced, and other invisible characters are
/// escaped.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    for character in text.replace("\r\n", "\n").chars() {
        let last = std::mem::replace(&mut before, character);
        match character {
            '\n' => shown.push('\n'),
            '\t' => shown.push_str("    "),
            '\u{0}'..='\u{1f}' => {
                let picture = char::from_u32(0x2400 + u32::from(character));
                shown.push(picture.unwrap_or('\u{fffd}'));
            }
            '\u{7f}' => shown.push('\u{2421}'),
            '\u{80}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => shown.push('\u{fffd}'),
            // These combine characters into one, as in emoji and in Persian.
            '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' if !last.is_ascii() => {
                shown.push(character);
            }
            other if is_hidden(other) && !other.is_whitespace() => {
                shown.extend(other.escape_unicode());
            }
            '\u{2028}' | '\u{2029}' => shown.extend(character.escape_unicode()),
            other => shown.push(other),
        }
    }
    shown
}

/// All of a text in one sanitised line.
pub(crate) fn one_line(text: &str) -> String {
    let text = harmless(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// A count with its noun, such as `1 step` or `20 steps`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// The text, truncated to a number of characters with an ellipsis.
pub(crate) fn clipped(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The text, truncated in the middle to a number of characters.
pub(crate) fn ends(text: &str, characters: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= characters {
        return Cow::Borrowed(text);
    }
    let tail = characters / 3;
    let head: String = text.chars().take(characters - tail).collect();
    let tail: String = text.chars().skip(count - tail).collect();
    Cow::Owned(format!("{head}…{tail}"))
}

/// The lines of a text, wrapped between words at the given width.
pub(crate) fn lines(text: &str, width: Option<usize>) -> Vec<String> {
    let text = harmless(text.trim_end());
    match width {
        None => text.lines().map(str::to_owned).collect(),
        Some(width) => text
            .lines()
            .flat_map(|line| wrapped(line, width.max(8)))
            .collect(),
    }
}

/// The first lines of a text, and a note if there are more.
pub(crate) fn first_lines(text: &str, width: Option<usize>, limit: usize) -> Vec<String> {
    // Enough to fill the lines, without processing megabytes.
    let head = clipped(text, limit * width.unwrap_or(300));
    let mut all = lines(&head, width);
    if width.is_none() {
        for line in &mut all {
            *line = clipped(line, 300).into_owned();
        }
    }
    let total = text.lines().count().max(all.len());
    if all.len() > limit {
        all.truncate(limit);
    }
    let more = total.saturating_sub(all.len());
    if more > 0 {
        all.push(format!("… {}", counted(more, "more line")));
    }
    all
}

fn wrapped(line: &str, width: usize) -> Vec<String> {
    if measure_text_width(line) <= width {
        return vec![line.to_owned()];
    }
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in line.split_inclusive(' ') {
        if measure_text_width(&current) + measure_text_width(word.trim_end()) > width
            && !current.trim().is_empty()
        {
            lines.push(std::mem::take(&mut current).trim_end().to_owned());
        }
        for character in word.chars() {
            // A word that is wider than the terminal.
            if measure_text_width(&current) >= width && character != ' ' {
                lines.push(std::mem::take(&mut current));
            }
            current.push(character);
        }
    }
    if !current.trim().is_empty() {
        lines.push(current.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let shown = harmless("a\u{1b}[31mred\u{7}\u{9b}2J\rb\u{202e}c\u{7f}\r\n\tend");
        assert_eq!(shown, "a␛[31mred␇\u{fffd}2J␍b\u{fffd}c␡\n    end");
        assert_eq!(one_line(" a\n\n b\u{1b} "), "a b␛");
    }

    #[test]
    fn truth_what_cannot_be_seen_is_spelled_out() {
        assert_eq!(
            harmless("a\u{200b}b\u{e0041}c\u{2028}d\u{feff}"),
            "a\\u{200b}b\\u{e0041}c\\u{2028}d\\u{feff}"
        );
        for plain in [
            "❤\u{fe0f}",
            "👨\u{200d}👩",
            "می\u{200c}خواهم",
            "5\u{a0}€",
            "日本\u{3000}語",
        ] {
            assert_eq!(harmless(plain), plain);
        }
        assert_eq!(harmless("a\u{200d}b"), "a\\u{200d}b");
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "step"), "1 step");
        assert_eq!(counted(20, "step"), "20 steps");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(
            lines("one two three four", Some(9)),
            ["one two", "three", "four"]
        );
        assert_eq!(lines("abcdefghijkl", Some(8)), ["abcdefgh", "ijkl"]);
        assert_eq!(lines("one two\nthree", None), ["one two", "three"]);
        assert_eq!(lines("", Some(20)), Vec::<String>::new());
    }

    #[test]
    fn long_texts_are_bounded() {
        assert_eq!(
            first_lines("a\nb\nc\nd", Some(20), 2),
            ["a", "b", "… 2 more lines"]
        );
        assert_eq!(first_lines("a\nb\nc", None, 2), ["a", "b", "… 1 more line"]);
        assert_eq!(first_lines("a\nb", None, 2), ["a", "b"]);
        let long = first_lines(&"x".repeat(100_000), Some(10), 3);
        assert_eq!(long.len(), 4);
        assert!(first_lines(&"y".repeat(1_000), None, 3)[0].chars().count() <= 301);
    }
}
