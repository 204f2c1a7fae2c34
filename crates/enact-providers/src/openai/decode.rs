//! Replies in the chat-completions form, as tolerant as the servers are different.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::calls::{CallDelta, Calls, FunctionDelta};
use super::loose::Loose;
use crate::http::{Decode, DecodeError};
use enact_core::model::{Chunk, FinishReason, Usage};

#[derive(Debug, Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<Loose<'a>>,
    error: Option<Value>,
    /// Some servers report a failure without wrapping it.
    object: Option<Loose<'a>>,
    message: Option<Loose<'a>>,
    code: Option<Loose<'a>>,
}

#[derive(Debug, Deserialize)]
struct Choice<'a> {
    index: Option<i64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    message: Option<Delta<'a>>,
    finish_reason: Option<Loose<'a>>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<Loose<'a>>,
    refusal: Option<Loose<'a>>,
    reasoning_content: Option<Loose<'a>>,
    reasoning: Option<Loose<'a>>,
    reasoning_details: Option<Vec<Value>>,
    tool_calls: Option<Vec<CallDelta<'a>>>,
    function_call: Option<FunctionDelta<'a>>,
}

/// What of its reasoning the model gets back with the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Returned {
    /// What the server hands over for that purpose.
    #[default]
    Details,
    /// Also the visible reasoning behind tool calls.
    Reasoning,
}

/// Turns the events of one reply into chunks.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    returned: Returned,
    reasoning: String,
    calls: Calls,
    reasoning_details: Vec<Value>,
    kept_bytes: usize,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    is_done: bool,
    has_events: bool,
}

impl Decoder {
    pub(super) fn new(returned: Returned) -> Self {
        Self {
            returned,
            ..Self::default()
        }
    }

    fn take(&mut self, data: &[u8], out: &mut VecDeque<Chunk>) -> Result<(), DecodeError> {
        // Checked once, and not text by text.
        let data = str::from_utf8(data)
            .map_err(|_| DecodeError::Malformed("there are bytes that are not UTF-8".into()))?;
        let event: Event<'_> =
            serde_json::from_str(data).map_err(|error| DecodeError::malformed(&error))?;
        if let Some(error) = event.error.filter(|error| !error.is_null()) {
            return Err(DecodeError::Reported(error));
        }
        if let Some(Loose::Other(usage)) = &event.usage {
            self.usage = read_usage(usage).or(self.usage);
        }
        let Some(choices) = event.choices else {
            let object = event.object.as_ref().and_then(Loose::text);
            let is_error = object == Some("error");
            return match event.message {
                Some(message) if is_error || event.code.is_some() => {
                    let mut error = Map::new();
                    let code = event.code.map(Loose::into_value);
                    error.insert("message".into(), message.into_value());
                    error.insert("code".into(), code.unwrap_or_default());
                    Err(DecodeError::Reported(Value::Object(error)))
                }
                // An event with nothing but a cost, or nothing at all, does no harm.
                _ if !self.is_done => Ok(()),
                _ => Err(DecodeError::Malformed("there is no `choices` field".into())),
            };
        };
        // Only one reply is asked for; a second one would be mixed into the first.
        for choice in choices
            .into_iter()
            .filter(|choice| choice.index.unwrap_or(0) == 0)
        {
            self.choice(choice, out)?;
        }
        Ok(())
    }

    fn choice(&mut self, choice: Choice<'_>, out: &mut VecDeque<Chunk>) -> Result<(), DecodeError> {
        if let Some(error) = choice.error.filter(|error| !error.is_null()) {
            return Err(DecodeError::Reported(error));
        }
        let delta = choice.delta.or(choice.message).unwrap_or_default();
        // Servers that send both spellings send the same text twice.
        let reasoning = text_of(&delta.reasoning_content).or_else(|| text_of(&delta.reasoning));
        if self.returned == Returned::Reasoning {
            self.reasoning.push_str(reasoning.unwrap_or_default());
        }
        out.extend(reasoning.map(|text| Chunk::Reasoning(text.to_owned())));
        match delta.content.map(Loose::into_value) {
            Some(Value::Array(parts)) => parts.into_iter().for_each(|part| push_part(part, out)),
            other => out.extend(some_text(other).map(Chunk::Text)),
        }
        // A refusal stands in place of the content.
        out.extend(text_of(&delta.refusal).map(|text| Chunk::Text(text.to_owned())));
        for detail in delta.reasoning_details.into_iter().flatten() {
            self.kept_bytes += merge_detail(&mut self.reasoning_details, detail);
        }
        for call in delta.tool_calls.into_iter().flatten() {
            out.push_back(self.calls.take(call));
        }
        if let Some(function) = delta.function_call {
            out.push_back(self.calls.take(CallDelta::legacy(function)));
        }
        match text_of(&choice.finish_reason) {
            None => {}
            Some("content_filter") => return Err(DecodeError::Filtered),
            Some("error" | "abort") => {
                let error = Value::from("the server gave up on the reply");
                return Err(DecodeError::Reported(error));
            }
            Some("length" | "max_tokens") => self.finish = Some(FinishReason::Length),
            Some(_) => self.finish = Some(FinishReason::Stop),
        }
        Ok(())
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &[u8], out: &mut VecDeque<Chunk>) -> Result<(), DecodeError> {
        let data = data.trim_ascii();
        if self.is_done || data.is_empty() {
            return Ok(());
        }
        self.has_events = true;
        if data == b"[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        self.take(data, out)
    }

    fn whole(&mut self, body: &[u8], out: &mut VecDeque<Chunk>) -> Result<(), DecodeError> {
        self.has_events = true;
        self.is_done = true;
        self.take(body, out)
    }

    fn is_whole(&self) -> bool {
        self.is_done || self.finish.is_some()
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn has_events(&self) -> bool {
        self.has_events
    }

    fn kept_bytes(&self) -> usize {
        self.kept_bytes
    }

    fn finish(self, out: &mut VecDeque<Chunk>) {
        // Servers disagree on what to call the end of a turn with calls; the calls decide.
        let finish = match self.finish {
            Some(FinishReason::Length) => FinishReason::Length,
            _ if self.calls.is_empty() => FinishReason::Stop,
            _ => FinishReason::ToolCalls,
        };
        let mut fields = Map::new();
        if !self.reasoning_details.is_empty() {
            let details = Value::Array(self.reasoning_details);
            fields.insert("reasoning_details".into(), details);
        }
        if !self.reasoning.is_empty() && !self.calls.is_empty() {
            fields.insert("reasoning_content".into(), self.reasoning.into());
        }
        if let Some(extras) = self.calls.extras() {
            fields.insert("tool_calls".into(), extras);
        }
        if !fields.is_empty() {
            out.push_back(Chunk::Opaque(fields));
        }
        out.extend(self.usage.map(Chunk::Usage));
        out.push_back(Chunk::Finish(finish));
    }
}

/// Content may come as a list of typed parts.
fn push_part(mut part: Value, out: &mut VecDeque<Chunk>) {
    if let Some(text) = part.get_mut("text").map(Value::take) {
        out.extend(some_text(Some(text)).map(Chunk::Text));
        return;
    }
    match part.get_mut("thinking").map(Value::take) {
        Some(Value::Array(pieces)) => out.extend(
            pieces
                .into_iter()
                .filter_map(|mut piece| some_text(piece.get_mut("text").map(Value::take)))
                .map(Chunk::Reasoning),
        ),
        other => out.extend(some_text(other).map(Chunk::Reasoning)),
    }
}

fn text_of<'a>(value: &'a Option<Loose<'_>>) -> Option<&'a str> {
    value.as_ref().and_then(Loose::text)
}

fn some_text(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Pieces of one detail carry the same index and type: their texts follow each other, and what
/// comes late, such as a signature, completes the whole. It is given back as one list.
/// Says how many bytes there are more.
fn merge_detail(known: &mut Vec<Value>, detail: Value) -> usize {
    let key = |value: &Value| (value.get("index").cloned(), value.get("type").cloned());
    let continued = known
        .last_mut()
        .filter(|last| last.get("index").is_some() && key(last) == key(&detail));
    let (Some(Value::Object(last)), Value::Object(fields)) = (continued, &detail) else {
        let bytes = detail.to_string().len();
        known.push(detail);
        return bytes;
    };
    let mut bytes = 0;
    for (name, value) in fields {
        let is_streamed = matches!(name.as_str(), "text" | "summary" | "data");
        match (last.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(more)) if is_streamed => {
                text.push_str(more);
                bytes += more.len();
            }
            (Some(_), Value::Null) => {}
            _ => {
                last.insert(name.clone(), value.clone());
            }
        }
    }
    bytes
}

fn read_usage(usage: &Value) -> Option<Usage> {
    let usage = usage.as_object()?;
    let count = |name: &str| usage.get(name)?.as_u64();
    let detail = |group: &str, name: &str| usage.get(group)?.get(name)?.as_u64();
    let mut read = Usage::of_request(
        count("prompt_tokens").unwrap_or(0),
        count("completion_tokens").unwrap_or(0),
    );
    read.cached_input_tokens = detail("prompt_tokens_details", "cached_tokens")
        .or_else(|| count("prompt_cache_hit_tokens"))
        .unwrap_or(0);
    read.reasoning_tokens = detail("completion_tokens_details", "reasoning_tokens").unwrap_or(0);
    Some(read)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use enact_core::model::{Reply, ReplyBuilder};

    fn decode(deltas: &[Value]) -> Reply {
        let mut decoder = Decoder::default();
        let mut out = VecDeque::new();
        for delta in deltas {
            let event = json!({"choices": [{"delta": delta}]});
            decoder
                .event(event.to_string().as_bytes(), &mut out)
                .unwrap();
        }
        decoder.finish(&mut out);
        let mut builder = ReplyBuilder::default();
        out.into_iter().for_each(|chunk| builder.push(chunk));
        builder.finish().unwrap()
    }

    fn take(event: Value) -> Result<(), DecodeError> {
        Decoder::default().event(event.to_string().as_bytes(), &mut VecDeque::new())
    }

    #[test]
    fn reasoning_in_both_spellings_is_taken_once() {
        let reply = decode(&[
            json!({"reasoning_content": "a", "reasoning": "a"}),
            json!({"reasoning": "b"}),
            json!({"content": "c"}),
        ]);
        assert_eq!((reply.reasoning.as_str(), reply.text.as_str()), ("ab", "c"));
    }

    #[test]
    fn content_parts_are_told_apart() {
        let reply = decode(&[json!({"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "yes"},
        ]})]);
        assert_eq!(
            (reply.reasoning.as_str(), reply.text.as_str()),
            ("hm", "yes")
        );
    }

    #[test]
    fn reasoning_details_are_put_together_again() {
        let reply = decode(&[
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "a"}]}),
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "b"}]}),
            json!({"reasoning_details": [
                {"type": "reasoning.text", "index": 0, "signature": "s"},
                {"type": "reasoning.encrypted", "index": 1, "data": "x"},
            ]}),
        ]);
        let expected = json!({"reasoning_details": [
            {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
            {"type": "reasoning.encrypted", "index": 1, "data": "x"},
        ]});
        assert_eq!(reply.opaque, Some(expected));
    }

    #[test]
    fn what_belongs_to_a_call_goes_back_with_it() {
        let extra = json!({"google": {"thought_signature": "s"}});
        let reply = decode(&[
            json!({"tool_calls": [{"index": 0, "function": {"name": "x"}}]}),
            json!({"tool_calls": [
                {"index": 1, "function": {"name": "y"}, "extra_content": extra},
            ]}),
        ]);
        let expected = json!({"tool_calls": [{}, {"extra_content": extra}]});
        assert_eq!(reply.opaque, Some(expected));
    }

    #[test]
    fn failures_are_found_in_every_place() {
        let error = json!({"message": "m"});
        let reported = Err(DecodeError::Reported(error.clone()));
        assert_eq!(take(json!({"error": error})), reported);
        assert_eq!(take(json!({"choices": [{"error": error}]})), reported);
        let bare = json!({"object": "error", "message": "m", "code": 400});
        let expected = json!({"message": "m", "code": 400});
        assert_eq!(take(bare), Err(DecodeError::Reported(expected)));
        let filtered = json!({"choices": [{"delta": {}, "finish_reason": "content_filter"}]});
        assert_eq!(take(filtered), Err(DecodeError::Filtered));
    }

    #[test]
    fn odd_but_harmless_events_are_taken() {
        for event in [
            json!({}),
            json!({"choices": null}),
            json!({"choices": [], "usage": null}),
            json!({"choices": [{"delta": null}]}),
            json!({"choices": [{"delta": {"content": null, "tool_calls": null}}]}),
            json!({"choices": [{"index": 1, "delta": {"content": "other"}}], "error": null}),
        ] {
            assert_eq!(take(event.clone()), Ok(()), "{event}");
        }
    }

    #[test]
    fn a_broken_event_is_described_without_its_text() {
        let mut decoder = Decoder::default();
        let error = decoder
            .event(b"{\"choices\": \"private\"", &mut VecDeque::new())
            .unwrap_err();
        let DecodeError::Malformed(text) = error else {
            unreachable!("{error:?}")
        };
        assert!(!text.contains("private"), "{text}");
    }
}
