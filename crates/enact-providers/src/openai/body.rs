//! Request bodies in the chat-completions format.
//!
//! The body is written by hand to control its order: everything except the messages comes first, so the
//! request for a longer prompt starts, byte for byte, with the request for the shorter one.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::spared::{Extra, Spared};
use crate::http::json::{Fields, encoded, push_value};
use crate::portable::{call_id, images, portable_arguments, portable_name, shown_by};
use enact_core::model::{
    Delivery, Function, Image, Message, ModelError, Part, RawCall, Request, ResponseFormat,
    ToolChoice,
};

const DIALECT: &str = "openai";
/// Fields that the client depends on for parsing replies.
const RESERVED: [&str; 3] = ["messages", "stream", "tools"];
/// Fields that are not returned: they are already written, or belong to other protocols, and servers
/// reject unknown fields.
const NOT_RETURNED: [&str; 5] = ["role", "content", "tool_calls", "anthropic", "genai"];

/// The differences between servers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) model: &'a str,
    /// The field for the token limit.
    pub(super) max_tokens: &'static str,
    /// Whether a tool has to be called whenever tools are available.
    pub(super) demands_calls: bool,
    /// Whether replies are streamed even if that was not requested.
    pub(super) streams: bool,
    /// What the server rejects.
    pub(super) spared: Spared,
}

/// The whole body of a request.
pub(super) fn write_body(shape: Shape<'_>, request: &Request) -> Result<String, ModelError> {
    let options = &request.options;
    let mut fields = Fields::new(request, &RESERVED)?;
    fields.put("model", Some(shape.model));
    let has_tools = !request.tools.is_empty();
    let may_stream = !(has_tools && shape.spared.has(Extra::StreamedTools));
    match request.delivery {
        Delivery::Whole if !(shape.streams && may_stream) => {
            // Servers reject stream options without a stream.
            fields.leave_out("stream_options");
        }
        _ => {
            let counts = !shape.spared.has(Extra::StreamOptions);
            fields.put("stream", Some(true));
            fields.put(
                "stream_options",
                counts.then(|| json!({"include_usage": true})),
            );
        }
    }
    let temperature = options.temperature.filter(|value| value.is_finite());
    fields.put("temperature", temperature);
    fields.put(shape.max_tokens, options.max_tokens);
    fields.put("seed", options.seed);
    fields.put("reasoning_effort", options.reasoning_effort.as_deref());
    if has_tools {
        let out = fields.begin("tools");
        request.tools.write_wire(DIALECT, out, encode_functions);
    }
    let is_parallel = has_tools && !shape.spared.has(Extra::ParallelToolCalls);
    fields.put("parallel_tool_calls", is_parallel.then_some(true));
    let choice = match &request.tool_choice {
        ToolChoice::Auto if shape.demands_calls => &ToolChoice::Required,
        choice => choice,
    };
    // Servers reject a choice without tools, and `auto` is the default.
    let is_taken = has_tools && !shape.spared.has(Extra::ToolChoice);
    let choice = tool_choice(choice).filter(|_| is_taken);
    fields.put("tool_choice", choice);
    fields.put("response_format", response_format(&request.response_format));
    let stop = Some(&request.stop).filter(|stop| !stop.is_empty());
    fields.put("stop", stop);

    let mut out = fields.finish();
    out.push_str(",\"messages\":[");
    let mut pictures = Pictures::default();
    request
        .prompt
        .write_wire_with(DIALECT, &mut out, encode_message, |message, next, out| {
            pictures.after(message, next, out)
        });
    out.push_str("]}");
    Ok(out)
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "function")]
struct Tool<'a> {
    function: Described<'a>,
}

#[derive(Serialize)]
struct Described<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a Value,
}

fn encode_functions(functions: &[Function]) -> String {
    let tools = functions.iter().map(|function| Tool {
        function: Described {
            name: &function.name,
            description: &function.description,
            parameters: &function.parameters,
        },
    });
    encoded(&tools.collect::<Vec<_>>())
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Named(name) => Some(json!({"type": "function", "function": {"name": name}})),
    }
}

#[derive(Serialize)]
#[serde(tag = "type", content = "json_schema", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema {
        name: Cow<'a, str>,
        schema: &'a Value,
        /// Strict mode supports only a part of JSON Schema and rejects the rest.
        strict: bool,
    },
}

fn response_format(format: &ResponseFormat) -> Option<Format<'_>> {
    match format {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(Format::JsonObject),
        ResponseFormat::Schema { name, schema } => Some(Format::JsonSchema {
            name: portable_name(name),
            schema,
            strict: false,
        }),
    }
}

#[derive(Serialize)]
struct Said<'a, T> {
    role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    content: T,
}

fn said<T: Serialize>(role: &str, content: T) -> String {
    encoded(&Said {
        role,
        tool_call_id: None,
        content,
    })
}

fn encode_message(message: &Message) -> String {
    match message {
        Message::System { text } => said("system", text),
        Message::User { parts } if images(parts).next().is_some() => {
            said("user", parts.iter().map(part).collect::<Vec<_>>())
        }
        Message::User { .. } => said("user", message.text()),
        Message::Assistant {
            text,
            calls,
            opaque,
        } => assistant(text, calls, opaque.as_ref()),
        Message::Tool { call_id, parts, .. } => {
            let mut text = message.text();
            if text.is_empty() && images(parts).next().is_some() {
                text.push_str("The images follow in the next message.");
            }
            encoded(&Said {
                role: "tool",
                tool_call_id: Some(call_id),
                content: text,
            })
        }
    }
}

#[derive(Serialize)]
struct Assistant<'a> {
    role: &'a str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Called<'a>>,
    #[serde(flatten)]
    more: HandedBack<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'a str,
    function: Arguments<'a>,
    #[serde(flatten)]
    more: HandedBack<'a>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
}

/// The data that the provider sent, except what is already written or not meant for it.
struct HandedBack<'a> {
    fields: Option<&'a Value>,
    left_out: &'a [&'a str],
}

impl Serialize for HandedBack<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.fields.and_then(Value::as_object).into_iter().flatten();
        serializer.collect_map(fields.filter(|(key, _)| !self.left_out.contains(&key.as_str())))
    }
}

fn assistant(text: &str, calls: &[RawCall], opaque: Option<&Value>) -> String {
    let is_silent = text.is_empty() && !calls.is_empty();
    let calls = calls.iter().enumerate().map(|(index, call)| Called {
        id: call_id(call, index),
        kind: "function",
        function: Arguments {
            name: portable_name(&call.name),
            arguments: portable_arguments(&call.arguments),
        },
        more: HandedBack {
            fields: opaque.and_then(|opaque| opaque.get("tool_calls")?.get(index)),
            left_out: &["id", "type", "function"],
        },
    });
    encoded(&Assistant {
        role: "assistant",
        content: Some(text).filter(|_| !is_silent),
        tool_calls: calls.collect(),
        more: HandedBack {
            fields: opaque,
            left_out: &NOT_RETURNED,
        },
    })
}

/// Images that tools returned, held back until every result of the turn is written.
///
/// Most servers reject images in tool messages, and all reject other messages between the results of
/// one turn. A user message after the last result works everywhere.
#[derive(Default)]
struct Pictures {
    pending: Vec<Value>,
}

impl Pictures {
    fn after(&mut self, message: &Message, next: Option<&Message>, out: &mut String) {
        if let Message::Tool {
            call_id,
            name,
            parts,
        } = message
            && images(parts).next().is_some()
        {
            self.pending.push(text_part(&shown_by(name, call_id)));
            self.pending.extend(images(parts).map(image_part));
        }
        if self.pending.is_empty() || matches!(next, Some(Message::Tool { .. })) {
            return;
        }
        let parts = std::mem::take(&mut self.pending);
        out.push(',');
        push_value(out, &json!({"role": "user", "content": parts}));
    }
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => text_part(text),
        Part::Image(image) => image_part(image),
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image_part(image: &Image) -> Value {
    json!({"type": "image_url", "image_url": {"url": image.url()}})
}
