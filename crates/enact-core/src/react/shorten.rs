//! Shortens large observations in prompts: the beginning and end, still structured as JSON. The log keeps
//! all of it.

use std::borrow::Cow;

use serde_json::Value;

use crate::run::{Entry, Observation, ToolResult};

/// The approximate number of characters per token.
const CHARACTERS: usize = 4;

/// An entry with observations of at most this many tokens; 0 for no limit. `hint` describes how to read
/// the rest of a call's observation, if that is possible.
pub(super) fn entry<'a>(
    entry: &'a Entry,
    tokens: u32,
    hint: impl Fn(&str) -> Option<String>,
) -> Cow<'a, Entry> {
    let Entry::Results { results } = entry else {
        return Cow::Borrowed(entry);
    };
    let limit = tokens as usize * CHARACTERS;
    let is_large = |result: &ToolResult| is_large(&result.observation.value, tokens);
    if !results.iter().any(is_large) {
        return Cow::Borrowed(entry);
    }
    let results = results.iter().map(|result| {
        if !is_large(result) {
            return result.clone();
        }
        let hint = hint(&result.call_id).unwrap_or_default();
        let value = match &result.observation.summary {
            Some(summary) => {
                let length = result.observation.text().chars().count();
                format!("{summary}\n[This is a summary of {length} characters{hint}.]").into()
            }
            None => shorten(&result.observation.value, limit, &hint),
        };
        ToolResult {
            observation: Observation {
                value,
                ..result.observation.clone()
            },
            ..result.clone()
        }
    });
    Cow::Owned(Entry::Results {
        results: results.collect(),
    })
}

/// Whether a value takes more than this many tokens; 0 for no limit.
pub(super) fn is_large(value: &Value, tokens: u32) -> bool {
    tokens > 0 && size(value) > tokens as usize * CHARACTERS
}

/// A value of at most about this many tokens, as text.
pub(super) fn text(value: &Value, tokens: u32) -> String {
    let short = shorten(value, tokens as usize * CHARACTERS, "");
    Observation::value(short).text()
}

/// The number of characters of a value.
fn size(value: &Value) -> usize {
    match value {
        Value::Null => 4,
        Value::Bool(_) => 5,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text.chars().count() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Value::Object(entries) => {
            let entries = entries.iter();
            2 + entries
                .map(|(key, value)| key.chars().count() + size(value) + 4)
                .sum::<usize>()
        }
    }
}

/// A value of about `limit` characters: the beginning and end of texts and lists, and as many keys of
/// objects as fit.
fn shorten(value: &Value, limit: usize, hint: &str) -> Value {
    if size(value) <= limit {
        return value.clone();
    }
    match value {
        Value::String(text) => Value::String(shorten_text(text, limit, hint)),
        Value::Array(items) => Value::Array(shorten_list(items, limit, hint)),
        Value::Object(entries) => {
            let mut kept = serde_json::Map::new();
            let mut room = limit;
            let mut left = entries.len();
            for (key, value) in entries {
                let share = room / left.max(1);
                let cost = key.chars().count() + 8;
                if cost >= room {
                    kept.insert("…".to_owned(), format!("{left} keys left out{hint}").into());
                    break;
                }
                let shown = shorten(value, share.saturating_sub(cost), hint);
                room = room.saturating_sub(cost + size(&shown));
                left -= 1;
                kept.insert(key.clone(), shown);
            }
            Value::Object(kept)
        }
        other => other.clone(),
    }
}

fn shorten_text(text: &str, limit: usize, hint: &str) -> String {
    let length = text.chars().count();
    let head = limit * 2 / 3;
    let tail = limit / 3;
    let left_out = length.saturating_sub(head + tail);
    // The mark takes room too.
    if left_out <= 32 + hint.len() {
        return text.to_owned();
    }
    let at = |character: usize| {
        let place = text.char_indices().nth(character);
        place.map_or(text.len(), |(index, _)| index)
    };
    format!(
        "{} … {left_out} characters left out{hint} … {}",
        &text[..at(head)],
        &text[at(length - tail)..]
    )
}

fn shorten_list(items: &[Value], limit: usize, hint: &str) -> Vec<Value> {
    let mut head = 0;
    let mut room = limit * 2 / 3;
    while head < items.len() && size(&items[head]) < room {
        room -= size(&items[head]) + 1;
        head += 1;
    }
    let mut tail = items.len();
    let mut room = limit / 3;
    while tail > head && size(&items[tail - 1]) < room {
        room -= size(&items[tail - 1]) + 1;
        tail -= 1;
    }
    let mut kept = items[..head].to_vec();
    let mut left_out = tail - head;
    if head == 0 && left_out > 0 {
        // Part of the first rather than nothing.
        kept.push(shorten(&items[0], limit * 2 / 3, hint));
        left_out -= 1;
    }
    if left_out > 0 {
        kept.push(format!("… {left_out} items left out{hint} …").into());
    }
    kept.extend(items[tail..].iter().cloned());
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn shown(value: Value, tokens: u32) -> Value {
        let results = vec![ToolResult {
            call_id: "c".to_owned(),
            name: "t".to_owned(),
            observation: Observation::value(value),
        }];
        let whole = Entry::Results { results };
        match entry(&whole, tokens, |_| None).into_owned() {
            Entry::Results { mut results } => results.remove(0).observation.value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn texts_keep_head_and_tail() {
        let text = format!("begin{}end", "x".repeat(1_000));
        let Value::String(short) = shown(text.clone().into(), 25) else {
            panic!("a text")
        };
        assert!(
            short.starts_with("begin") && short.ends_with("end"),
            "{short}"
        );
        assert!(short.contains("characters left out"), "{short}");
        assert_eq!(shown(text.clone().into(), 0), Value::String(text.clone()));
        assert_eq!(shown(text.clone().into(), 300), Value::String(text));
    }

    #[test]
    fn structure_stays() {
        let rows: Vec<Value> = (0..200).map(|n| json!({"n": n, "name": "row"})).collect();
        let short = shown(json!({"total": 200, "rows": rows}), 100);
        assert_eq!(short["total"], 200);
        let rows = short["rows"].as_array().unwrap();
        assert_eq!(rows.first().unwrap()["n"], 0);
        assert_eq!(rows.last().unwrap()["n"], 199);
        assert!(
            rows.iter()
                .any(|row| row.as_str().is_some_and(|text| text.contains("left out")))
        );
    }

    proptest! {
            #[test]
            fn a_shortened_value_is_about_as_long_as_it_may_be(
                texts in prop::collection::vec(".{0,80}", 0..60),
                tokens in 20_u32..200,
            ) {
                let value = json!({"texts": texts, "nested": [{"again": texts}]});
                let short = shown(value.clone(), tokens);
                // The marks of what is left out come on top.
                prop_assert!(size(&short) <= tokens as usize * CHARACTERS + 300, "{short}");
    // What is hardly too long may stay as it is.
                if size(&value) <= tokens as usize * CHARACTERS {
                    prop_assert_eq!(short, value);
                }
            }
        }
}
