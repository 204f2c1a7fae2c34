//! Fields between tags: `<name>…</name>`.

use std::borrow::Cow;

use serde_json::Value;

use super::describe::{names, quoted};
use super::live::{Fields, Live, TagReader};
use super::outputs::normal;
use super::sections::{ARGS, Section, Sections, THOUGHT, TOOL};
use super::style::{self, Style, Words};
use super::task::Task;
use super::{Misread, Read, StepReply, thinking};
use crate::model::Reply;
use crate::run::ToolResult;
use crate::signature::Values;

/// A pair of tags around each field.
///
/// Data can't forge a tag: `&`, `<` and `>` are written as entities, and both entities and bare
/// characters are accepted. Several calls in one step are several pairs of `<next_tool_name>` and
/// `<next_tool_args>`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Xml;

const WORDS: Words = Words {
    place: "between tags with its name",
    results: "in <observation> tags",
    submitted: "an object of the outputs",
    finished: "{}",
    field: |name, text| format!("<{name}>{text}</{name}>"),
    between: "\n",
};

impl Style for Xml {
    const NAME: &'static str = "xml";

    fn system(&self, task: &Task) -> String {
        style::system(self, task, &WORDS)
    }

    /// Without angle brackets, which would be escaped in a notice.
    fn form(&self, task: &Task) -> String {
        format!(
            "Reply with these fields in order, each between tags with its name: {}.",
            quoted(names(task.signature.outputs()))
        )
    }

    fn fields(&self, _: &Task, fields: impl IntoIterator<Item = (String, Value)>) -> String {
        style::fields(&WORDS, fields, escape)
    }

    fn results(&self, _: &Task, results: &[ToolResult]) -> String {
        let results = results.iter().map(|result| {
            let failed = match result.observation.is_error {
                true => " error=\"true\"",
                false => "",
            };
            format!(
                "<observation tool=\"{}\"{failed}>{}</observation>",
                escape(&result.name).replace('"', "&quot;"),
                escape(&result.observation.text()),
            )
        });
        results.collect::<Vec<_>>().join("\n")
    }

    fn live(&self, task: &Task) -> Box<dyn Live> {
        let names: Vec<&str> = match task.tooling {
            Some(_) => STEP.to_vec(),
            None => names(task.signature.outputs()).collect(),
        };
        let names = names.into_iter().map(str::to_owned);
        TagReader::live(Fields::of(task), names.collect())
    }

    fn read_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
        let names: Vec<&str> = names(task.signature.outputs()).collect();
        let has_tag = |text: &str| tags(text, &names).next().is_some();
        style::outputs(&scan(&reply.text, &names), task, reply, has_tag)
    }

    fn read_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
        let has_tag = |text: &str| tags(text, &STEP).next().is_some();
        style::step(&scan(&reply.text, &STEP), task, reply, has_tag)
    }
}

const STEP: [&str; 3] = [THOUGHT, TOOL, ARGS];

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Decodes entities; anything else is kept, because models don't always escape.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    const ENTITIES: [(&str, char); 6] = [
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&amp;", '&'),
        ("&quot;", '"'),
        ("&apos;", '\''),
        ("&#39;", '\''),
    ];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity)) {
            Some((entity, character)) => {
                out.push(*character);
                rest = &rest[entity.len()..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A tag with a known name.
#[derive(Debug, Clone, Copy)]
struct Tag {
    start: usize,
    end: usize,
    name: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Opening,
    Closing,
    /// `<name/>`.
    Empty,
}

/// The tags with these names, in order.
fn tags<'a>(text: &'a str, names: &'a [&'a str]) -> impl Iterator<Item = Tag> + 'a {
    const LONGEST: usize = 200;
    text.match_indices('<').filter_map(move |(start, _)| {
        let mut limit = text.len().min(start + LONGEST);
        while !text.is_char_boundary(limit) {
            limit -= 1;
        }
        let inside = &text[start + 1..limit];
        let inside = &inside[..inside
            .find(['>', '<'])
            .filter(|at| inside.as_bytes()[*at] == b'>')?];
        let end = start + inside.len() + 2;
        let (kind, label) = match (inside.strip_prefix('/'), inside.strip_suffix('/')) {
            (Some(label), _) => (Kind::Closing, label),
            (None, Some(label)) => (Kind::Empty, label),
            (None, None) => (Kind::Opening, inside),
        };
        let label = label.split_whitespace().next()?;
        let exact = names.iter().position(|name| *name == label);
        let name = exact.or_else(|| names.iter().position(|name| normal(name) == normal(label)))?;
        Some(Tag {
            start,
            end,
            name,
            kind,
        })
    })
}

/// Splits a reply at the tags with these names.
///
/// A field ends at the last closing tag before the next field opens, so that an unescaped closing tag
/// in its text doesn't end it early; an unclosed field ends where the next one
/// opens.
pub(super) fn scan(reply: &str, names: &[&str]) -> Sections {
    let text = thinking::spoken(reply).text;
    let tags: Vec<Tag> = tags(text, names).collect();
    let closing = next_closing(&tags, names.len());
    let mut sections = Sections {
        ended: true,
        ..Sections::default()
    };
    sections.leading = text[..tags.first().map_or(text.len(), |tag| tag.start)].to_owned();
    let mut at = 0;
    while let Some(tag) = tags.get(at) {
        at += 1;
        let content = match tag.kind {
            Kind::Closing => continue,
            Kind::Empty => "",
            Kind::Opening => {
                let first_closing = closing[at - 1];
                let mut next = first_closing.map_or(at, |first| first + 1);
                let mut end = first_closing.map(|first| tags[first].start);
                while let Some(further) = tags.get(next).filter(|tag| tag.kind == Kind::Closing) {
                    if further.name == tag.name {
                        end = Some(further.start);
                    }
                    next += 1;
                }
                sections.ended = end.is_some();
                let end = end.unwrap_or_else(|| {
                    tags.get(at).map_or(text.len(), |following| following.start)
                });
                at = if first_closing.is_some() { next } else { at };
                &text[tag.end..end]
            }
        };
        let name = names.get(tag.name).copied().unwrap_or_default().to_owned();
        sections.list.push(Section {
            name,
            text: field_content(content),
        });
    }
    sections
}

/// For each tag the index of its closing tag, if that comes before the name opens again.
fn next_closing(tags: &[Tag], names: usize) -> Vec<Option<usize>> {
    let mut next: Vec<Option<usize>> = vec![None; names];
    let mut closing = vec![None; tags.len()];
    for (index, tag) in tags.iter().enumerate().rev() {
        if let Some(next) = next.get_mut(tag.name) {
            closing[index] = next.filter(|next| tags[*next].kind == Kind::Closing);
            *next = Some(index);
        }
    }
    closing
}

fn field_content(content: &str) -> String {
    let content = content.trim();
    let literal = content
        .strip_prefix("<![CDATA[")
        .and_then(|rest| rest.strip_suffix("]]>"));
    match literal {
        Some(literal) => literal.to_owned(),
        None => unescape(content).into_owned(),
    }
}
