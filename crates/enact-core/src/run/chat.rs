//! Converts transcripts from and to other formats: chat-completion messages, and the flat
//! trajectory of DSPy.

use std::sync::Arc;

use enact_signature::Values;
use serde_json::{Value, json};

use super::history::{Call, Entry, History, HistoryError, Observation, ToolResult};
use crate::model::{Image, Message, Part};

impl History {
    /// Reads a list of chat-completion messages: `system`, `user`, `assistant` and `tool`.
    ///
    /// Calls without a result and results without a call are errors that name the message.
    pub fn from_chat_messages(messages: &[Value]) -> Result<Self, HistoryError> {
        let mut history = Self::new();
        // The calls without a result, and the results so far.
        let mut open: Vec<Call> = Vec::new();
        let mut results: Vec<ToolResult> = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            let fail =
                |text: String| HistoryError::new(format!("message {index}: {text}"), Some(index));
            let role = message["role"].as_str().ok_or_else(|| {
                fail("`role` is missing: one of system, user, assistant, tool".to_owned())
            })?;
            if role != "tool" && !open.is_empty() {
                return Err(fail(format!(
                    "the call `{}` before it has no answer",
                    open[0].id
                )));
            }
            match role {
                "system" | "developer" => {
                    history.push(Entry::System {
                        text: text_of(&message["content"]).map_err(fail)?,
                    });
                }
                "user" => history.push(Entry::User {
                    parts: parts_of(&message["content"]).map_err(fail)?,
                }),
                "assistant" => {
                    let text = text_of(&message["content"]).map_err(fail)?;
                    let calls = calls_of(&message["tool_calls"]).map_err(fail)?;
                    open.clone_from(&calls);
                    history.push(Entry::Assistant {
                        text,
                        calls: calls.into_iter().map(Arc::new).collect(),
                        opaque: opaque_of(message),
                    });
                }
                "tool" => {
                    let id = message["tool_call_id"]
                        .as_str()
                        .ok_or_else(|| fail("`tool_call_id` is missing".to_owned()))?;
                    let position = open.iter().position(|call| call.id == id).ok_or_else(|| {
                        fail(format!("no call with the id `{id}` stands before it"))
                    })?;
                    let call = open.remove(position);
                    results.push(ToolResult {
                        call_id: call.id,
                        name: call.name,
                        observation: Observation::value(
                            text_of(&message["content"]).map_err(fail)?,
                        ),
                    });
                    if open.is_empty() {
                        history.push(Entry::Results {
                            results: std::mem::take(&mut results),
                        });
                    }
                }
                other => {
                    return Err(fail(format!(
                        "role `{other}` is unknown: one of system, user, assistant, tool"
                    )));
                }
            }
        }
        match open.first() {
            Some(call) => Err(HistoryError::new(
                format!(
                    "the last call `{}` has no answer: add its tool message",
                    call.id
                ),
                messages.len().checked_sub(1),
            )),
            None => Ok(history),
        }
    }

    /// The transcript as chat-completion messages. Each turn ends with the answer as the
    /// assistant's text: a single string output as it is, anything else as a JSON object.
    pub fn to_chat_messages(&self) -> Vec<Value> {
        let mut messages = Vec::new();
        for entry in &self.visible() {
            match entry {
                Entry::System { text } => messages.push(json!({"role": "system", "content": text})),
                Entry::Inputs { values } => {
                    messages.push(json!({"role": "user", "content": plain_values(values)}));
                }
                Entry::User { parts } => {
                    messages.push(json!({"role": "user", "content": content(parts)}));
                }
                Entry::Assistant { text, calls, opaque } => {
                    let mut message = json!({"role": "assistant", "content": text});
                    if !calls.is_empty() {
                        message["tool_calls"] = calls.iter().map(|call| wire_call(call)).collect();
                    }
                    if let (Some(Value::Object(fields)), Value::Object(message)) =
                        (opaque, &mut message)
                    {
                        message.extend(fields.clone());
                    }
                    messages.push(message);
                }
                Entry::Results { results } => messages.extend(results.iter().map(|result| {
                    let mut parts = vec![Part::Text(result.observation.text())];
                    parts.extend(result.observation.images.iter().cloned().map(Part::Image));
                    json!({"role": "tool", "tool_call_id": result.call_id, "content": content(&parts)})
                })),
                Entry::Notice { text } => messages.push(json!({"role": "user", "content": text})),
                Entry::Outputs { values, .. } => {
                    messages.push(json!({"role": "assistant", "content": plain_values(values)}));
                }
                Entry::Summary { text, .. } => messages.push(json!({
                    "role": "user",
                    "content": format!("Summary of the conversation so far:\n{text}"),
                })),
            }
        }
        messages
    }

    /// Reads the flat trajectory of DSPy (`thought_0`, `tool_name_0`, `tool_args_0`,
    /// `observation_0`, …; `reasoning_0` is also accepted) of a run with these inputs.
    ///
    /// # Errors
    /// If a step is missing between others, a step has no `tool_name`, a value has the wrong type, or a
    /// key is unknown: nothing is silently ignored.
    pub fn from_flat_trajectory(inputs: Values, map: &Values) -> Result<Self, HistoryError> {
        let mut history = Self::from(vec![Entry::Inputs { values: inputs }]);
        let mut last = None;
        for key in map.keys() {
            last = last.max(Some(flat_index(key)?));
        }
        for index in 0..last.map_or(0, |last: usize| last.saturating_add(1)) {
            let get = |name: &str| map.get(&format!("{name}_{index}"));
            let wrong = |problem: String| HistoryError::new(problem, Some(index));
            let name = match get("tool_name") {
                Some(Value::String(name)) => name,
                Some(_) => return Err(wrong(format!("`tool_name_{index}` is not a string"))),
                None => {
                    let said = map
                        .keys()
                        .find(|key| flat_index(key).is_ok_and(|at| at >= index));
                    let said = said.map(String::as_str).unwrap_or_default();
                    return Err(wrong(format!(
                        "`tool_name_{index}` is missing, although there is `{said}`: steps are \
                         numbered from 0 without gaps"
                    )));
                }
            };
            let args = match get("tool_args") {
                None | Some(Value::Null) => Values::new(),
                Some(Value::Object(args)) => args.clone(),
                Some(_) => return Err(wrong(format!("`tool_args_{index}` is not an object"))),
            };
            let thought = match get("thought").or_else(|| get("reasoning")) {
                None | Some(Value::Null) => None,
                Some(Value::String(thought)) => Some(thought.as_str()),
                Some(_) => return Err(wrong(format!("the thought of step {index} is no string"))),
            };
            let id = format!("call_{index}_0");
            history.push(Entry::Assistant {
                text: thought.unwrap_or_default().to_owned(),
                calls: vec![Arc::new(Call {
                    id: id.clone(),
                    name: name.clone(),
                    args,
                    raw: None,
                })],
                opaque: None,
            });
            let observation = get("observation").cloned().unwrap_or(Value::Null);
            history.push(Entry::Results {
                results: vec![ToolResult {
                    call_id: id,
                    name: name.clone(),
                    observation: Observation::value(observation),
                }],
            });
        }
        Ok(history)
    }
}

/// The step number in a key of a flat trajectory.
fn flat_index(key: &str) -> Result<usize, HistoryError> {
    let known = key.rsplit_once('_').filter(|(name, _)| {
        matches!(
            *name,
            "thought" | "reasoning" | "tool_name" | "tool_args" | "observation"
        )
    });
    let index = known.and_then(|(_, index)| {
        let number: usize = index.parse().ok()?;
        (number.to_string() == index).then_some(number)
    });
    index.ok_or_else(|| {
        let problem = format!(
            "`{key}` is not a key of a trajectory: its keys are `thought_N` or `reasoning_N`, \
             `tool_name_N`, `tool_args_N` and `observation_N`"
        );
        HistoryError::new(problem, None)
    })
}

/// A single string as it is; anything else as a JSON object.
fn plain_values(values: &Values) -> String {
    let mut all = values.values();
    match (all.next(), all.next()) {
        (Some(Value::String(text)), None) => text.clone(),
        _ => Value::Object(values.clone()).to_string(),
    }
}

fn wire_call(call: &Call) -> Value {
    let arguments = Value::Object(call.args.clone()).to_string();
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

fn content(parts: &[Part]) -> Value {
    if let [Part::Text(text)] = parts {
        return Value::String(text.clone());
    }
    parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Image(image) => json!({"type": "image_url", "image_url": {"url": image.url()}}),
        })
        .collect()
}

/// Fields of an assistant message that the provider requires unchanged.
fn opaque_of(message: &Value) -> Option<Value> {
    let kept: Values = message
        .as_object()?
        .iter()
        .filter(|(key, _)| matches!(key.as_str(), "reasoning_details" | "reasoning_content"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (!kept.is_empty()).then_some(Value::Object(kept))
}

fn calls_of(value: &Value) -> Result<Vec<Call>, String> {
    let Some(list) = value.as_array() else {
        return Ok(Vec::new());
    };
    list.iter()
        .map(|call| {
            let id = call["id"].as_str().ok_or("a tool call has no `id`")?;
            let function = &call["function"];
            let name = function["name"]
                .as_str()
                .ok_or("a tool call has no `function.name`")?;
            let raw = function["arguments"].as_str().unwrap_or("{}");
            let (args, raw) = match serde_json::from_str(if raw.is_empty() { "{}" } else { raw }) {
                Ok(args) => (args, None),
                Err(_) => (Values::new(), Some(raw.to_owned())),
            };
            Ok(Call {
                id: id.to_owned(),
                name: name.to_owned(),
                args,
                raw,
            })
        })
        .collect()
}

fn text_of(value: &Value) -> Result<String, String> {
    let parts = parts_of(value)?;
    Ok(Message::User { parts }.text())
}

fn parts_of(value: &Value) -> Result<Vec<Part>, String> {
    match value {
        Value::Null => Ok(vec![Part::Text(String::new())]),
        Value::String(text) => Ok(vec![Part::Text(text.clone())]),
        Value::Array(list) => list.iter().map(part_of).collect(),
        _ => Err("`content` is neither text nor a list of parts".to_owned()),
    }
}

fn part_of(part: &Value) -> Result<Part, String> {
    if let Some(text) = part["text"].as_str() {
        return Ok(Part::Text(text.to_owned()));
    }
    let url = part["image_url"]["url"]
        .as_str()
        .ok_or_else(|| "a part of `content` is neither text nor an image".to_owned())?;
    let data = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    Ok(Part::Image(match data {
        Some((media_type, data)) => Image::from_base64(data, media_type),
        None => Image::from_url(url, ""),
    }))
}
