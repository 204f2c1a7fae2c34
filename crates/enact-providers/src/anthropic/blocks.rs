//! Messages as content blocks.

use serde_json::Value;

use crate::http::json::{
    portable_arguments, portable_name, push_separated, push_string, push_value,
};
use enact_core::model::{Image, ImageSource, Message, Part, RawCall};

/// The field of an assistant message under which what the provider wants back is kept.
pub(super) const OPAQUE: &str = "anthropic";
/// Blocks of text must not be empty.
const NO_TEXT: &str = "(no text)";

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

impl Role {
    pub(super) fn of(message: &Message) -> Self {
        match message {
            Message::Assistant { .. } => Self::Assistant,
            // Only the first instructions stand above the conversation; later ones are part of it.
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
    let mut out = String::new();
    match message {
        Message::System { text } => push_text(&mut out, text),
        Message::User { parts } => push_parts(&mut out, parts),
        Message::Assistant {
            text,
            calls,
            opaque,
        } => push_assistant(&mut out, text, calls, opaque.as_ref()),
        Message::Tool { call_id, parts, .. } => {
            out.push_str("{\"type\":\"tool_result\",\"tool_use_id\":");
            push_string(&mut out, &portable_id(call_id));
            out.push_str(",\"content\":[");
            push_parts(&mut out, parts);
            out.push_str("]}");
        }
    }
    out
}

fn push_assistant(out: &mut String, text: &str, calls: &[RawCall], opaque: Option<&Value>) {
    // Thinking comes first: the provider checks that it does.
    let thinking = opaque.and_then(|opaque| opaque.get(OPAQUE)?.get("thinking")?.as_array());
    for block in thinking.into_iter().flatten() {
        push_comma(out);
        push_value(out, block);
    }
    if !text.trim().is_empty() || (out.is_empty() && calls.is_empty()) {
        push_comma(out);
        push_text(out, text);
    }
    for (index, call) in calls.iter().enumerate() {
        push_comma(out);
        out.push_str("{\"type\":\"tool_use\",\"id\":");
        match &call.id {
            Some(id) => push_string(out, &portable_id(id)),
            None => push_string(out, &format!("call_{index}")),
        }
        out.push_str(",\"name\":");
        push_string(out, &portable_name(&call.name));
        out.push_str(",\"input\":");
        out.push_str(portable_arguments(&call.arguments));
        out.push('}');
    }
}

/// Ids of other providers may have characters that are refused here.
fn portable_id(id: &str) -> String {
    let allowed = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
        _ => '_',
    };
    id.chars().map(allowed).collect()
}

fn push_parts(out: &mut String, parts: &[Part]) {
    let said = parts.iter().filter(|part| match part {
        Part::Text(text) => !text.trim().is_empty(),
        Part::Image(_) => true,
    });
    let said: Vec<&Part> = said.collect();
    if said.is_empty() {
        return push_text(out, "");
    }
    push_separated(out, said, |out, part| match part {
        Part::Text(text) => push_text(out, text),
        Part::Image(image) => push_image(out, image),
    });
}

pub(super) fn push_text(out: &mut String, text: &str) {
    out.push_str("{\"type\":\"text\",\"text\":");
    push_string(
        out,
        if text.trim().is_empty() {
            NO_TEXT
        } else {
            text
        },
    );
    out.push('}');
}

fn push_image(out: &mut String, image: &Image) {
    out.push_str("{\"type\":\"image\",\"source\":{");
    match &image.source {
        ImageSource::Url(url) => {
            out.push_str("\"type\":\"url\",\"url\":");
            push_string(out, url);
        }
        ImageSource::Base64(data) => {
            out.push_str("\"type\":\"base64\",\"media_type\":");
            push_string(out, &image.media_type);
            out.push_str(",\"data\":");
            push_string(out, data);
        }
    }
    out.push_str("}}");
}

fn push_comma(out: &mut String) {
    if !out.is_empty() {
        out.push(',');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
