//! Converts data to forms that every server accepts.

use std::borrow::Cow;

use enact_core::model::{Image, Part, RawCall};
use serde::de::IgnoredAny;

/// The characters allowed in the name of a function or schema.
const MAX_NAME_LENGTH: usize = 64;

/// The arguments as written if they are a JSON object; servers reject anything else, and with it
/// the whole conversation.
pub(crate) fn portable_arguments(arguments: &str) -> &str {
    let is_object = arguments.trim_start().starts_with('{')
        && serde_json::from_str::<IgnoredAny>(arguments).is_ok();
    if is_object { arguments } else { "{}" }
}

/// The name if servers accept it, otherwise a similar valid one. Models invent names, and a rejected
/// one would end the conversation.
pub(crate) fn portable_name(name: &str) -> Cow<'_, str> {
    match name {
        "" => Cow::Borrowed("unnamed"),
        _ if name.len() <= MAX_NAME_LENGTH => portable_id(name),
        _ => Cow::Owned(name.chars().map(allowed).take(MAX_NAME_LENGTH).collect()),
    }
}

/// Ids of other providers may contain characters that are rejected here.
pub(crate) fn portable_id(id: &str) -> Cow<'_, str> {
    match id.chars().all(|character| allowed(character) == character) {
        true => Cow::Borrowed(id),
        false => Cow::Owned(id.chars().map(allowed).collect()),
    }
}

fn allowed(character: char) -> char {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
        _ => '_',
    }
}

/// The id of an earlier call. A call without one always gets the same id.
pub(crate) fn call_id(call: &RawCall, index: usize) -> Cow<'_, str> {
    match &call.id {
        Some(id) => Cow::Borrowed(id),
        None => Cow::Owned(format!("call_{index}")),
    }
}

pub(crate) fn images(parts: &[Part]) -> impl Iterator<Item = &Image> {
    parts.iter().filter_map(|part| match part {
        Part::Image(image) => Some(image),
        Part::Text(_) => None,
    })
}

/// The text before images that a tool returned, if they are sent in a separate message.
pub(crate) fn shown_by(tool: &str, call_id: &str) -> String {
    format!("Images returned by `{tool}` ({call_id}):")
}

#[cfg(test)]
mod tests {
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
}
