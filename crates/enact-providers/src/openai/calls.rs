//! Assigns parts to tool calls.

use serde::Deserialize;
use serde_json::Value;

use super::decode::text;
use super::nesting::Nesting;
use enact_core::model::{Chunk, MAX_CALLS};

/// A part of a tool call.
#[derive(Debug, Deserialize)]
pub(super) struct CallDelta {
    index: Option<i64>,
    id: Option<Value>,
    function: Option<FunctionDelta>,
    /// Data that some servers require with the call, such as the signature of its thought.
    extra_content: Option<Value>,
}

/// The part that names the function.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionDelta {
    name: Option<Value>,
    arguments: Option<Value>,
}

impl CallDelta {
    /// A part in the format before tool calls existed.
    pub(super) fn legacy(function: FunctionDelta) -> Self {
        Self {
            index: Some(0),
            id: None,
            function: Some(function),
            extra_content: None,
        }
    }
}

#[derive(Debug, Default)]
struct Call {
    /// The index in the server's numbering.
    index: Option<i64>,
    id: Option<String>,
    name: String,
    arguments: Nesting,
    extra_content: Option<Value>,
}

/// The calls of a reply, numbered without gaps in the order in which they start. Beyond
/// [`MAX_CALLS`] everything belongs to one call: the reply is cut off there.
#[derive(Debug, Default)]
pub(super) struct Calls {
    list: Vec<Call>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Data to return with the calls, one object for each, or `None` if there is none.
    pub(super) fn extras(self) -> Option<Value> {
        if self.list.iter().all(|call| call.extra_content.is_none()) {
            return None;
        }
        let extras = self.list.into_iter().map(|call| {
            let fields = call
                .extra_content
                .map(|extra| ("extra_content".into(), extra));
            Value::Object(fields.into_iter().collect())
        });
        Some(extras.collect())
    }

    /// Takes a part, and returns it with the index of its call.
    pub(super) fn take(&mut self, delta: CallDelta) -> Chunk {
        let function = delta.function.unwrap_or_default();
        let (id, name) = (text(delta.id), text(function.name));
        let arguments = match function.arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            // Some servers send the object itself instead of its text.
            Some(other) => other.to_string(),
        };

        let known = self.find(delta.index, id.as_deref(), name.as_deref());
        let position = known.unwrap_or_else(|| {
            if self.list.len() <= MAX_CALLS {
                self.list.push(Call {
                    index: delta.index,
                    ..Call::default()
                });
            }
            self.list.len() - 1
        });
        let call = &mut self.list[position];
        // Servers repeat id and name in every part; each is reported once.
        let id = id.filter(|_| call.id.is_none());
        call.id = call.id.take().or_else(|| id.clone());
        let name = name.filter(|name| *name != call.name);
        call.name.push_str(name.as_deref().unwrap_or_default());
        call.arguments.push(&arguments);
        call.extra_content = delta.extra_content.or(call.extra_content.take());
        Chunk::Call {
            index: position,
            id,
            name,
            arguments,
        }
    }

    /// The call that a part continues, unless it starts one.
    fn find(&self, index: Option<i64>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let is_numbered_so = |call: &Call| index.is_none() || call.index == index;
        if id.is_some()
            && let Some(position) =
                self.last(|call| call.id.as_deref() == id && is_numbered_so(call))
        {
            return Some(position);
        }
        let position = self.last(is_numbered_so)?;
        let call = &self.list[position];
        let is_new = match name {
            // The same index with another id: some servers number every call 0.
            _ if id.is_some() && call.id.is_some() => true,
            None => false,
            // Without an index, another name means another call; with one, it may be the rest of a
            // name, unless the call is already complete.
            Some(name) => (index.is_none() && name != call.name) || call.arguments.is_complete(),
        };
        (!is_new).then_some(position)
    }

    fn last(&self, is_it: impl Fn(&Call) -> bool) -> Option<usize> {
        self.list.iter().rposition(is_it)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use enact_core::model::{FinishReason, RawCall, ReplyBuilder};

    fn fold(deltas: Value) -> Vec<RawCall> {
        let deltas = deltas.to_string();
        let deltas: Vec<CallDelta> = serde_json::from_str(&deltas).unwrap();
        let mut calls = Calls::default();
        let mut builder = ReplyBuilder::default();
        for delta in deltas {
            builder.push(calls.take(delta));
        }
        builder.push(Chunk::Finish(FinishReason::ToolCalls));
        builder.finish().unwrap().calls
    }

    fn raw(id: Option<&str>, name: &str, arguments: &str) -> RawCall {
        RawCall {
            id: id.map(str::to_owned),
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    #[test]
    fn gaps_in_the_numbering_are_closed() {
        let calls = fold(json!([
            {"index": 3, "id": "a", "function": {"name": "x", "arguments": "{\"n\""}},
            {"index": 7, "id": "b", "function": {"name": "y", "arguments": "{}"}},
            {"index": 3, "function": {"arguments": ":1}"}},
        ]));
        let expected = [raw(Some("a"), "x", "{\"n\":1}"), raw(Some("b"), "y", "{}")];
        assert_eq!(calls, expected);
    }

    #[test]
    fn another_id_under_the_same_number_is_another_call() {
        let calls = fold(json!([
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}},
            {"index": 0, "id": "b", "function": {"name": "x", "arguments": "{\"n\":"}},
            {"index": 0, "function": {"arguments": "2}"}},
        ]));
        let expected = [raw(Some("a"), "x", "{}"), raw(Some("b"), "x", "{\"n\":2}")];
        assert_eq!(calls, expected);
    }

    #[test]
    fn calls_without_numbers_are_told_apart_by_id() {
        let calls = fold(json!([
            {"id": "a", "function": {"name": "x", "arguments": "{\"n\""}},
            {"function": {"arguments": ":1}"}},
            {"id": "b", "function": {"name": "y", "arguments": "{\"m\""}},
            {"id": "b", "function": {"arguments": ":2}"}},
        ]));
        let expected = [
            raw(Some("a"), "x", "{\"n\":1}"),
            raw(Some("b"), "y", "{\"m\":2}"),
        ];
        assert_eq!(calls, expected);
    }

    #[test]
    fn whole_calls_with_neither_number_nor_id() {
        let calls = fold(json!([
            {"function": {"name": "x", "arguments": {"n": 1}}},
            {"id": "", "function": {"name": "x", "arguments": "{\"n\":2}"}},
        ]));
        let expected = [raw(None, "x", "{\"n\":1}"), raw(None, "x", "{\"n\":2}")];
        assert_eq!(calls, expected);
    }

    #[test]
    fn repeated_ids_and_names_are_told_once() {
        let calls = fold(json!([
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{"}},
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "}"}},
            {"index": 1, "function": {"name": "y", "arguments": "{"}},
            {"index": 1, "function": {"name": "y", "arguments": "}"}},
        ]));
        assert_eq!(calls, [raw(Some("a"), "x", "{}"), raw(None, "y", "{}")]);
    }

    #[test]
    fn one_id_for_all_calls_does_not_merge_them() {
        let calls = fold(json!([
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}},
            {"index": 1, "id": "a", "function": {"name": "y", "arguments": "{}"}},
        ]));
        assert_eq!(
            calls,
            [raw(Some("a"), "x", "{}"), raw(Some("a"), "y", "{}")]
        );
    }

    #[test]
    fn calls_without_anything_but_names() {
        let calls = fold(json!([
            {"function": {"name": "x"}},
            {"function": {"name": "y"}},
        ]));
        assert_eq!(calls, [raw(None, "x", ""), raw(None, "y", "")]);
    }

    #[test]
    fn an_id_may_come_late_and_arguments_never() {
        let calls = fold(json!([
            {"index": 0, "function": {"name": "now", "arguments": null}},
            {"index": 0, "id": "a"},
        ]));
        assert_eq!(calls, [raw(Some("a"), "now", "")]);
    }
}
