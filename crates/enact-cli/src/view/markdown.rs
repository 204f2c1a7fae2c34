//! Renders Markdown on a terminal: headings, lists, code and tables in a few styles.

use std::ops::Range;

use console::measure_text_width;
use pulldown_cmark::{Event as Markup, Options, Parser, Tag, TagEnd};

use super::screen::{Ink, Screen};
use super::text::harmless;

/// Renders the text in lines of at most this width. Line breaks are kept; code is not wrapped.
pub(super) fn lines(screen: &Screen, text: &str, width: usize) -> Vec<String> {
    let text = harmless(text.trim_end());
    let mut page = Page {
        screen,
        source: &text,
        width,
        lines: Vec::new(),
        spans: Vec::new(),
        inks: Vec::new(),
        prefixes: Vec::new(),
        lists: Vec::new(),
        links: Vec::new(),
        code: None,
        table: Vec::new(),
        has_gap: false,
    };
    for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
        page.event(event, range);
    }
    page.flush();
    page.lines
}

/// A text during layout.
struct Page<'a> {
    screen: &'a Screen,
    source: &'a str,
    width: usize,
    lines: Vec<String>,
    /// The contents of the current paragraph, item or cell so far.
    spans: Vec<(String, Ink)>,
    /// The open styles.
    inks: Vec<Ink>,
    /// The prefixes of each open list item and quote: for the first line, and for the
    /// others.
    prefixes: Vec<(String, String)>,
    /// The next number of each open list; none for bullets.
    lists: Vec<Option<u64>>,
    /// The addresses of open links.
    links: Vec<String>,
    /// The open code block.
    code: Option<String>,
    /// The rows of the open table.
    table: Vec<Vec<String>>,
    /// Whether a blank line precedes the next block.
    has_gap: bool,
}

impl Page<'_> {
    fn event(&mut self, event: Markup<'_>, range: Range<usize>) {
        match event {
            Markup::Start(tag) => self.start(tag, range),
            Markup::End(tag) => self.end(tag, range),
            Markup::Text(text) | Markup::Html(text) | Markup::InlineHtml(text) => self.push(&text),
            Markup::Code(code) => self.spans.push((code.to_string(), Ink::Tool)),
            Markup::SoftBreak | Markup::HardBreak => self.push("\n"),
            Markup::Rule => {
                self.flush();
                self.gap();
                let rule = "─".repeat(self.width.min(40));
                self.row(&self.screen.paint(Ink::Quiet, &rule));
                self.has_gap = true;
            }
            _ => self.push(&self.source[range]),
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.gap(),
            Tag::Heading { .. } => {
                self.gap();
                self.inks.push(Ink::Strong);
            }
            Tag::BlockQuote(_) => {
                self.gap();
                let bar = self.screen.paint(Ink::Quiet, "│ ");
                self.prefixes.push((bar.clone(), bar));
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.gap();
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "- ".to_owned(),
                };
                let blank = " ".repeat(mark.len());
                self.prefixes.push((mark, blank));
                self.has_gap = false;
            }
            Tag::Table(_) => self.gap(),
            Tag::TableHead | Tag::TableRow => self.table.push(Vec::new()),
            Tag::Emphasis => self.style(Ink::Emphasis, &range, 1),
            Tag::Strong => self.style(Ink::Strong, &range, 2),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push(dest_url.to_string());
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                // The line of an HTML block includes its line break.
                if let Some((last, _)) = self.spans.last_mut() {
                    last.truncate(last.trim_end_matches('\n').len());
                }
                self.flush();
                self.has_gap = true;
            }
            TagEnd::Heading(_) => {
                self.inks.pop();
                for (_, ink) in &mut self.spans {
                    *ink = Ink::Strong;
                }
                self.flush();
                self.has_gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.prefixes.pop();
                self.has_gap = true;
            }
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                for line in code.lines() {
                    let line = self.screen.paint(Ink::Tool, line);
                    self.row(&format!("  {line}"));
                }
                self.has_gap = true;
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.has_gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                // An item without text still has its marker.
                if self
                    .prefixes
                    .last()
                    .is_some_and(|(first, rest)| first != rest)
                {
                    self.row("");
                }
                self.prefixes.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                let cell = cell.iter().map(|(text, ink)| self.screen.paint(*ink, text));
                let cell = cell.collect();
                if let Some(row) = self.table.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.end_table(),
            TagEnd::Emphasis => self.unstyle(&range, 1),
            TagEnd::Strong => self.unstyle(&range, 2),
            TagEnd::Link | TagEnd::Image => {
                let address = self.links.pop().unwrap_or_default();
                let is_told = self.spans.last().is_some_and(|(text, _)| *text == address);
                if !address.is_empty() && !is_told {
                    self.spans.push((format!(" ({address})"), Ink::Quiet));
                }
            }
            _ => {}
        }
    }

    /// Marks inside a word, as in `2*3*4`, are probably literal.
    fn is_in_word(&self, range: &Range<usize>) -> bool {
        let before = self.source[..range.start].chars().next_back();
        let after = self.source[range.end..].chars().next();
        [before, after]
            .into_iter()
            .flatten()
            .any(char::is_alphanumeric)
    }

    fn style(&mut self, ink: Ink, range: &Range<usize>, marks: usize) {
        if self.is_in_word(range) {
            let marks = self.source[range.start..range.start + marks].to_owned();
            self.push(&marks);
            self.inks.push(self.ink());
        } else {
            self.inks.push(ink);
        }
    }

    fn unstyle(&mut self, range: &Range<usize>, marks: usize) {
        if self.is_in_word(range) {
            let marks = self.source[range.end - marks..range.end].to_owned();
            self.push(&marks);
        }
        self.inks.pop();
    }

    fn ink(&self) -> Ink {
        self.inks.last().copied().unwrap_or(Ink::Plain)
    }

    fn push(&mut self, text: &str) {
        match &mut self.code {
            Some(code) => code.push_str(text),
            None => self.spans.push((text.to_owned(), self.ink())),
        }
    }

    /// Adds a blank line before the next block, if needed.
    fn gap(&mut self) {
        if std::mem::take(&mut self.has_gap) {
            self.row("");
        }
    }

    /// Adds a line after its prefixes.
    fn row(&mut self, row: &str) {
        let mut line = String::new();
        for (first, rest) in &mut self.prefixes {
            line.push_str(first);
            first.clone_from(rest);
        }
        line.push_str(row);
        self.lines.push(line.trim_end().to_owned());
    }

    /// Lays out the collected text, wrapped between words.
    fn flush(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        if spans.is_empty() {
            return;
        }
        let indent = self.prefixes.iter();
        let indent: usize = indent.map(|(first, _)| measure_text_width(first)).sum();
        let room = self.width.saturating_sub(indent).max(20);
        let mut rows = vec![(String::new(), 0)];
        // A word may consist of several spans.
        let mut word: (String, usize) = (String::new(), 0);
        let end_word = |word: &mut (String, usize), rows: &mut Vec<(String, usize)>| {
            let (text, wide) = std::mem::take(word);
            if let Some((_, used)) = rows.last()
                && used + wide > room
                && *used > 0
            {
                rows.push((String::new(), 0));
            }
            if let Some((row, used)) = rows.last_mut() {
                row.push_str(&text);
                *used += wide;
            }
        };
        for (text, ink) in &spans {
            for (index, line) in text.split('\n').enumerate() {
                if index > 0 {
                    end_word(&mut word, &mut rows);
                    rows.push((String::new(), 0));
                }
                for piece in line.split_inclusive(' ') {
                    word.0.push_str(&self.screen.paint(*ink, piece));
                    word.1 += measure_text_width(piece);
                    if piece.ends_with(' ') {
                        end_word(&mut word, &mut rows);
                    }
                }
            }
        }
        end_word(&mut word, &mut rows);
        for (row, _) in rows {
            self.row(&row);
        }
    }

    fn end_table(&mut self) {
        let rows = std::mem::take(&mut self.table);
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let wide = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let widths = cells.map(|cell| measure_text_width(cell));
            widths.max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(wide).collect();
        for (index, row) in rows.iter().enumerate() {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                let gap = " ".repeat(width - measure_text_width(cell) + 2);
                line.push_str(cell);
                line.push_str(&gap);
            }
            self.row(&line);
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                self.row(&self.screen.paint(Ink::Quiet, &rules.join("  ")));
            }
        }
        self.has_gap = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::Stream;
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        lines(&Screen::new(Stream::Nowhere), text, 24)
    }

    #[test]
    fn blocks_are_laid_out() {
        let text = "# Title\n\nOne **two** three four five six seven.\n\n- a\n- b with `code`\n  \
                    1. inner\n\n> said\n\n```rust\nlet x  = 1;\n```\n\nend";
        assert_eq!(
            shown(text),
            [
                "Title",
                "",
                "One two three four five",
                "six seven.",
                "",
                "- a",
                "- b with code",
                "  1. inner",
                "",
                "│ said",
                "",
                "  let x  = 1;",
                "",
                "end",
            ]
        );
    }

    #[test]
    fn tables_have_columns() {
        assert_eq!(
            shown("| a | long |\n|---|---|\n| 123 | b |"),
            ["a    long", "───  ────", "123  b"]
        );
    }

    #[test]
    fn text_that_is_no_markdown_stays_as_it_is() {
        for plain in [
            "one\ntwo",
            "2*3*4 = 24",
            "a_b_c and __init__x",
            "3 * 4",
            "<b>bold</b>",
            "~~gone~~",
        ] {
            assert_eq!(shown(plain).join("\n"), plain);
        }
    }

    #[test]
    fn links_name_their_address_and_nothing_is_obeyed() {
        assert_eq!(
            shown("[x](http://h) \u{1b}[31mred"),
            ["x (http://h) ␛[31mred"]
        );
        assert_eq!(shown("<http://h>"), ["http://h"]);
    }
}
