//! Tool calls as models write them: names, arguments, and the many JSON forms.

use serde_json::Value;

use super::json_text::{self, Found, NoJson};
use super::outputs::is_alike;
use super::task::{Task, Tooling};
use super::{
    Read, ReadCall, Repair, RepairKind, StepReply, UnreadableArgs, call_text, forms, names,
};
use crate::model::FinishReason;
use crate::signature::Values;
use crate::tool::ToolSpec;

const NAME_KEYS: [&str; 6] = [
    "next_tool_name",
    "name",
    "tool_name",
    "tool",
    "function",
    "action",
];
const ARGS_KEYS: [&str; 8] = [
    "next_tool_args",
    "arguments",
    "args",
    "tool_args",
    "parameters",
    "input",
    "tool_input",
    "action_input",
];
const LIST_KEYS: [&str; 3] = ["tool_calls", "calls", "next_tool_calls"];
const THOUGHT_KEYS: [&str; 4] = ["next_thought", "thought", "reasoning", "content"];

/// How much of unreadable arguments is kept in a problem.
const RAW: usize = 4000;

/// The tool that a name refers to: by its exact name, or the only one it can mean.
pub(super) fn resolve_name(tooling: &Tooling, written: &str, repairs: &mut Vec<Repair>) -> String {
    let names = || tooling.specs.iter().map(|spec| spec.name.as_str());
    // Llama calls a method of a tool.
    let method = || names::meant(written.trim().strip_suffix(".call")?, names());
    let ending = || names::ends_task(written).then(|| tooling.completion.tool_name());
    let meant = names::meant(written, names()).or_else(method);
    let Some(name) = meant.or_else(ending) else {
        return written.trim().to_owned();
    };
    if name != written {
        let detail = format!("{written:?} was taken for `{name}`");
        repairs.push(Repair::new(RepairKind::Name, detail));
    }
    name.to_owned()
}

/// The namespaces in which models call tools.
const NAMESPACES: [&str; 3] = ["functions.", "default_api.", "tools."];

/// Whether a name in a text can only mean an existing tool. Code may call `read` of another object:
/// only the known namespaces are accepted.
pub(super) fn is_known(tooling: &Tooling, written: &str) -> bool {
    let bare = written.trim();
    let mut spaces = NAMESPACES.iter();
    let bare = spaces
        .find_map(|space| bare.strip_prefix(space))
        .unwrap_or(bare);
    let bare = bare.strip_suffix(".call").unwrap_or(bare);
    if tooling.spec(bare).is_some() {
        return true;
    }
    let names = tooling.specs.iter().map(|spec| spec.name.as_str());
    let is_meant = || names::meant(bare, names).is_some() || names::ends_task(bare);
    !bare.contains(['.', ':', '/']) && is_meant()
}

/// Arguments written as text.
pub(super) fn args_of_text(
    text: &str,
    repairs: &mut Vec<Repair>,
) -> Result<Values, UnreadableArgs> {
    let trimmed = text.trim();
    if matches!(trimmed, "" | "null" | "None") {
        return Ok(Values::new());
    }
    match json_text::parse(trimmed, repairs) {
        Some(Value::Object(args)) => return Ok(args),
        // Encoded twice: the object is inside a JSON string.
        Some(Value::String(inner)) if inner.trim_start().starts_with('{') => {
            if let Some(Value::Object(args)) = json_text::parse(&inner, repairs) {
                let detail = "the arguments were encoded twice";
                repairs.push(Repair::new(RepairKind::Json, detail));
                return Ok(args);
            }
        }
        Some(other) => return Err(not_an_object(text, &other)),
        None => {}
    }
    let found = json_text::find(trimmed, FinishReason::Stop, Value::is_object);
    if let Ok(Found {
        value: Value::Object(args),
        repairs: made,
        ..
    }) = found
    {
        repairs.extend(made);
        return Ok(args);
    }
    Err(unreadable(text, "not a valid JSON object"))
}

/// Arguments given as a JSON value; a missing value means no arguments.
pub(super) fn args_of_value(
    value: Option<&Value>,
    repairs: &mut Vec<Repair>,
) -> Result<Values, UnreadableArgs> {
    match value {
        None | Some(Value::Null) => Ok(Values::new()),
        Some(Value::Object(args)) => Ok(args.clone()),
        Some(Value::String(text)) => args_of_text(text, repairs),
        Some(other) => Err(not_an_object(&other.to_string(), other)),
    }
}

fn not_an_object(raw: &str, value: &Value) -> UnreadableArgs {
    let kind = match value {
        Value::Array(_) => "a list",
        Value::String(_) => "a text",
        Value::Number(_) => "a number",
        Value::Bool(_) => "true or false",
        Value::Null | Value::Object(_) => "something else",
    };
    unreadable(
        raw,
        &format!("expected a JSON object with the arguments by name, got {kind}"),
    )
}

/// Arguments that can't be parsed.
pub(super) fn unreadable(raw: &str, problem: &str) -> UnreadableArgs {
    let end = raw
        .char_indices()
        .nth(RAW)
        .map_or(raw.len(), |(end, _)| end);
    UnreadableArgs {
        raw: raw[..end].to_owned(),
        problem: problem.to_owned(),
    }
}

/// The step in a JSON value, if it is one.
pub(super) fn step_of_value(
    tooling: &Tooling,
    value: &Value,
    repairs: &mut Vec<Repair>,
) -> Option<StepReply> {
    let thought = THOUGHT_KEYS
        .iter()
        .find_map(|key| value.get(key)?.as_str())
        .unwrap_or_default()
        .trim()
        .to_owned();
    let calls = calls_of_value(tooling, value, repairs)?;
    Some(StepReply { thought, calls })
}

fn calls_of_value(
    tooling: &Tooling,
    value: &Value,
    repairs: &mut Vec<Repair>,
) -> Option<Vec<ReadCall>> {
    let list = match value {
        Value::Array(items) => Some(items),
        Value::Object(fields) if !fields.contains_key("next_tool_name") => LIST_KEYS
            .iter()
            .find_map(|key| fields.get(*key)?.as_array()),
        _ => None,
    };
    match list {
        Some(items) => items
            .iter()
            .map(|item| call_of_value(tooling, item, repairs))
            .collect(),
        None => call_of_value(tooling, value, repairs).map(|call| vec![call]),
    }
}

fn call_of_value(tooling: &Tooling, value: &Value, repairs: &mut Vec<Repair>) -> Option<ReadCall> {
    let fields = value.as_object()?;
    // OpenAI nests name and arguments under `function`.
    let nested = ["function", "function_call", "tool_call"];
    let nested = nested.iter().find_map(|key| fields.get(*key));
    if let Some(inner @ Value::Object(_)) = nested {
        let call = call_of_value(tooling, inner, repairs)?;
        let id = fields.get("id").and_then(Value::as_str).map(str::to_owned);
        return Some(ReadCall {
            id: id.or(call.id),
            ..call
        });
    }
    if let Some(call) = under_its_name(tooling, fields) {
        return Some(call);
    }
    let name = NAME_KEYS
        .iter()
        .find_map(|key| fields.get(*key)?.as_str())?;
    let args_key = ARGS_KEYS.iter().find(|key| fields.contains_key(**key));
    // Many objects have a `name`; without arguments more evidence is needed.
    if args_key.is_none() && !is_known(tooling, name) {
        return None;
    }
    let id = fields.get("id").and_then(Value::as_str).map(str::to_owned);
    let args = args_of_value(args_key.and_then(|key| fields.get(*key)), repairs);
    Some(ReadCall {
        id,
        name: resolve_name(tooling, name, repairs),
        args,
    })
}

/// `{"tool": {…}}`, if these can only be the tool's arguments.
fn under_its_name(tooling: &Tooling, fields: &Values) -> Option<ReadCall> {
    let mut list = fields.iter();
    let (Some((name, Value::Object(args))), None) = (list.next(), list.next()) else {
        return None;
    };
    let outputs = tooling.declared.outputs();
    if outputs.iter().any(|field| field.name == *name) {
        return None;
    }
    let call = |name: &str| ReadCall::new(name, Ok(args.clone()));
    if names::ends_task(name) && forms::covers(outputs, args.keys().map(String::as_str)) {
        return Some(call(tooling.completion.tool_name()));
    }
    let spec = tooling.spec(name)?;
    are_arguments(spec, args).then(|| call(name))
}

/// Whether an object has the arguments that a tool requires, and nothing else.
pub(super) fn are_arguments(spec: &ToolSpec, args: &Values) -> bool {
    let properties = &spec.parameters["properties"];
    let is_known = |name: &String| properties.get(name).is_some();
    let required = spec.required();
    !args.is_empty()
        && args.keys().all(is_known)
        && required.iter().all(|name| args.contains_key(*name))
}

/// The committing call, if an object consists of the declared outputs.
pub(super) fn bare_outputs(tooling: &Tooling, value: &Value) -> Option<ReadCall> {
    let value = match value.as_array().map(Vec::as_slice) {
        Some([only]) => only,
        _ => value,
    };
    let fields = value.as_object()?;
    let outputs = tooling.declared.outputs();
    let is_output = |name: &str| outputs.iter().any(|field| is_alike(&field.name, name));
    let mut names = fields.keys().map(String::as_str);
    (forms::covers(outputs, names.clone())
        && names.all(|name| is_output(name) || forms::is_aside(name)))
    .then(|| ReadCall::new(tooling.completion.tool_name(), Ok(fields.clone())))
}

/// A step found as JSON in a text.
#[derive(Debug)]
pub(super) struct StepInText {
    pub(super) read: Read<StepReply>,
    /// Whether it has the fields that were requested for a step.
    pub(super) is_as_asked: bool,
}

/// Finds a step written as JSON in a text.
pub(super) fn step_in_text(
    task: &Task,
    text: &str,
    finish: FinishReason,
) -> Result<Option<StepInText>, NoJson> {
    let Some(tooling) = &task.tooling else {
        return Ok(None);
    };
    let is_call = |value: &Value| {
        // An empty list is more likely an argument than a step without calls.
        let is_empty_list = value.as_array().is_some_and(Vec::is_empty);
        (!is_empty_list && step_of_value(tooling, value, &mut Vec::new()).is_some())
            || bare_outputs(tooling, value).is_some()
    };
    let found = match json_text::find(text, finish, is_call) {
        Ok(found) => found,
        Err(NoJson::Absent) => return Ok(None),
        Err(problem) => return Err(problem),
    };
    let mut repairs = found.repairs;
    let bare = bare_outputs(tooling, &found.value);
    if bare.is_some() && call_text::calls_tool(task, tooling, text, finish) {
        return Ok(None);
    }
    let bare = bare.map(|call| StepReply {
        thought: String::new(),
        calls: vec![call],
    });
    let step = bare.or_else(|| step_of_value(tooling, &found.value, &mut repairs));
    let Some(mut value) = step else {
        return Ok(None);
    };
    if value.thought.is_empty() {
        value.thought = found.before.trim().to_owned();
    }
    let is_as_asked = ["next_tool_name", "tool_calls"]
        .iter()
        .any(|key| found.value.get(key).is_some());
    if !is_as_asked && !call_text::is_made(tooling, &value, found.before, text) {
        return Ok(None);
    }
    let read = Read { value, repairs };
    Ok(Some(StepInText { read, is_as_asked }))
}
