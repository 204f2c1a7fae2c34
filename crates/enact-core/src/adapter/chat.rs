//! Fields under marker lines: `[[ ## name ## ]]`.

use serde_json::Value;

use super::describe::{names, quoted};
use super::live::{Fields, Line, LineReader, LineStart, Live};
use super::outputs::normal;
use super::sections::{Section, Sections};
use super::style::{self, Style, Words};
use super::task::Task;
use super::{Misread, Read, StepReply, lines, thinking};
use crate::model::Reply;
use crate::run::ToolResult;
use crate::signature::Values;

const COMPLETED: &str = "completed";

/// Plain text with a marker line before each field, for any model that follows instructions.
///
/// Data can't forge a marker: a line of data that starts like one is escaped with a backslash, which
/// is removed when a field is read. Several calls in one step are several pairs of
/// `next_tool_name` and `next_tool_args`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Chat;

const WORDS: Words = Words {
    place: "under a marker line with its name",
    results: "as an observation",
    submitted: "the outputs",
    finished: "`{}`",
    field: |name, text| format!("{}\n{text}", marker(name)),
    between: "\n\n",
};

impl Style for Chat {
    const NAME: &'static str = "chat";
    const SUMMARY: &'static str = "summary of what came before";

    fn system(&self, task: &Task) -> String {
        style::system(self, task, &WORDS)
    }

    /// On one line, so that no line is a marker.
    fn form(&self, task: &Task) -> String {
        let names = names(task.signature.outputs());
        let markers = names.chain([COMPLETED]).map(marker);
        format!(
            "Reply with these marker lines in order, each value under its own: {}.",
            quoted(markers)
        )
    }

    fn fields(&self, _: &Task, fields: impl IntoIterator<Item = (String, Value)>) -> String {
        style::fields(&WORDS, fields, escaped)
    }

    fn inputs(&self, task: &Task, values: Values) -> String {
        format!("{}\n\n{}", self.fields(task, values), self.form(task))
    }

    fn said(&self, _: &Task, text: &str) -> String {
        escaped(text)
    }

    fn results(&self, task: &Task, results: &[ToolResult]) -> String {
        let fields = style::numbered(results, |number, is_error| match is_error {
            true => format!("error{number}"),
            false => format!("observation{number}"),
        });
        self.fields(task, fields)
    }

    fn ended(&self, reply: String) -> String {
        format!("{reply}\n\n{}", marker(COMPLETED))
    }

    fn live(&self, task: &Task) -> Box<dyn Live> {
        LineReader::live(Fields::of(task), classify)
    }

    fn read_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
        style::outputs(&scan(&reply.text), task, reply, has_marker)
    }

    fn read_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
        style::step(&scan(&reply.text), task, reply, has_marker)
    }
}

fn marker(name: &str) -> String {
    format!("[[ ## {name} ## ]]")
}

fn has_marker(text: &str) -> bool {
    text.contains("[[ ##")
}

/// Whether a line starts like a marker, or like a thinking tag, which is read before markers.
fn is_structure(line: &str) -> bool {
    let opens = |line: &str| {
        line.strip_prefix("[[")?
            .trim_start()
            .strip_prefix("##")
            .map(|_| ())
    };
    opens(line).is_some() || thinking::is_tag(line)
}

fn escaped(text: &str) -> String {
    lines::escape(text, is_structure)
}

/// The name in the marker at the start of a line, and the rest.
fn read_marker(line: &str) -> Option<(&str, &str)> {
    let inside = line
        .trim_start()
        .strip_prefix("[[")?
        .trim_start()
        .strip_prefix("##")?;
    let (name, after) = inside.split_once("]]")?;
    let name = name.trim().trim_end_matches('#').trim();
    (!name.is_empty()).then_some((name, after))
}

/// The meaning of the start of a line, while it is written.
fn classify(line: Line<'_>) -> LineStart {
    line.classify(is_structure, may_be_structure, |line| {
        let (name, after) = read_marker(line)?;
        Some(match normal(name) == COMPLETED {
            true => LineStart::End,
            false => LineStart::Field(name.to_owned(), after.to_owned()),
        })
    })
}

/// Whether a line with this start could become structure.
fn may_be_structure(start: &str) -> bool {
    let is_open = match start.strip_prefix("[[") {
        Some(inside) => "##".starts_with(inside.trim_start()),
        None => "[[".starts_with(start),
    };
    is_open || is_structure(start) || thinking::may_be_tag(start)
}

/// Splits a reply at its markers. Anything after the completing one is ignored.
pub(super) fn scan(reply: &str) -> Sections {
    let text = thinking::spoken(reply).text;
    let mut sections = Sections::default();
    let mut open: Option<(String, String)> = None;
    for line in lines::each(text) {
        let Some((name, after)) = read_marker(line) else {
            match &mut open {
                Some((_, text)) => text.push_str(line),
                None => sections.leading.push_str(line),
            }
            continue;
        };
        sections.list.extend(open.take().map(section));
        if normal(name) == COMPLETED {
            sections.ended = true;
            return sections;
        }
        open = Some((name.to_owned(), after.to_owned()));
    }
    sections.list.extend(open.map(section));
    sections
}

fn section((name, text): (String, String)) -> Section {
    Section {
        name,
        text: lines::unescape(text.trim(), is_structure),
    }
}
