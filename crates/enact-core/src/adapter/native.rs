//! Tool calls in the provider's own form.

use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::live::{CallReader, Live, ObjectReader, Piece, TextReader};
use super::outputs::{self, cut_off};
use super::task::{Completion, Task};
use super::{
    Adapter, Misread, Read, ReadCall, Repair, RepairKind, StepReply, call_text, calls, describe,
    field_text, forms, json, lines, pictures, thinking,
};
use crate::model::{
    Capabilities, FinishReason, Message, RawCall, Reply, Request, ResponseFormat, ToolChoice,
};
use crate::run::{Call, Entry, ToolResult};
use crate::signature::{Field, Type, Values};

/// The longest tool name that providers accept.
const LONGEST_NAME: usize = 64;
/// Indents the further lines of a value, since labels start at the margin.
const INDENT: &str = "    ";

/// The provider's tool calls, tool results and response schemas; the text contains no markers.
///
/// A single text input is sent unchanged. Several inputs are labelled, `name: value`, and no line of a
/// value starts at the margin, so data can't forge a label. A call that the model wrote as text is
/// accepted too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Native;

impl Adapter for Native {
    fn name(&self) -> &str {
        "native"
    }

    fn system(&self, task: &Task) -> String {
        let mut text = task.signature.instructions().trim_end().to_owned();
        let inputs = task.signature.inputs();
        if !matches!(inputs, [only] if only.ty.is_str() && only.description.is_none()) {
            text.push_str(&format!(
                "\n\nInputs:\n{}",
                describe::fields(inputs).trim_end()
            ));
        }
        match &task.tooling {
            Some(tooling) => {
                text.push_str("\n\nEvery reply has to call a tool. ");
                match tooling.completion {
                    Completion::Submit => text.push_str(&format!(
                        "Once the results show the outputs, call `{}` with them, alone.",
                        tooling.completion.tool_name()
                    )),
                    Completion::Finish => text.push_str(&describe::ending(tooling, |name| {
                        format!("call `{name}`, alone")
                    })),
                }
            }
            None if outputs::sole_text(task).is_some() => {
                if let [only] = task.signature.outputs()
                    && let Some(description) = &only.description
                {
                    text.push_str(&format!(
                        "\n\nReply with nothing but `{}`: {}",
                        only.name,
                        lines::indent(description.trim(), INDENT)
                    ));
                }
            }
            None => text.push_str(&format!(
                "\n\nReply with one JSON object and nothing else. Its keys:\n{}",
                describe::fields(task.signature.outputs()).trim_end()
            )),
        }
        text
    }

    fn render(&self, task: &Task, entry: &Entry) -> Vec<Message> {
        match entry {
            Entry::System { text } => vec![Message::System { text: text.clone() }],
            Entry::Inputs { values } => {
                let (values, images) = pictures::lift(values);
                vec![pictures::message(inputs_text(task, &values), images)]
            }
            Entry::User { parts } => vec![pictures::said(parts, str::to_owned)],
            Entry::Assistant {
                text,
                calls,
                opaque,
            } => match task.tooling {
                None if !calls.is_empty() => vec![Message::assistant(told_calls(text, calls))],
                _ => vec![Message::Assistant {
                    text: text.clone(),
                    calls: calls.iter().map(|call| raw_call(call)).collect(),
                    opaque: opaque.clone(),
                }],
            },
            Entry::Results { results } => match task.tooling {
                None => vec![told_results(results)],
                Some(_) => results.iter().map(tool_message).collect(),
            },
            Entry::Notice { text } => vec![Message::user(text.clone())],
            Entry::Summary { text, .. } => vec![Message::user(format!(
                "Summary of what came before: {}",
                lines::indent(text, INDENT)
            ))],
            Entry::Outputs {
                values,
                thought,
                call_id,
            } => match task.committing_tool() {
                Some(name) => submitted(name, values, thought, call_id.as_deref()),
                None => vec![Message::assistant(self.outputs_text(task, values))],
            },
        }
    }

    fn shape(&self, task: &Task, capabilities: Capabilities, request: Request) -> Request {
        match &task.tooling {
            Some(tooling) => request
                .with_tools(tooling.functions.clone())
                .with_tool_choice(ToolChoice::Auto),
            None if outputs::sole_text(task).is_none() && capabilities.response_schema => request
                .with_response_format(ResponseFormat::Schema {
                    name: "outputs".to_owned(),
                    schema: task.outputs.schema().clone(),
                }),
            None => request,
        }
    }

    fn demand(&self, task: &Task, _: Capabilities, request: Request) -> Request {
        match task.committing_tool() {
            Some(name) => request.with_tool_choice(ToolChoice::Named(name.to_owned())),
            None => request,
        }
    }

    fn live(&self, task: &Task) -> Box<dyn Live> {
        match (&task.tooling, outputs::sole_text(task)) {
            (Some(_), _) => CallReader::live(task),
            (None, Some(field)) => TextReader::live(Piece::Output(field.name.clone())),
            (None, None) => ObjectReader::live(task),
        }
    }

    fn takes_plain_words(&self) -> bool {
        true
    }

    fn parse_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
        let other = || match forms::find(task, self.name(), reply) {
            Some(forms::Found::Outputs(read)) => Some(read),
            _ => None,
        };
        let Some(field) = outputs::sole_text(task) else {
            return json::object_outputs(task, reply)
                .or_else(|misread| other().ok_or(misread))
                .map_err(|misread| misread.asking_for(&json::form(task)));
        };
        let read = other().map_or_else(|| whole_text(task, field, reply), Ok);
        read.map_err(|misread| {
            let form = format!("Reply with nothing but `{}`, as text.", field.name);
            misread.asking_for(&form)
        })
    }

    fn parse_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
        step(task, reply).map_err(|misread| {
            let completing = task.tooling.as_ref();
            let completing = completing.map_or("submit", |tooling| tooling.completion.tool_name());
            misread.asking_for(&format!(
                "Call one of the tools; `{completing}` ends the task."
            ))
        })
    }
}

/// The whole reply as the only output.
fn whole_text(task: &Task, field: &Field, reply: &Reply) -> Result<Read<Values>, Misread> {
    if reply.finish == FinishReason::Length {
        return Err(cut_off());
    }
    let spoken = thinking::spoken(&reply.text);
    let text = spoken.text.trim();
    if text.is_empty() {
        return Err(Misread::new("The reply is empty."));
    }
    if spoken.is_open {
        return Err(Misread::new("The reply is nothing but reasoning."));
    }
    let mut repairs = Vec::new();
    if spoken.dropped {
        let detail = "thinking was dropped";
        repairs.push(Repair::new(RepairKind::Surroundings, detail));
    }
    let text = lines::unescape(text, thinking::is_tag);
    let value = field_text::read(&field.ty, &text, &mut repairs);
    let picked = Values::from_iter([(field.name.clone(), value)]);
    outputs::complete(task, picked, repairs)
}

fn step(task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
    let spoken = thinking::spoken(&reply.text).text.trim();
    let is_cut = reply.finish == FinishReason::Length;
    if !reply.calls.is_empty() {
        let is_part =
            |call: &RawCall| !call.arguments.trim().is_empty() && !is_object(&call.arguments);
        if is_cut && reply.calls.iter().any(is_part) {
            return Err(cut_off());
        }
        let mut repairs = Vec::new();
        let calls = reply.calls.iter();
        let calls = calls.map(|call| read_call(task, call, &mut repairs));
        let value = StepReply {
            calls: calls.collect(),
            thought: thought_of(spoken, reply),
        };
        return Ok(Read { value, repairs });
    }
    if let Some(tooling) = &task.tooling
        && let Some(mut read) = call_text::find(task, tooling, spoken, reply.finish)?
    {
        if read.value.thought.is_empty() {
            read.value.thought = thought_of("", reply);
        }
        return Ok(read.mended(RepairKind::CallInText, "the call was written into the text"));
    }
    match is_cut {
        true => Err(cut_off()),
        false => Ok(Read::exact(StepReply::said(&thought_of(spoken, reply)))),
    }
}

fn thought_of(spoken: &str, reply: &Reply) -> String {
    if spoken.is_empty() {
        thinking::spoken(&reply.reasoning).text.trim().to_owned()
    } else {
        spoken.to_owned()
    }
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Values>(text).is_ok()
}

fn read_call(task: &Task, call: &RawCall, repairs: &mut Vec<Repair>) -> ReadCall {
    let name = match &task.tooling {
        Some(tooling) => calls::resolve_name(tooling, &call.name, repairs),
        None => call.name.clone(),
    };
    ReadCall {
        id: call.id.clone(),
        name,
        args: calls::args_of_text(&call.arguments, repairs),
    }
}

fn inputs_text(task: &Task, values: &Values) -> String {
    let mut list = values.iter();
    if let (Some((_, Value::String(only))), None) = (list.next(), list.next())
        && task.signature.inputs().len() <= 1
    {
        return only.clone();
    }
    labelled(
        values
            .iter()
            .map(|(name, value)| (name.as_str(), outputs::plain(value))),
    )
}

fn labelled<N: AsRef<str>>(list: impl IntoIterator<Item = (N, String)>) -> String {
    let fields: Vec<String> = list
        .into_iter()
        .map(|(name, text)| format!("{}: {}", name.as_ref(), lines::indent(&text, INDENT)))
        .collect();
    fields.join("\n")
}

/// A recorded call in the provider's form. Providers reject unusual names and arguments that are not
/// objects, and with them the whole conversation.
fn raw_call(call: &Call) -> RawCall {
    let args = match &call.raw {
        Some(raw) => json!({"unreadable": raw}),
        None => Value::Object(call.args.clone()),
    };
    RawCall {
        id: Some(call.id.clone()),
        name: plain_name(&call.name),
        arguments: args.to_string(),
    }
}

fn plain_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .take(LONGEST_NAME)
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '_'
            }
        })
        .collect();
    if plain.is_empty() {
        "unnamed".to_owned()
    } else {
        plain
    }
}

fn observed(result: &ToolResult) -> String {
    let text = result.observation.text();
    if result.observation.is_error {
        format!("Error: {text}")
    } else {
        text
    }
}

fn tool_message(result: &ToolResult) -> Message {
    Message::Tool {
        call_id: result.call_id.clone(),
        name: plain_name(&result.name),
        parts: pictures::parts(observed(result), result.observation.images.clone()),
    }
}

/// Calls as text, for requests without tools: some providers reject calls there.
fn told_calls(thought: &str, calls: &[Arc<Call>]) -> String {
    let told = calls.iter().map(|call| {
        (
            format!("called {}", plain_name(&call.name)),
            call.args_text(),
        )
    });
    match thought.trim() {
        "" => labelled(told),
        thought => format!("{thought}\n\n{}", labelled(told)),
    }
}

fn told_results(results: &[ToolResult]) -> Message {
    let told = results.iter().map(|result| {
        let kind = if result.observation.is_error {
            "error"
        } else {
            "result"
        };
        (
            format!("{kind} of {}", plain_name(&result.name)),
            result.observation.text(),
        )
    });
    pictures::message(labelled(told), pictures::of_results(results))
}

fn submitted(name: &str, values: &Values, thought: &str, call_id: Option<&str>) -> Vec<Message> {
    let arguments = Value::Object(values.clone()).to_string();
    // The id must not depend on the position of the entry, or prompts would not be append-only.
    let id = call_id.map_or_else(
        || {
            let digest = Sha256::digest(arguments.as_bytes());
            let hex: String = digest
                .iter()
                .take(8)
                .map(|byte| format!("{byte:02x}"))
                .collect();
            format!("call_{hex}")
        },
        str::to_owned,
    );
    vec![
        Message::Assistant {
            text: thought.to_owned(),
            calls: vec![RawCall {
                id: Some(id.clone()),
                name: name.to_owned(),
                arguments,
            }],
            opaque: None,
        },
        Message::Tool {
            call_id: id,
            name: name.to_owned(),
            parts: pictures::parts("Completed.".to_owned(), None),
        },
    ]
}

impl Native {
    /// Committed outputs as text that parses as these outputs: a single text unchanged, unless it would be
    /// mistaken for something else; otherwise an object.
    fn outputs_text(&self, task: &Task, values: &Values) -> String {
        let object = || Value::Object(values.clone()).to_string();
        let mut list = values.iter();
        let (Some((name, value @ Value::String(_))), None) = (list.next(), list.next()) else {
            return object();
        };
        let declared = match &task.tooling {
            Some(tooling) => tooling.declared.outputs(),
            None => task.signature.outputs(),
        };
        let is_text = match declared {
            [only] if only.name == *name => only.ty.is_str(),
            fields => fields.iter().all(|field| field.name != *name),
        };
        if !is_text {
            return object();
        }
        let text = lines::escape(
            &field_text::write(Some(&Type::Str), value),
            thinking::is_tag,
        );
        let is_read_as_written = || {
            let read = self.parse_outputs(task, &Reply::text(text.as_str()));
            read.is_ok_and(|read| read.value == *values)
        };
        let is_only_text = task.tooling.is_none() && outputs::sole_text(task).is_some();
        match is_only_text && !is_read_as_written() {
            true => object(),
            false => text,
        }
    }
}
