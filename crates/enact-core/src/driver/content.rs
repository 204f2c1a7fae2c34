//! Prompts, replies and observations in the form of OpenTelemetry's conventions: lists of messages
//! with parts, as JSON text.

use serde_json::{Value, json};

use crate::model::{Message, Part, Prompt, RawCall, Reply};
use crate::signature::Values;

/// The system part of a prompt, and the rest of it.
pub(super) fn prompt(prompt: &Prompt) -> (String, String) {
    let mut system = Vec::new();
    let mut messages = Vec::new();
    for message in prompt.iter() {
        match message {
            Message::System { text } => system.push(text_part(text)),
            Message::User { parts } => {
                let parts: Vec<Value> = parts.iter().map(part).collect();
                messages.push(json!({"role": "user", "parts": parts}));
            }
            Message::Assistant { text, calls, .. } => {
                messages.push(json!({"role": "assistant", "parts": said(text, calls)}));
            }
            Message::Tool { call_id, .. } => {
                let response = message.text();
                let part =
                    json!({"type": "tool_call_response", "id": call_id, "response": response});
                messages.push(json!({"role": "tool", "parts": [part]}));
            }
        }
    }
    (
        Value::Array(system).to_string(),
        Value::Array(messages).to_string(),
    )
}

pub(super) fn reply(reply: &Reply) -> String {
    let parts = said(&reply.text, &reply.calls);
    let finish = reply.finish.as_str();
    json!([{"role": "assistant", "parts": parts, "finish_reason": finish}]).to_string()
}

pub(super) fn inputs(values: &Values) -> String {
    json!([{"role": "user", "parts": [text_part(&object(values))]}]).to_string()
}

pub(super) fn outputs(values: &Values) -> String {
    let parts = [text_part(&object(values))];
    json!([{"role": "assistant", "parts": parts, "finish_reason": "stop"}]).to_string()
}

pub(super) fn object(values: &Values) -> String {
    // A map of JSON values is always JSON.
    serde_json::to_string(values).unwrap_or_default()
}

fn said(text: &str, calls: &[RawCall]) -> Vec<Value> {
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(text_part(text));
    }
    for call in calls {
        let arguments = serde_json::from_str(&call.arguments)
            .unwrap_or_else(|_| Value::String(call.arguments.clone()));
        let (id, name) = (&call.id, &call.name);
        parts.push(json!({"type": "tool_call", "id": id, "name": name, "arguments": arguments}));
    }
    parts
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => text_part(text),
        // Spans should not contain the bytes of an image.
        Part::Image(image) => json!({"type": "image", "mime_type": image.media_type}),
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "content": text})
}
