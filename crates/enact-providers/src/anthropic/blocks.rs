//! Messages as content blocks.

use serde_json::{Value, json};

use crate::http::json::encoded;
use crate::portable::{call_id, portable_arguments, portable_id, portable_name};
use enact_core::model::{Image, ImageSource, Message, Part, RawCall};

/// The field of an assistant message with data that the provider requires unchanged.
pub(super) const OPAQUE: &str = "anthropic";
/// Text blocks must not be empty.
const NO_TEXT: &str = "(no text)";

/// The role of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

impl Role {
    pub(super) fn of(message: &Message) -> Self {
        match message {
            Message::Assistant { .. } => Self::Assistant,
            // Only the first instructions precede the conversation; later ones are part of it.
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => Self::User,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// The content blocks of a message, separated by commas; at least one.
pub(super) fn encode(message: &Message) -> String {
    match message {
        Message::System { text } => text_block(text),
        Message::User { parts } => said(parts),
        Message::Assistant {
            text,
            calls,
            opaque,
        } => assistant(text, calls, opaque.as_ref()),
        Message::Tool { call_id, parts, .. } => format!(
            r#"{{"type":"tool_result","tool_use_id":{},"content":[{}]}}"#,
            encoded(&portable_id(call_id)),
            said(parts)
        ),
    }
}

fn assistant(text: &str, calls: &[RawCall], opaque: Option<&Value>) -> String {
    // The provider requires thinking to come first.
    let thinking = opaque.and_then(|opaque| opaque.get(OPAQUE)?.get("thinking")?.as_array());
    let mut blocks: Vec<String> = thinking.into_iter().flatten().map(encoded).collect();
    if !text.trim().is_empty() || (blocks.is_empty() && calls.is_empty()) {
        blocks.push(text_block(text));
    }
    for (index, call) in calls.iter().enumerate() {
        blocks.push(format!(
            r#"{{"type":"tool_use","id":{},"name":{},"input":{}}}"#,
            encoded(&portable_id(&call_id(call, index))),
            encoded(&portable_name(&call.name)),
            portable_arguments(&call.arguments)
        ));
    }
    blocks.join(",")
}

fn said(parts: &[Part]) -> String {
    let said = parts.iter().filter_map(|part| match part {
        Part::Text(text) => (!text.trim().is_empty()).then(|| text_block(text)),
        Part::Image(image) => Some(image_block(image)),
    });
    let said: Vec<String> = said.collect();
    match said.is_empty() {
        true => text_block(""),
        false => said.join(","),
    }
}

fn text_block(text: &str) -> String {
    let is_empty = text.trim().is_empty();
    encoded(&json!({"type": "text", "text": if is_empty { NO_TEXT } else { text }}))
}

fn image_block(image: &Image) -> String {
    let source = match &image.source {
        ImageSource::Url(url) => json!({"type": "url", "url": url}),
        ImageSource::Base64(data) => {
            json!({"type": "base64", "media_type": image.media_type, "data": data})
        }
    };
    encoded(&json!({"type": "image", "source": source}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(message: &Message) -> Value {
        serde_json::from_str(&format!("[{}]", encode(message))).unwrap()
    }

    #[test]
    fn thinking_comes_back_first_and_unchanged() {
        let thinking = json!([
            {"type": "thinking", "thinking": "hm", "signature": "s1"},
            {"type": "redacted_thinking", "data": "x"},
        ]);
        let message = Message::Assistant {
            text: "Looking.".into(),
            calls: vec![RawCall {
                id: Some("toolu_1".into()),
                name: "weather".into(),
                arguments: "{\"city\":\"Paris\"}".into(),
            }],
            opaque: Some(json!({"anthropic": {"thinking": thinking}, "reasoning_details": [1]})),
        };
        let expected = json!([
            thinking[0],
            thinking[1],
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Paris"}},
        ]);
        assert_eq!(blocks(&message), expected);
    }

    #[test]
    fn no_block_is_empty() {
        let text = json!([{"type": "text", "text": "(no text)"}]);
        assert_eq!(blocks(&Message::assistant(" ")), text);
        assert_eq!(blocks(&Message::user("")), text);
        let result = Message::Tool {
            call_id: "a.b".into(),
            name: "weather".into(),
            parts: Vec::new(),
        };
        let expected = json!([{"type": "tool_result", "tool_use_id": "a_b", "content": text}]);
        assert_eq!(blocks(&result), expected);
    }

    #[test]
    fn pictures_go_by_value_or_by_address() {
        let message = Message::User {
            parts: vec![
                Part::Image(Image::from_base64("QQ", "image/png")),
                Part::Image(Image::from_url("https://h/a.png", "image/png")),
            ],
        };
        let expected = json!([
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ"}},
            {"type": "image", "source": {"type": "url", "url": "https://h/a.png"}},
        ]);
        assert_eq!(blocks(&message), expected);
    }
}
