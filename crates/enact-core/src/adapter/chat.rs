//! Fields under marker lines: `[[ ## name ## ]]`.

use super::describe;
use super::live::{self, Line, LineReader, LineStart, Live};
use super::outputs::{self, plain, written};
use super::sections::{ARGS, Section, Sections, THOUGHT, TOOL, args_text};
use super::task::{Completion, Task};
use super::{
    Adapter, Misread, Read, Repair, RepairKind, StepReply, call_text, calls, lines, pictures,
    thinking, worked,
};
use crate::model::{FinishReason, Message, Reply};
use crate::run::Entry;
use crate::signature::Values;

const COMPLETED: &str = "completed";

/// Plain text with a marker line before each field, for any model that can follow instructions.
///
/// Data cannot forge a marker: a line of data that starts like one gets a backslash in front,
/// which is taken away again when a field is read. Several calls in one step are several pairs of
/// `next_tool_name` and `next_tool_args`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Chat;

impl Adapter for Chat {
    fn name(&self) -> &str {
        "chat"
    }

    fn system(&self, task: &Task) -> String {
        let mut text = format!("{}\n", task.signature.instructions().trim_end());
        if let Some(tooling) = &task.tooling {
            text.push_str(
                "\nWork in steps. In each step, think, then call one tool; its result comes back \
                 as an observation.\n\nTools:\n",
            );
            text.push_str(&describe::tools(tooling));
            text.push('\n');
            text.push_str(&describe::ending(tooling, |name| {
                completing_words(tooling.completion, name)
            }));
            text.push('\n');
        }
        text.push_str("\nInputs:\n");
        text.push_str(&describe::fields(task.signature.inputs()));
        text.push_str(&describe::outputs(task));
        if let Some(tooling) = &task.tooling {
            text.push_str(&format!(
                "\nEvery field stands under a marker line with its name. `{ARGS}` must be a valid \
                 JSON object with the arguments of the tool by name. {}",
                worked::steps(self, task, tooling)
            ));
            return text;
        }
        text.push_str(
            "\nEvery field stands under a marker line with its name. Reply with all of these in \
             exactly this form, replacing the braces:\n\n",
        );
        for field in task.signature.outputs() {
            text.push_str(&format!(
                "{}\n{}\n\n",
                marker(&field.name),
                describe::placeholder(field)
            ));
        }
        text.push_str(&marker(COMPLETED));
        text
    }

    fn render(&self, task: &Task, entry: &Entry) -> Vec<Message> {
        let message = match entry {
            Entry::System { text } => Message::System { text: text.clone() },
            Entry::Inputs { values } => {
                let (values, images) = pictures::lift(values);
                let mut text = fields(
                    values
                        .iter()
                        .map(|(name, value)| (name.as_str(), plain(value))),
                );
                text.push_str(&format!("\n\n{}", form(task)));
                pictures::message(text, images)
            }
            Entry::User { parts } => pictures::said(parts, escaped),
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
                let several = results.len() > 1;
                let sections = results.iter().enumerate().map(|(index, result)| {
                    let kind = if result.observation.is_error {
                        "error"
                    } else {
                        "observation"
                    };
                    let name = if several {
                        format!("{kind} {}", index + 1)
                    } else {
                        kind.to_owned()
                    };
                    (name, result.observation.text())
                });
                let images = results
                    .iter()
                    .flat_map(|result| result.observation.images.clone());
                pictures::message(fields(sections), images)
            }
            Entry::Notice { text } => Message::user(fields([("notice", text.clone())])),
            Entry::Summary { text, .. } => {
                Message::user(fields([("summary of what came before", text.clone())]))
            }
            Entry::Outputs {
                values, thought, ..
            } => Message::assistant(match task.committing_tool() {
                Some(name) => {
                    let args = serde_json::Value::Object(values.clone()).to_string();
                    step(thought, [(name, args)])
                }
                None => completed(
                    values
                        .iter()
                        .map(|(name, value)| (name.as_str(), written(task, name, value))),
                ),
            }),
        };
        vec![message]
    }

    fn live(&self, task: &Task) -> Box<dyn Live> {
        Box::new(LineReader::new(live::Fields::of(task), classify))
    }

    fn parse_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
        let form = form(task);
        let sections = scan(&reply.text);
        let names = task
            .signature
            .outputs()
            .iter()
            .map(|field| field.name.as_str());
        if sections.has_any(names) {
            return sections.outputs(task, reply.finish, &form);
        }
        super::json::unstructured_outputs(task, reply, &form, |text| text.contains("[[ ##"))
    }

    fn parse_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
        let form = form(task);
        let sections = scan(&reply.text);
        match &task.tooling {
            Some(tooling) if sections.has_any([THOUGHT, TOOL, ARGS].into_iter()) => {
                sections.step(tooling, reply.finish, &form)
            }
            _ => unstructured_step(task, reply, &form, |text| text.contains("[[ ##")),
        }
    }
}

/// A step that is not in sections: a call as JSON, or mere talk.
pub(super) fn unstructured_step(
    task: &Task,
    reply: &Reply,
    form: &str,
    is_broken: impl Fn(&str) -> bool,
) -> Result<Read<StepReply>, Misread> {
    let text = thinking::spoken(&reply.text).text.trim();
    if let Ok(Some(mut found)) = calls::step_in_text(task, &reply.text, reply.finish) {
        let detail = "the call was written as JSON";
        found
            .repairs
            .push(Repair::new(RepairKind::Structure, detail));
        return Ok(Read {
            value: found.step,
            repairs: found.repairs,
        });
    }
    if let Some(read) = call_text::other_form(task, reply) {
        return Ok(read);
    }
    if reply.finish == FinishReason::Length {
        return Err(outputs::cut_off(form));
    }
    if is_broken(text) {
        return Err(Misread::new(format!(
            "The reply has none of the fields of a step. {form}"
        )));
    }
    let value = StepReply {
        thought: text.to_owned(),
        calls: Vec::new(),
    };
    Ok(Read {
        value,
        repairs: Vec::new(),
    })
}

fn completing_words(completion: Completion, name: &str) -> String {
    let args = match completion {
        Completion::Submit => "the outputs as its arguments",
        Completion::Finish => "`{}` as its arguments",
    };
    format!("call `{name}` with {args}")
}

fn marker(name: &str) -> String {
    format!("[[ ## {name} ## ]]")
}

/// The form of a reply in one line, so that no line of it is a marker.
fn form(task: &Task) -> String {
    let markers: Vec<String> = task
        .signature
        .outputs()
        .iter()
        .map(|field| field.name.as_str())
        .chain([COMPLETED])
        .map(|name| format!("`{}`", marker(name)))
        .collect();
    format!(
        "Reply with these marker lines in order, each value under its own: {}.",
        markers.join(", ")
    )
}

fn fields<N: AsRef<str>>(list: impl IntoIterator<Item = (N, String)>) -> String {
    let sections: Vec<String> = list
        .into_iter()
        .map(|(name, text)| format!("{}\n{}", marker(name.as_ref()), escaped(&text)))
        .collect();
    sections.join("\n\n")
}

fn completed<N: AsRef<str>>(list: impl IntoIterator<Item = (N, String)>) -> String {
    format!("{}\n\n{}", fields(list), marker(COMPLETED))
}

fn step<'a>(thought: &str, calls: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut list = vec![(THOUGHT, thought.trim().to_owned())];
    for (name, args) in calls {
        list.push((TOOL, name.to_owned()));
        list.push((ARGS, args));
    }
    completed(list)
}

/// Whether a line starts like a marker, or like a thinking tag, which is read before markers are.
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

/// The name in a marker that the line starts with, and what follows it.
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

/// What the start of a line is, for whoever reads along.
fn classify(line: Line<'_>) -> LineStart {
    let (indent, slashes, rest) = lines::split(line.text);
    let is_structure = is_structure(rest);
    let marker = read_marker(line.text).filter(|_| !line.is_announced);
    match (slashes.strip_prefix('\\'), marker) {
        (Some(fewer), _) if is_structure => LineStart::Data(format!("{indent}{fewer}{rest}")),
        (None, Some((name, _))) if outputs::normal(name) == COMPLETED => LineStart::End,
        (None, Some((name, after))) => LineStart::Field(name.to_owned(), after.to_owned()),
        // What came before a closing tag was thinking.
        (None, None) if thinking::is_tag(rest) => LineStart::End,
        _ if !line.is_whole && (is_structure || may_be_structure(rest)) => LineStart::Unknown,
        _ => LineStart::Data(line.text.to_owned()),
    }
}

/// Whether a line that starts like this could become structure.
fn may_be_structure(start: &str) -> bool {
    let is_open = match start.strip_prefix("[[") {
        Some(inside) => "##".starts_with(inside.trim_start()),
        None => "[[".starts_with(start),
    };
    is_open || thinking::may_be_tag(start)
}

/// Cuts a reply at its markers. What follows the completing one does not count.
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
        if outputs::normal(name) == COMPLETED {
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
