//! Requests in the chat-completions form.
//!
//! The body is written by hand for its order: everything but the messages comes first, so a
//! request for a longer prompt begins, byte for byte, with the request for the shorter one.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::model::{
    Function, Image, Message, ModelError, ModelErrorKind, Part, RawCall, Request, ResponseFormat,
    ToolChoice,
};

const DIALECT: &str = "openai";
/// Fields that the client depends on: what it reads back follows from them.
const RESERVED: [&str; 3] = ["messages", "stream", "tools"];
/// What the protocol allows in the name of a function or schema.
const MAX_NAME_LENGTH: usize = 64;

/// What differs from server to server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) model: &'a str,
    /// The field that bounds the reply's tokens.
    pub(super) max_tokens: &'static str,
}

/// The whole body of a streaming request.
pub(super) fn write_body(shape: Shape<'_>, request: &Request) -> Result<String, ModelError> {
    let options = &request.options;
    if let Some(key) = RESERVED
        .iter()
        .find(|key| options.extra.contains_key(**key))
    {
        return Err(ModelError::new(
            ModelErrorKind::InvalidRequest,
            format!(
                "`{key}` cannot be an extra model option: remove it from `ModelOptions::extra`"
            ),
        ));
    }
    let mut fields = Fields::new(&options.extra);
    fields.put(
        "model",
        Some(|out: &mut String| push_string(out, shape.model)),
    );
    fields.put("stream", Some(|out: &mut String| out.push_str("true")));
    fields.put(
        "stream_options",
        Some(|out: &mut String| out.push_str("{\"include_usage\":true}")),
    );
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

    let has_tools = !request.tools.is_empty();
    fields.put(
        "tools",
        has_tools.then_some(|out: &mut String| {
            request.tools.write_wire(DIALECT, out, encode_functions);
        }),
    );
    fields.put(
        "parallel_tool_calls",
        has_tools.then_some(|out: &mut String| out.push_str("true")),
    );
    // Servers refuse a choice among no tools, and `auto` is what they do unasked.
    let choice = has_tools.then_some(&request.tool_choice);
    fields.put(
        "tool_choice",
        choice
            .filter(|choice| **choice != ToolChoice::Auto)
            .map(|choice| |out: &mut String| push_tool_choice(out, choice)),
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

/// Writes the fields of an object. A field of `extra` replaces ours; `null` leaves it out.
struct Fields<'a> {
    out: String,
    extra: &'a Map<String, Value>,
    placed: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    fn new(extra: &'a Map<String, Value>) -> Self {
        Self {
            out: String::from("{"),
            extra,
            placed: Vec::new(),
        }
    }

    fn put(&mut self, key: &'static str, write: Option<impl FnOnce(&mut String)>) {
        self.placed.push(key);
        match (self.extra.get(key), write) {
            (Some(Value::Null), _) | (None, None) => {}
            (Some(value), _) => push_field(&mut self.out, key, value),
            (None, Some(write)) => {
                push_key(&mut self.out, key);
                write(&mut self.out);
            }
        }
    }

    fn put_number(&mut self, key: &'static str, value: Option<impl Into<Value>>) {
        let value: Option<Value> = value.map(Into::into);
        self.put(
            key,
            value.map(|value| move |out: &mut String| push_value(out, &value)),
        );
    }

    fn finish(mut self) -> String {
        for (key, value) in self.extra {
            if !value.is_null() && !self.placed.contains(&key.as_str()) {
                push_field(&mut self.out, key, value);
            }
        }
        self.out
    }
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
    let mut out = String::new();
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
                push_fields(out, extras, &["id", "type", "function"]);
            }
            out.push('}');
        });
        out.push(']');
    }
    if let Some(Value::Object(fields)) = opaque {
        push_fields(out, fields, &["role", "content", "tool_calls"]);
    }
}

/// Writes what the provider handed over, except what is written already.
fn push_fields(out: &mut String, fields: &Map<String, Value>, written: &[&str]) {
    for (key, value) in fields {
        if !written.contains(&key.as_str()) {
            push_field(out, key, value);
        }
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

/// The arguments as written if they are a JSON object; servers refuse anything else, and with it
/// the whole conversation.
fn portable_arguments(arguments: &str) -> &str {
    let is_object = arguments.trim_start().starts_with('{')
        && serde_json::from_str::<IgnoredAny>(arguments).is_ok();
    if is_object { arguments } else { "{}" }
}

/// The name if servers take it, else the nearest one they do. Models invent names, and a refused
/// one would end the conversation.
fn portable_name(name: &str) -> Cow<'_, str> {
    let is_allowed =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    if name.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    if name.len() <= MAX_NAME_LENGTH && name.chars().all(is_allowed) {
        return Cow::Borrowed(name);
    }
    name.chars()
        .map(|character| {
            if is_allowed(character) {
                character
            } else {
                '_'
            }
        })
        .take(MAX_NAME_LENGTH)
        .collect()
}

fn push_separated<T>(
    out: &mut String,
    items: impl IntoIterator<Item = T>,
    mut push: impl FnMut(&mut String, T),
) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push(out, item);
    }
}

fn push_field(out: &mut String, key: &str, value: &Value) {
    push_key(out, key);
    push_value(out, value);
}

fn push_key(out: &mut String, key: &str) {
    if !out.ends_with('{') {
        out.push(',');
    }
    push_string(out, key);
    out.push(':');
}

fn push_value(out: &mut String, value: &Value) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{value}");
}

/// Writes a JSON string without the detour over a value.
fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut start = 0;
    for (index, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&text[start..index]);
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
        start = index + 1;
    }
    out.push_str(&text[start..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arguments_that_are_no_object_are_sent_as_an_empty_one() {
        for broken in ["", "{\"a\":", "[1]", "\"x\"", "null", "{}{}"] {
            assert_eq!(portable_arguments(broken), "{}", "{broken}");
        }
        assert_eq!(portable_arguments(" {\"a\": 1}"), " {\"a\": 1}");
    }

    #[test]
    fn invented_names_are_made_acceptable() {
        assert_eq!(portable_name("get_weather-2"), "get_weather-2");
        assert_eq!(portable_name("get weather.now"), "get_weather_now");
        assert_eq!(portable_name(""), "unnamed");
        assert_eq!(portable_name(&"é".repeat(80)), "_".repeat(64));
    }

    proptest! {
        #[test]
        fn any_text_survives(text in any::<String>()) {
            let mut out = String::new();
            push_string(&mut out, &text);
            prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }
}
