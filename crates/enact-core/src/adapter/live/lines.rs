//! Fields announced by lines: markers and labels.

use super::{Fields, Live, Reads, Speech, Tell};
use crate::adapter::{lines, thinking};

/// How much of a line is buffered before it counts as data.
const LONGEST: usize = 256;

/// The meaning of the start of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::adapter) enum LineStart {
    /// Undecided: more of the line is needed.
    Unknown,
    /// Data, with an escaping backslash removed.
    Data(String),
    /// It announces the field with this name; the rest follows on the same line. An unknown name ends
    /// the current field.
    Field(String, String),
    /// Nothing more can be shown of this reply.
    End,
}

/// The start of a line so far.
#[derive(Debug, Clone, Copy)]
pub(in crate::adapter) struct Line<'a> {
    /// What there is of it.
    pub(in crate::adapter) text: &'a str,
    /// Whether the line is complete.
    pub(in crate::adapter) is_whole: bool,
    /// Whether it follows the announcement of the field: then it is data in any case.
    pub(in crate::adapter) is_announced: bool,
}

impl Line<'_> {
    /// Its meaning, among lines that announce fields: `is_structure` says which lines of data were
    /// escaped, `may_be` which ones may become such a line, and `announced` what a line announces.
    pub(in crate::adapter) fn classify(
        self,
        is_structure: impl Fn(&str) -> bool,
        may_be: impl Fn(&str) -> bool,
        announced: impl Fn(&str) -> Option<LineStart>,
    ) -> LineStart {
        let (indent, slashes, rest) = lines::split(self.text);
        let mut is_open = !self.is_whole && may_be(rest);
        match slashes.strip_prefix('\\') {
            Some(fewer) if is_structure(rest) => {
                return LineStart::Data(format!("{indent}{fewer}{rest}"));
            }
            Some(_) => {}
            None if self.is_announced => is_open = !self.is_whole && rest.is_empty(),
            None => {
                if let Some(found) = announced(self.text) {
                    return found;
                }
                // Text before a closing tag was thinking.
                if thinking::is_tag(rest) {
                    return LineStart::End;
                }
            }
        }
        match is_open {
            true => LineStart::Unknown,
            false => LineStart::Data(self.text.to_owned()),
        }
    }
}

/// Determines the meaning of the start of a line.
type Classify = Box<dyn Fn(Line<'_>) -> LineStart + Send>;

/// Reads fields announced by lines.
pub(in crate::adapter) struct LineReader {
    fields: Fields,
    classify: Classify,
    /// The start of the line, until its meaning is known.
    start: Option<String>,
    /// Whether it follows the announcement of the field.
    is_announced: bool,
    has_ended: bool,
}

impl LineReader {
    pub(in crate::adapter) fn live(
        fields: Fields,
        classify: impl Fn(Line<'_>) -> LineStart + Send + 'static,
    ) -> Box<dyn Live> {
        Speech::live(Self {
            fields,
            classify: Box::new(classify),
            start: Some(String::new()),
            is_announced: false,
            has_ended: false,
        })
    }

    fn classify(&self, text: &str, is_whole: bool) -> LineStart {
        (self.classify)(Line {
            text,
            is_whole,
            is_announced: self.is_announced,
        })
    }
}

impl Reads for LineReader {
    fn take(&mut self, text: &str, tell: &mut Tell<'_>) {
        for part in text.split_inclusive(['\n', '\r']) {
            if self.has_ended {
                return;
            }
            let is_whole = part.ends_with(['\n', '\r']);
            match self.start.take() {
                None => self.fields.push(part, tell),
                Some(mut start) => {
                    start.push_str(part);
                    let mut found = self.classify(&start, is_whole);
                    if let LineStart::Field(name, rest) = found {
                        self.fields.open(&name);
                        self.is_announced = true;
                        found = self.classify(&rest, is_whole);
                        start = rest;
                    }
                    match found {
                        // No name is this long.
                        LineStart::Unknown if start.len() > LONGEST => {
                            self.fields.push(&start, tell);
                        }
                        LineStart::Unknown => {
                            self.start = Some(start);
                            continue;
                        }
                        LineStart::Data(data) => self.fields.push(&data, tell),
                        // A field is announced once.
                        LineStart::Field(..) => {}
                        LineStart::End => {
                            self.has_ended = true;
                            self.fields.close();
                        }
                    }
                }
            }
            self.is_announced = false;
            if is_whole {
                self.start = Some(String::new());
            }
        }
    }
}
