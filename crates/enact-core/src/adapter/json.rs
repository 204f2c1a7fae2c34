//! One JSON object per message.

use std::sync::Arc;

use serde_json::{Value, json};

use super::json_text::{self, Found, NoJson};
use super::live::{Live, ObjectReader};
use super::outputs::{self, cut_off, is_alike};
use super::sections::{ARGS, THOUGHT, TOOL};
use super::style::{self, Style};
use super::task::{Completion, Task, reply_schema};
use super::{
    Misread, Read, RepairKind, StepReply, call_text, calls, describe, forms, thinking, worked,
};
use crate::model::{Capabilities, FinishReason, Reply, Request, ResponseFormat};
use crate::run::{Call, ToolResult};
use crate::signature::Values;

/// Each message is a JSON object, and the reply follows a schema if the model supports that.
///
/// JSON escapes data by itself. Several calls in one step are a `tool_calls` list of objects with
/// `name` and `arguments`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Json;

impl Style for Json {
    const NAME: &'static str = "json";

    fn system(&self, task: &Task) -> String {
        let mut text = style::introduction(task, "under `observations`", |name, completion| {
            let args = match completion {
                Completion::Submit => "an object with the outputs",
                Completion::Finish => "{}",
            };
            format!("set `{TOOL}` to `{name}` and `{ARGS}` to {args}")
        });
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

    fn form(&self, task: &Task) -> String {
        form(task)
    }

    fn fields(&self, _: &Task, fields: impl IntoIterator<Item = (String, Value)>) -> String {
        Value::Object(fields.into_iter().collect()).to_string()
    }

    fn results(&self, task: &Task, results: &[ToolResult]) -> String {
        let results = results.iter().map(|result| {
            let key = match result.observation.is_error {
                true => "error",
                false => "result",
            };
            json!({"tool": result.name, key: result.observation.value})
        });
        self.fields(task, [("observations".to_owned(), results.collect())])
    }

    fn step(&self, _: &Task, thought: &str, calls: &[Arc<Call>]) -> String {
        let args = |call: &Call| match &call.raw {
            Some(raw) => Value::String(raw.clone()),
            None => Value::Object(call.args.clone()),
        };
        let thought = thought.trim();
        let step = match calls {
            [only] => json!({THOUGHT: thought, TOOL: only.name, ARGS: args(only)}),
            several => {
                let calls = several.iter();
                let calls = calls.map(|call| json!({"name": call.name, "arguments": args(call)}));
                json!({THOUGHT: thought, "tool_calls": calls.collect::<Vec<_>>()})
            }
        };
        step.to_string()
    }

    fn outputs(&self, task: &Task, values: &Values) -> String {
        self.fields(task, values.clone())
    }

    fn shape(&self, task: &Task, capabilities: Capabilities, request: Request) -> Request {
        let (name, schema) = match &task.tooling {
            Some(tooling) => ("step", &tooling.reply_schema),
            None => ("outputs", task.outputs.schema()),
        };
        held_to(request, capabilities, name, schema.clone())
    }

    fn demand(&self, task: &Task, capabilities: Capabilities, request: Request) -> Request {
        let Some(tooling) = &task.tooling else {
            return request;
        };
        let Some(spec) = tooling.spec(tooling.completion.tool_name()) else {
            return request;
        };
        let schema = reply_schema(std::slice::from_ref(spec));
        held_to(request, capabilities, "step", schema.into())
    }

    fn live(&self, task: &Task) -> Box<dyn Live> {
        ObjectReader::live(task)
    }

    fn read_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
        object_outputs(task, reply).or_else(|misread| {
            let other = forms::find_other(task, reply, |text| text.contains('{'));
            other.ok_or(misread)
        })
    }

    fn read_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
        match calls::step_in_text(task, &reply.text, reply.finish) {
            Ok(Some(found)) if found.is_as_asked => Ok(found.read),
            Ok(Some(found)) => Ok(found
                .read
                .mended(RepairKind::Structure, call_text::OTHER_FORM)),
            Err(NoJson::CutOff) => Err(cut_off()),
            _ if reply.finish == FinishReason::Length => Err(cut_off()),
            Err(_) | Ok(None) => match call_text::other_form(task, reply) {
                Some(read) => Ok(read),
                None => talk_or_broken(reply),
            },
        }
    }
}

/// Adds a response schema to the request, if the model supports it.
fn held_to(
    request: Request,
    capabilities: Capabilities,
    name: &str,
    schema: Arc<Value>,
) -> Request {
    if !capabilities.response_schema {
        return request;
    }
    let name = name.to_owned();
    request.with_response_format(ResponseFormat::Schema { name, schema })
}

/// A reply without a call is text, unless an object was started.
fn talk_or_broken(reply: &Reply) -> Result<Read<StepReply>, Misread> {
    let text = thinking::spoken(&reply.text).text.trim();
    if !text.starts_with('{') && !text.contains("```") {
        return Ok(Read::exact(StepReply::said(text)));
    }
    let Ok(found) = json_text::find(text, FinishReason::Stop, Value::is_object) else {
        return Err(Misread::new("The reply is no valid JSON."));
    };
    let is_idle =
        |name: &Value| name.is_null() || name.as_str().is_some_and(|name| name.trim().is_empty());
    let thought = found.value.get(THOUGHT).and_then(Value::as_str);
    match (found.value.get(TOOL), thought) {
        (Some(name), Some(thought)) if is_idle(name) => Ok(Read::exact(StepReply::said(thought))),
        (Some(_), _) => Err(Misread::new(format!("`{TOOL}` is no text."))),
        (None, _) => Err(Misread::new(format!("`{TOOL}` is missing."))),
    }
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
pub(super) fn object_outputs(task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
    let fields = task.signature.outputs();
    let is_output = |key: &String| fields.iter().any(|field| is_alike(key, &field.name));
    let is_about = |value: &Value| {
        let object = value.as_object();
        object.is_some_and(|object| object.keys().any(is_output))
    };
    let none_required = fields.iter().all(|field| !field.is_required());
    // Something else may have them further down.
    let is_empty = |value: &Value| {
        let object = value.as_object();
        object.is_some_and(|object| object.keys().all(|key| forms::is_aside(key)))
    };
    let wanted = |value: &Value| is_about(value) || (none_required && is_empty(value));
    match json_text::find(&reply.text, reply.finish, wanted) {
        Ok(Found {
            value: Value::Object(mut found),
            mut repairs,
            ..
        }) => {
            let picked = outputs::pick(fields, &mut found, &mut repairs);
            outputs::complete(task, picked, repairs)
        }
        Err(NoJson::CutOff) => Err(cut_off()),
        _ if reply.finish == FinishReason::Length => Err(cut_off()),
        Err(NoJson::Broken) => Err(Misread::new("The reply is no valid JSON.")),
        _ => Err(Misread::new(
            "The reply holds no JSON object with the outputs.",
        )),
    }
}
