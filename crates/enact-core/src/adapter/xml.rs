//! Fields between tags: `<name>…</name>`.

use std::borrow::Cow;

use super::live::{self, Live, TagReader};
use super::outputs::{normal, plain, written};
use super::sections::{ARGS, Section, Sections, THOUGHT, TOOL, args_text};
use super::task::{Completion, Task};
use super::{Adapter, Misread, Read, StepReply, chat, describe, json, pictures, thinking, worked};
use crate::model::{Message, Reply};
use crate::run::Entry;
use crate::signature::Values;

/// A pair of tags around each field.
///
/// Data cannot forge a tag: `&`, `<` and `>` are written as entities, and read from both entities
/// and bare characters. Several calls in one step are several pairs of `<next_tool_name>` and
/// `<next_tool_args>`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Xml;

impl Adapter for Xml {
    fn name(&self) -> &str {
        "xml"
    }

    fn system(&self, task: &Task) -> String {
        let mut text = format!("{}\n", task.signature.instructions().trim_end());
        if let Some(tooling) = &task.tooling {
            text.push_str(
                "\nWork in steps. In each step, think, then call one tool; its result comes back \
                 in <observation> tags.\n\nTools:\n",
            );
            text.push_str(&describe::tools(tooling));
            text.push('\n');
            text.push_str(&describe::ending(tooling, |name| {
                match tooling.completion {
                    Completion::Submit => {
                        format!("call `{name}` with an object of the outputs as its arguments")
                    }
                    Completion::Finish => format!("call `{name}` with {{}} as its arguments"),
                }
            }));
            text.push('\n');
        }
        text.push_str("\nInputs:\n");
        text.push_str(&describe::fields(task.signature.inputs()));
        text.push_str(&describe::outputs(task));
        if let Some(tooling) = &task.tooling {
            text.push_str(&format!(
                "\nEvery field stands between tags with its name. `{ARGS}` must be a valid JSON \
                 object with the arguments of the tool by name. {}",
                worked::steps(self, task, tooling)
            ));
            return text;
        }
        text.push_str(
            "\nEvery field stands between tags with its name. Reply with all of these in exactly \
             this form, replacing the braces:\n",
        );
        for field in task.signature.outputs() {
            let placeholder = describe::placeholder(field);
            text.push_str(&format!("\n<{0}>{placeholder}</{0}>", field.name));
        }
        text
    }

    fn render(&self, task: &Task, entry: &Entry) -> Vec<Message> {
        let message = match entry {
            Entry::System { text } => Message::System { text: text.clone() },
            Entry::Inputs { values } => {
                let (values, images) = pictures::lift(values);
                let text = fields(
                    values
                        .iter()
                        .map(|(name, value)| (name.as_str(), plain(value))),
                );
                pictures::message(text, images)
            }
            Entry::User { parts } => pictures::said(parts, |text| field("message", text)),
            Entry::Assistant { text, calls, .. } if calls.is_empty() => {
                Message::assistant(text.clone())
            }
            Entry::Assistant { text, calls, .. } => {
                let calls = calls
                    .iter()
                    .map(|call| (call.name.as_str(), args_text(call)));
                Message::assistant(step(text, calls))
            }
            Entry::Results { results } => {
                let list: Vec<String> = results
                    .iter()
                    .map(|result| {
                        let failed = if result.observation.is_error {
                            " error=\"true\""
                        } else {
                            ""
                        };
                        format!(
                            "<observation tool=\"{}\"{failed}>{}</observation>",
                            escape(&result.name).replace('"', "&quot;"),
                            escape(&result.observation.text()),
                        )
                    })
                    .collect();
                let images = results
                    .iter()
                    .flat_map(|result| result.observation.images.clone());
                pictures::message(list.join("\n"), images)
            }
            Entry::Notice { text } => Message::user(field("notice", text)),
            Entry::Summary { text, .. } => {
                Message::user(field("summary_of_what_came_before", text))
            }
            Entry::Outputs {
                values, thought, ..
            } => Message::assistant(match task.committing_tool() {
                Some(name) => {
                    let args = serde_json::Value::Object(values.clone()).to_string();
                    step(thought, [(name, args)])
                }
                None => fields(
                    values
                        .iter()
                        .map(|(name, value)| (name.as_str(), written(task, name, value))),
                ),
            }),
        };
        vec![message]
    }

    fn live(&self, task: &Task) -> Box<dyn Live> {
        let names = match task.tooling {
            Some(_) => [THOUGHT, TOOL, ARGS].map(str::to_owned).to_vec(),
            None => {
                let outputs = task.signature.outputs().iter();
                outputs.map(|field| field.name.clone()).collect()
            }
        };
        Box::new(TagReader::new(live::Fields::of(task), names))
    }

    fn parse_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
        let form = form(task);
        let names: Vec<&str> = task
            .signature
            .outputs()
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        let sections = scan(&reply.text, &names);
        if sections.has_any(names.iter().copied()) {
            return sections.outputs(task, reply.finish, &form);
        }
        json::unstructured_outputs(task, reply, &form, |text| mentions_tag(text, &names))
    }

    fn parse_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
        let form = form(task);
        let names = [THOUGHT, TOOL, ARGS];
        let sections = scan(&reply.text, &names);
        match &task.tooling {
            Some(tooling) if sections.has_any(names.into_iter()) => {
                sections.step(tooling, reply.finish, &form)
            }
            _ => chat::unstructured_step(task, reply, &form, |text| mentions_tag(text, &names)),
        }
    }
}

/// The form of a reply without angle brackets, which would be escaped in a notice.
fn form(task: &Task) -> String {
    let names: Vec<String> = task
        .signature
        .outputs()
        .iter()
        .map(|field| format!("`{}`", field.name))
        .collect();
    format!(
        "Reply with these fields in order, each between tags with its name: {}.",
        names.join(", ")
    )
}

fn field(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", escape(text))
}

fn fields<'a>(list: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let fields: Vec<String> = list
        .into_iter()
        .map(|(name, text)| field(name, &text))
        .collect();
    fields.join("\n")
}

fn step<'a>(thought: &str, calls: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut list = vec![(THOUGHT, thought.trim().to_owned())];
    for (name, args) in calls {
        list.push((TOOL, name.to_owned()));
        list.push((ARGS, args));
    }
    fields(list)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Reads entities; what is no entity stays, because models do not always escape.
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

fn mentions_tag(text: &str, names: &[&str]) -> bool {
    tags(text, names).next().is_some()
}

/// One tag of a known name.
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

/// Cuts a reply at the tags of these names.
///
/// A field ends at the last closing tag before the next field opens, so that a closing tag that
/// the model forgot to escape does not end it early; a field that is never closed ends where the
/// next one opens.
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

/// For every tag the index of the closing tag of its name, if that comes before the name opens again.
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
