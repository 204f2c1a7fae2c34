//! One JSON object per message.

use std::sync::Arc;

use serde_json::{Value, json};

use super::live::{Live, ObjectReader};
use super::outputs::{self, cut_off};
use super::sections::{ARGS, THOUGHT, TOOL};
use super::task::{Completion, Task, Tooling};
use super::{
    Adapter, Misread, Read, Repair, RepairKind, StepReply, call_text, calls, describe, forms,
    json_text, pictures, thinking, worked,
};
use crate::model::{Capabilities, FinishReason, Message, Reply, Request, ResponseFormat};
use crate::run::{Call, Entry};
use crate::signature::Values;

/// Every message is a JSON object, and the reply is held to a schema where the model can be.
///
/// JSON quotes data by itself. Several calls in one step are a `tool_calls` list of objects with
/// `name` and `arguments`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Json;

impl Adapter for Json {
    fn name(&self) -> &str {
        "json"
    }

    fn system(&self, task: &Task) -> String {
        let mut text = format!("{}\n", task.signature.instructions().trim_end());
        if let Some(tooling) = &task.tooling {
            text.push_str(
                "\nWork in steps. In each step, think, then call one tool; its result comes back \
                 under `observations`.\n\nTools:\n",
            );
            text.push_str(&describe::tools(tooling));
            text.push('\n');
            text.push_str(&describe::ending(tooling, |name| {
                match tooling.completion {
                    Completion::Submit => {
                        format!(
                            "set `{TOOL}` to `{name}` and `{ARGS}` to an object with the outputs"
                        )
                    }
                    Completion::Finish => format!("set `{TOOL}` to `{name}` and `{ARGS}` to {{}}"),
                }
            }));
            text.push('\n');
        }
        text.push_str("\nInputs, as a JSON object:\n");
        text.push_str(&describe::fields(task.signature.inputs()));
        text.push_str("\nReply with one JSON object and nothing else. Its keys:\n");
        text.push_str(&describe::fields(task.signature.outputs()));
        if let Some(tooling) = &task.tooling {
            text.push_str(&format!(
                "\n`{ARGS}` must be a valid JSON object with the arguments of the tool by name. {}",
                worked::steps(self, task, tooling)
            ));
        }
        text.trim_end().to_owned()
    }

    fn render(&self, task: &Task, entry: &Entry) -> Vec<Message> {
        let user = |value: Value| Message::user(value.to_string());
        let message = match entry {
            Entry::System { text } => Message::System { text: text.clone() },
            Entry::Inputs { values } => {
                let (values, images) = pictures::lift(values);
                pictures::message(Value::Object(values).to_string(), images)
            }
            Entry::User { parts } => {
                pictures::said(parts, |text| json!({"message": text}).to_string())
            }
            Entry::Assistant { text, calls, .. } if calls.is_empty() => {
                Message::assistant(text.clone())
            }
            Entry::Assistant { text, calls, .. } => Message::assistant(step(text, calls)),
            Entry::Results { results } => {
                let list: Vec<Value> = results
                    .iter()
                    .map(|result| {
                        let key = if result.observation.is_error {
                            "error"
                        } else {
                            "result"
                        };
                        json!({"tool": result.name, key: result.observation.value})
                    })
                    .collect();
                let images = results
                    .iter()
                    .flat_map(|result| result.observation.images.clone());
                pictures::message(json!({"observations": list}).to_string(), images)
            }
            Entry::Notice { text } => user(json!({"notice": text})),
            Entry::Summary { text, .. } => user(json!({"summary_of_what_came_before": text})),
            Entry::Outputs {
                values, thought, ..
            } => Message::assistant(match task.committing_tool() {
                Some(name) => json!({
                    THOUGHT: thought.trim(),
                    TOOL: name,
                    ARGS: values,
                })
                .to_string(),
                None => Value::Object(values.clone()).to_string(),
            }),
        };
        vec![message]
    }

    fn shape(&self, task: &Task, capabilities: Capabilities, request: Request) -> Request {
        if !capabilities.response_schema {
            return request;
        }
        let (name, schema) = match &task.tooling {
            Some(tooling) => ("step", &tooling.reply_schema),
            None => ("outputs", task.outputs.schema()),
        };
        request.with_response_format(ResponseFormat::Schema {
            name: name.to_owned(),
            schema: schema.clone(),
        })
    }

    fn live(&self, task: &Task) -> Box<dyn Live> {
        Box::new(ObjectReader::new(task))
    }

    fn parse_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
        let form = form(task);
        object_outputs(task, reply, &form).or_else(|misread| {
            match other_outputs(task, reply, |text| text.contains('{')) {
                Some(read) => Ok(read),
                None => Err(misread),
            }
        })
    }

    fn parse_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
        let form = form(task);
        match calls::step_in_text(task, &reply.text, reply.finish) {
            Ok(Some(found)) => {
                let mut repairs = found.repairs;
                if !found.is_as_asked {
                    let detail = "the call was not in the form that was asked for";
                    repairs.push(Repair::new(RepairKind::Structure, detail));
                }
                Ok(Read {
                    value: found.step,
                    repairs,
                })
            }
            Err(json_text::NoJson::CutOff) => Err(cut_off(&form)),
            _ if reply.finish == FinishReason::Length => Err(cut_off(&form)),
            Err(_) | Ok(None) => match call_text::other_form(task, reply) {
                Some(read) => Ok(read),
                None => talk_or_broken(reply, &form),
            },
        }
    }

    fn demand(&self, task: &Task, capabilities: Capabilities, request: Request) -> Request {
        let completing = task.tooling.as_ref().and_then(|tooling| {
            let spec = tooling.spec(tooling.completion.tool_name())?;
            Some(Tooling::reply_schema_of(std::slice::from_ref(spec)))
        });
        match completing {
            Some(schema) if capabilities.response_schema => {
                request.with_response_format(ResponseFormat::Schema {
                    name: "step".to_owned(),
                    schema: std::sync::Arc::new(schema),
                })
            }
            _ => request,
        }
    }
}

/// A reply without a call is talk, unless an object was begun.
fn talk_or_broken(reply: &Reply, form: &str) -> Result<Read<StepReply>, Misread> {
    let text = thinking::spoken(&reply.text).text.trim();
    if !text.starts_with('{') && !text.contains("```") {
        return Ok(talk(text));
    }
    let Ok(found) = json_text::find(text, FinishReason::Stop, Value::is_object) else {
        return Err(Misread::new(format!("The reply is no valid JSON. {form}")));
    };
    let is_idle =
        |name: &Value| name.is_null() || name.as_str().is_some_and(|name| name.trim().is_empty());
    let thought = found.value.get(THOUGHT).and_then(Value::as_str);
    match (found.value.get(TOOL), thought) {
        (Some(name), Some(thought)) if is_idle(name) => Ok(talk(thought)),
        (Some(_), _) => Err(Misread::new(format!("`{TOOL}` is no text. {form}"))),
        (None, _) => Err(Misread::new(format!("`{TOOL}` is missing. {form}"))),
    }
}

fn talk(text: &str) -> Read<StepReply> {
    Read {
        value: StepReply {
            thought: text.trim().to_owned(),
            calls: Vec::new(),
        },
        repairs: Vec::new(),
    }
}

fn step(thought: &str, calls: &[Arc<Call>]) -> String {
    let args = |call: &Call| match &call.raw {
        Some(raw) => Value::String(raw.clone()),
        None => Value::Object(call.args.clone()),
    };
    let thought = thought.trim();
    match calls {
        [only] => json!({THOUGHT: thought, TOOL: only.name, ARGS: args(only)}),
        several => {
            let list: Vec<Value> = several
                .iter()
                .map(|call| json!({"name": call.name, "arguments": args(call)}))
                .collect();
            json!({THOUGHT: thought, "tool_calls": list})
        }
    }
    .to_string()
}

pub(super) fn form(task: &Task) -> String {
    let keys: Vec<String> = task
        .signature
        .outputs()
        .iter()
        .map(|field| format!("\"{}\": {}", field.name, describe::type_words(&field.ty)))
        .collect();
    format!("Reply with one JSON object: {{{}}}.", keys.join(", "))
}

/// Reads the outputs from an object in the reply.
pub(super) fn object_outputs(
    task: &Task,
    reply: &Reply,
    form: &str,
) -> Result<Read<Values>, Misread> {
    let fields = task.signature.outputs();
    let is_about = |value: &Value| {
        value.as_object().is_some_and(|object| {
            fields.iter().any(|field| {
                object.contains_key(&field.name)
                    || object
                        .keys()
                        .any(|key| outputs::normal(key) == outputs::normal(&field.name))
            })
        })
    };
    let none_required = fields.iter().all(|field| !field.is_required());
    let wanted = |value: &Value| is_about(value) || (none_required && value.is_object());
    match json_text::find(&reply.text, reply.finish, wanted) {
        Ok(json_text::Found {
            value: Value::Object(mut found),
            mut repairs,
            ..
        }) => {
            let picked = outputs::pick(fields, &mut found, &mut repairs);
            outputs::complete(task, picked, repairs, form)
        }
        Err(json_text::NoJson::CutOff) => Err(cut_off(form)),
        _ if reply.finish == FinishReason::Length => Err(cut_off(form)),
        Err(json_text::NoJson::Broken) => {
            Err(Misread::new(format!("The reply is no valid JSON. {form}")))
        }
        _ => Err(Misread::new(format!(
            "The reply holds no JSON object with the outputs. {form}"
        ))),
    }
}

/// Outputs from a reply that lacks the adapter's structure: an object, or the only text.
pub(super) fn unstructured_outputs(
    task: &Task,
    reply: &Reply,
    form: &str,
    is_broken: impl Fn(&str) -> bool,
) -> Result<Read<Values>, Misread> {
    if let Ok(mut read) = object_outputs(task, reply, form) {
        let detail = "the outputs were written as JSON";
        read.repairs
            .push(Repair::new(RepairKind::Structure, detail));
        return Ok(read);
    }
    if reply.finish == FinishReason::Length {
        return Err(cut_off(form));
    }
    match other_outputs(task, reply, is_broken) {
        Some(read) => Ok(read),
        None => outputs::complete(task, Values::new(), Vec::new(), form).and(Err(Misread::new(
            format!("The reply has none of the outputs. {form}"),
        ))),
    }
}

/// Outputs that are neither in the form that was asked for nor an object.
fn other_outputs(
    task: &Task,
    reply: &Reply,
    is_broken: impl Fn(&str) -> bool,
) -> Option<Read<Values>> {
    match forms::find(task, "", reply) {
        Some(forms::Found::Outputs(read)) => Some(read),
        Some(forms::Found::Invalid(_)) => None,
        None => sole_text_outputs(task, reply, is_broken),
    }
}

/// The whole reply as the only output, where that is a text.
fn sole_text_outputs(
    task: &Task,
    reply: &Reply,
    is_broken: impl Fn(&str) -> bool,
) -> Option<Read<Values>> {
    let text = thinking::spoken(&reply.text).text.trim();
    let field = outputs::sole_text(task)?;
    if reply.finish == FinishReason::Length || text.is_empty() || is_broken(text) {
        return None;
    }
    let picked = Values::from_iter([(field.name.clone(), Value::from(text))]);
    let detail = format!("the whole reply was taken for `{}`", field.name);
    outputs::complete(
        task,
        picked,
        vec![Repair::new(RepairKind::Structure, detail)],
        "",
    )
    .ok()
}
