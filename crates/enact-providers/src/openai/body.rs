//! Requests in the chat-completions form.
//!
//! The body is written by hand for its order: everything but the messages comes first, so a
//! request for a longer prompt begins, byte for byte, with the request for the shorter one.

use serde_json::{Map, Value};

use super::spared::{Extra, Spared};
use crate::http::json::{
    Fields, portable_arguments, portable_name, push_field, push_separated, push_string, push_value,
};
use enact_core::model::{
    Delivery, Function, Image, Message, ModelError, Part, RawCall, Request, ResponseFormat,
    ToolChoice,
};

const DIALECT: &str = "openai";
/// Fields that the client depends on: what it reads back follows from them.
const RESERVED: [&str; 3] = ["messages", "stream", "tools"];
/// What other protocols want back; servers refuse fields that they do not know.
const FOREIGN: [&str; 2] = ["anthropic", "genai"];

/// What differs from server to server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) model: &'a str,
    /// The field that bounds the reply's tokens.
    pub(super) max_tokens: &'static str,
    /// Whether a tool has to be called wherever one may be.
    pub(super) demands_calls: bool,
    /// Whether replies come piece by piece even if they may come whole.
    pub(super) streams: bool,
    /// What the server refuses.
    pub(super) spared: Spared,
}

/// The whole body of a request.
pub(super) fn write_body(shape: Shape<'_>, request: &Request) -> Result<String, ModelError> {
    let options = &request.options;
    // The messages, and what stands before them.
    let room = request.prompt.room() + 1024;
    let mut fields = Fields::new(&options.extra, &RESERVED, room)?;
    fields.put(
        "model",
        Some(|out: &mut String| push_string(out, shape.model)),
    );
    let has_tools = !request.tools.is_empty();
    let may_stream = !(has_tools && shape.spared.has(Extra::StreamedTools));
    match request.delivery {
        Delivery::Whole if !(shape.streams && may_stream) => {
            // Servers refuse options of a stream where there is none.
            fields.leave_out("stream_options");
        }
        _ => {
            fields.put("stream", Some(|out: &mut String| out.push_str("true")));
            fields.put(
                "stream_options",
                (!shape.spared.has(Extra::StreamOptions))
                    .then_some(|out: &mut String| out.push_str("{\"include_usage\":true}")),
            );
        }
    }
    fields.put_number(
        "temperature",
        options.temperature.filter(|value| value.is_finite()),
    );
    fields.put_number(shape.max_tokens, options.max_tokens);
    fields.put_number("seed", options.seed);
    fields.put(
        "reasoning_effort",
        options
            .reasoning_effort
            .as_ref()
            .map(|effort| move |out: &mut String| push_string(out, effort)),
    );

    fields.put(
        "tools",
        has_tools.then_some(|out: &mut String| {
            request.tools.write_wire(DIALECT, out, encode_functions);
        }),
    );
    fields.put(
        "parallel_tool_calls",
        (has_tools && !shape.spared.has(Extra::ParallelToolCalls))
            .then_some(|out: &mut String| out.push_str("true")),
    );
    let choice = match &request.tool_choice {
        ToolChoice::Auto if shape.demands_calls => &ToolChoice::Required,
        choice => choice,
    };
    // Servers refuse a choice among no tools, and `auto` is what they do unasked.
    let is_taken = has_tools && !shape.spared.has(Extra::ToolChoice);
    let is_told = is_taken && *choice != ToolChoice::Auto;
    fields.put(
        "tool_choice",
        is_told.then_some(|out: &mut String| push_tool_choice(out, choice)),
    );
    fields.put(
        "response_format",
        (request.response_format != ResponseFormat::Text)
            .then_some(|out: &mut String| push_response_format(out, &request.response_format)),
    );
    fields.put(
        "stop",
        (!request.stop.is_empty()).then_some(|out: &mut String| {
            out.push('[');
            push_separated(out, &request.stop, |out, text| push_string(out, text));
            out.push(']');
        }),
    );

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

fn encode_functions(functions: &[Function]) -> String {
    let mut out = String::from("[");
    push_separated(&mut out, functions, |out, function| {
        out.push_str("{\"type\":\"function\",\"function\":{\"name\":");
        push_string(out, &function.name);
        if !function.description.is_empty() {
            out.push_str(",\"description\":");
            push_string(out, &function.description);
        }
        out.push_str(",\"parameters\":");
        push_value(out, &function.parameters);
        out.push_str("}}");
    });
    out.push(']');
    out
}

fn push_tool_choice(out: &mut String, choice: &ToolChoice) {
    match choice {
        ToolChoice::Auto => out.push_str("\"auto\""),
        ToolChoice::Required => out.push_str("\"required\""),
        ToolChoice::None => out.push_str("\"none\""),
        ToolChoice::Named(name) => {
            out.push_str("{\"type\":\"function\",\"function\":{\"name\":");
            push_string(out, name);
            out.push_str("}}");
        }
    }
}

fn push_response_format(out: &mut String, format: &ResponseFormat) {
    match format {
        ResponseFormat::Text => out.push_str("{\"type\":\"text\"}"),
        ResponseFormat::JsonObject => out.push_str("{\"type\":\"json_object\"}"),
        ResponseFormat::Schema { name, schema } => {
            out.push_str("{\"type\":\"json_schema\",\"json_schema\":{\"name\":");
            push_string(out, &portable_name(name));
            out.push_str(",\"schema\":");
            push_value(out, schema);
            // Strict mode takes only a part of JSON Schema and refuses the rest.
            out.push_str(",\"strict\":false}}");
        }
    }
}

fn encode_message(message: &Message) -> String {
    let mut out = String::with_capacity(message.bytes() + 128);
    match message {
        Message::System { text } => {
            out.push_str("{\"role\":\"system\",\"content\":");
            push_string(&mut out, text);
        }
        Message::User { parts } => {
            out.push_str("{\"role\":\"user\",\"content\":");
            if images(parts).next().is_none() {
                push_string(&mut out, &message.text());
            } else {
                out.push('[');
                push_separated(&mut out, parts, push_part);
                out.push(']');
            }
        }
        Message::Assistant {
            text,
            calls,
            opaque,
        } => push_assistant(&mut out, text, calls, opaque.as_ref()),
        Message::Tool { call_id, parts, .. } => {
            out.push_str("{\"role\":\"tool\",\"tool_call_id\":");
            push_string(&mut out, call_id);
            out.push_str(",\"content\":");
            let text = message.text();
            if text.is_empty() && images(parts).next().is_some() {
                push_string(&mut out, "The images follow in the next message.");
            } else {
                push_string(&mut out, &text);
            }
        }
    }
    out.push('}');
    out
}

fn push_assistant(out: &mut String, text: &str, calls: &[RawCall], opaque: Option<&Value>) {
    out.push_str("{\"role\":\"assistant\",\"content\":");
    if text.is_empty() && !calls.is_empty() {
        out.push_str("null");
    } else {
        push_string(out, text);
    }
    if !calls.is_empty() {
        out.push_str(",\"tool_calls\":[");
        push_separated(out, calls.iter().enumerate(), |out, (index, call)| {
            out.push_str("{\"id\":");
            match &call.id {
                Some(id) => push_string(out, id),
                None => push_string(out, &format!("call_{index}")),
            }
            out.push_str(",\"type\":\"function\",\"function\":{\"name\":");
            push_string(out, &portable_name(&call.name));
            out.push_str(",\"arguments\":");
            push_string(out, portable_arguments(&call.arguments));
            out.push('}');
            let extras = opaque.and_then(|opaque| opaque.get("tool_calls")?.get(index));
            if let Some(Value::Object(extras)) = extras {
                push_fields(out, extras, |key| matches!(key, "id" | "type" | "function"));
            }
            out.push('}');
        });
        out.push(']');
    }
    if let Some(Value::Object(fields)) = opaque {
        push_fields(out, fields, |key| {
            matches!(key, "role" | "content" | "tool_calls") || FOREIGN.contains(&key)
        });
    }
}

/// Pictures that tools returned, held back until every result of the turn is written.
///
/// Most servers refuse pictures in tool messages, and all refuse another message between the
/// results of one turn. A user message behind the last result is what works everywhere.
#[derive(Default)]
struct Pictures<'a> {
    pending: Vec<(&'a str, &'a str, &'a [Part])>,
}

impl<'a> Pictures<'a> {
    fn after(&mut self, message: &'a Message, next: Option<&'a Message>, out: &mut String) {
        if let Message::Tool {
            call_id,
            name,
            parts,
        } = message
            && images(parts).next().is_some()
        {
            self.pending.push((name, call_id, parts));
        }
        if self.pending.is_empty() || matches!(next, Some(Message::Tool { .. })) {
            return;
        }
        out.push_str(",{\"role\":\"user\",\"content\":[");
        push_separated(
            out,
            self.pending.drain(..),
            |out, (name, call_id, parts)| {
                push_text_part(out, &format!("Images returned by `{name}` ({call_id}):"));
                for image in images(parts) {
                    out.push(',');
                    push_image_part(out, image);
                }
            },
        );
        out.push_str("]}");
    }
}

/// Writes what the provider handed over, except what is written already or not for it.
fn push_fields(out: &mut String, fields: &Map<String, Value>, is_left_out: impl Fn(&str) -> bool) {
    for (key, value) in fields {
        if !is_left_out(key) {
            push_field(out, key, value);
        }
    }
}

fn images(parts: &[Part]) -> impl Iterator<Item = &Image> {
    parts.iter().filter_map(|part| match part {
        Part::Image(image) => Some(image),
        Part::Text(_) => None,
    })
}

fn push_part(out: &mut String, part: &Part) {
    match part {
        Part::Text(text) => push_text_part(out, text),
        Part::Image(image) => push_image_part(out, image),
    }
}

fn push_text_part(out: &mut String, text: &str) {
    out.push_str("{\"type\":\"text\",\"text\":");
    push_string(out, text);
    out.push('}');
}

fn push_image_part(out: &mut String, image: &Image) {
    out.push_str("{\"type\":\"image_url\",\"image_url\":{\"url\":");
    push_string(out, &image.url());
    out.push_str("}}");
}
