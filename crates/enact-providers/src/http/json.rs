//! JSON written by hand, where the order of fields and the bytes of a prefix matter.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use enact_core::model::{ModelError, ModelErrorKind};

/// What the protocols allow in the name of a function or schema.
const MAX_NAME_LENGTH: usize = 64;

/// Writes the fields of an object. A field of `extra` replaces ours; `null` leaves it out.
pub(crate) struct Fields<'a> {
    out: String,
    extra: &'a Map<String, Value>,
    placed: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// Begins the object, with room for so many bytes. `reserved` cannot be replaced: what the client
    /// reads back follows from it.
    pub(crate) fn new(
        extra: &'a Map<String, Value>,
        reserved: &[&str],
        room: usize,
    ) -> Result<Self, ModelError> {
        if let Some(key) = reserved.iter().find(|key| extra.contains_key(**key)) {
            return Err(ModelError::new(
                ModelErrorKind::InvalidRequest,
                format!(
                    "`{key}` cannot be an extra model option: remove it from `ModelOptions::extra`"
                ),
            ));
        }
        let mut out = String::with_capacity(room);
        out.push('{');
        Ok(Self {
            out,
            extra,
            placed: Vec::with_capacity(16),
        })
    }

    pub(crate) fn put(&mut self, key: &'static str, write: Option<impl FnOnce(&mut String)>) {
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

    /// Leaves a field out, whatever was asked for.
    pub(crate) fn leave_out(&mut self, key: &'static str) {
        self.placed.push(key);
    }

    pub(crate) fn put_number(&mut self, key: &'static str, value: Option<impl Into<Value>>) {
        let value: Option<Value> = value.map(Into::into);
        self.put(
            key,
            value.map(|value| move |out: &mut String| push_value(out, &value)),
        );
    }

    pub(crate) fn finish(mut self) -> String {
        for (key, value) in self.extra {
            if !value.is_null() && !self.placed.contains(&key.as_str()) {
                push_field(&mut self.out, key, value);
            }
        }
        self.out
    }
}

/// The arguments as written if they are a JSON object; servers refuse anything else, and with it
/// the whole conversation.
pub(crate) fn portable_arguments(arguments: &str) -> &str {
    let is_object = arguments.trim_start().starts_with('{')
        && serde_json::from_str::<IgnoredAny>(arguments).is_ok();
    if is_object { arguments } else { "{}" }
}

/// The name if servers take it, else the nearest one they do. Models invent names, and a refused
/// one would end the conversation.
pub(crate) fn portable_name(name: &str) -> Cow<'_, str> {
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

pub(crate) fn push_separated<T>(
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

pub(crate) fn push_field(out: &mut String, key: &str, value: &Value) {
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

pub(crate) fn push_value(out: &mut String, value: &Value) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{value}");
}

/// Which bytes cannot stand in a JSON string as they are.
const IS_ESCAPED: [bool; 256] = {
    let mut is_escaped = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        is_escaped[byte] = true;
        byte += 1;
    }
    is_escaped[b'"' as usize] = true;
    is_escaped[b'\\' as usize] = true;
    is_escaped
};

/// Writes a JSON string without the detour over a value.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| IS_ESCAPED[usize::from(byte)]) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            // Writing to a string cannot fail.
            byte => drop(write!(out, "\\u{byte:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
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
