//! Parses replies in the chat-completions format, tolerating the differences between servers.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::calls::{CallDelta, Calls, FunctionDelta};
use crate::http::{Decode, DecodeError, End, SoFar};
use enact_core::model::{Chunk, FinishReason, Usage};

/// Nearly all values are texts; some servers send other types.
#[derive(Debug, Deserialize)]
struct Event<'a> {
    choices: Option<Vec<Choice>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    error: Option<Value>,
    /// Some servers report an error without wrapping it.
    object: Option<Value>,
    message: Option<Value>,
    code: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    index: Option<i64>,
    delta: Option<Delta>,
    message: Option<Delta>,
    finish_reason: Option<Value>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta {
    content: Option<Value>,
    refusal: Option<Value>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    reasoning_details: Option<Vec<Value>>,
    tool_calls: Option<Vec<CallDelta>>,
    function_call: Option<FunctionDelta>,
}

/// Which of its reasoning is returned to the model with the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Returned {
    /// What the server sends for that purpose.
    #[default]
    Details,
    /// Also the visible reasoning before tool calls.
    Reasoning,
}

/// Turns the events of one reply into chunks.
#[derive(Debug, Default)]
pub struct Decoder {
    returned: Returned,
    reasoning: String,
    calls: Calls,
    reasoning_details: Vec<Value>,
}

impl Decoder {
    pub(super) fn new(returned: Returned) -> Self {
        Self {
            returned,
            ..Self::default()
        }
    }

    fn choice(&mut self, choice: Choice, reply: &mut SoFar) -> Result<(), DecodeError> {
        if let Some(error) = choice.error {
            return Err(DecodeError::Reported(error));
        }
        let delta = choice.delta.or(choice.message).unwrap_or_default();
        // Servers that send both spellings send the same text twice.
        let reasoning = text(delta.reasoning_content).or_else(|| text(delta.reasoning));
        if let (Returned::Reasoning, Some(reasoning)) = (self.returned, &reasoning) {
            self.reasoning.push_str(reasoning);
        }
        reply.push_text(reasoning, Chunk::Reasoning);
        match delta.content {
            // It may be a list of typed parts.
            Some(Value::Array(parts)) => parts.into_iter().for_each(|part| push_part(part, reply)),
            content => reply.push_text(text(content), Chunk::Text),
        }
        // A refusal replaces the content.
        reply.push_text(text(delta.refusal), Chunk::Text);
        for detail in delta.reasoning_details.into_iter().flatten() {
            reply.kept_bytes += merge_detail(&mut self.reasoning_details, detail);
        }
        for call in delta.tool_calls.into_iter().flatten() {
            reply.push(self.calls.take(call));
        }
        if let Some(function) = delta.function_call {
            reply.push(self.calls.take(CallDelta::legacy(function)));
        }
        match text(choice.finish_reason).as_deref() {
            None => {}
            Some("content_filter") => return Err(DecodeError::Filtered),
            Some("error" | "abort") => {
                let error = Value::from("the server gave up on the reply");
                return Err(DecodeError::Reported(error));
            }
            Some("length" | "max_tokens") => reply.finish = Some(FinishReason::Length),
            Some(_) => reply.finish = Some(FinishReason::Stop),
        }
        Ok(())
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &[u8], reply: &mut SoFar) -> Result<(), DecodeError> {
        if data == b"[DONE]" {
            reply.is_done = true;
            return Ok(());
        }
        self.whole(data, reply)
    }

    fn whole(&mut self, data: &[u8], reply: &mut SoFar) -> Result<(), DecodeError> {
        // Checked once, not text by text.
        let data = str::from_utf8(data)
            .map_err(|_| DecodeError::Malformed("there are bytes that are not UTF-8".into()))?;
        let event: Event =
            serde_json::from_str(data).map_err(|error| DecodeError::malformed(&error))?;
        if let Some(error) = event.error {
            return Err(DecodeError::Reported(error));
        }
        reply.usage = event.usage.and_then(read_usage).or(reply.usage);
        let Some(choices) = event.choices else {
            let is_error = event.object.is_some_and(|object| object == "error");
            return match event.message {
                Some(message) if is_error || event.code.is_some() => {
                    let code = event.code.unwrap_or_default();
                    let error = json!({"message": message, "code": code});
                    Err(DecodeError::Reported(error))
                }
                // An event with only usage, or nothing at all, is harmless.
                _ if !reply.is_done => Ok(()),
                _ => Err(DecodeError::Malformed("there is no `choices` field".into())),
            };
        };
        // Only one reply is requested; a second one would be mixed into the first.
        let mut first = choices.into_iter();
        let mut first = first
            .by_ref()
            .filter(|choice| choice.index.unwrap_or(0) == 0);
        first.try_for_each(|choice| self.choice(choice, reply))
    }

    fn end(self) -> End {
        let has_calls = !self.calls.is_empty();
        let mut fields = Map::new();
        if !self.reasoning_details.is_empty() {
            let details = Value::Array(self.reasoning_details);
            fields.insert("reasoning_details".into(), details);
        }
        if !self.reasoning.is_empty() && has_calls {
            fields.insert("reasoning_content".into(), self.reasoning.into());
        }
        if let Some(extras) = self.calls.extras() {
            fields.insert("tool_calls".into(), extras);
        }
        End { fields, has_calls }
    }
}

fn push_part(mut part: Value, reply: &mut SoFar) {
    let mut field = |name| part.get_mut(name).map(Value::take);
    if let Some(said) = field("text") {
        return reply.push_text(text(Some(said)), Chunk::Text);
    }
    match field("thinking") {
        Some(Value::Array(pieces)) => {
            for mut piece in pieces {
                let thought = piece.get_mut("text").map(Value::take);
                reply.push_text(text(thought), Chunk::Reasoning);
            }
        }
        thought => reply.push_text(text(thought), Chunk::Reasoning),
    }
}

/// The text, if it is one and not empty.
pub(super) fn text(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Parts of a detail have the same index and type: their texts are concatenated, and later fields, such
/// as a signature, complete it. It is returned as one list. Returns the number of additional
/// bytes.
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

/// What a reply cost. Each part is missing somewhere, and something else elsewhere.
#[derive(Deserialize)]
struct Counts {
    #[serde(default)]
    prompt_tokens: Count,
    #[serde(default)]
    completion_tokens: Count,
    #[serde(default)]
    prompt_cache_hit_tokens: Count,
    prompt_tokens_details: Option<Value>,
    completion_tokens_details: Option<Value>,
}

/// A number of tokens, or what a server has in its place.
#[derive(Deserialize)]
#[serde(untagged)]
enum Count {
    Tokens(u64),
    Other(IgnoredAny),
}

impl Default for Count {
    fn default() -> Self {
        Self::Other(IgnoredAny)
    }
}

impl Count {
    fn tokens(&self) -> Option<u64> {
        match self {
            Self::Tokens(tokens) => Some(*tokens),
            Self::Other(_) => None,
        }
    }
}

fn read_usage(usage: &RawValue) -> Option<Usage> {
    let counts: Counts = serde_json::from_str(usage.get()).ok()?;
    let detail = |group: &Option<Value>, name: &str| group.as_ref()?.get(name)?.as_u64();
    let mut read = Usage::of_request(
        counts.prompt_tokens.tokens().unwrap_or(0),
        counts.completion_tokens.tokens().unwrap_or(0),
    );
    read.cached_input_tokens = detail(&counts.prompt_tokens_details, "cached_tokens")
        .or_else(|| counts.prompt_cache_hit_tokens.tokens())
        .unwrap_or(0);
    read.reasoning_tokens =
        detail(&counts.completion_tokens_details, "reasoning_tokens").unwrap_or(0);
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use enact_core::model::{Reply, ReplyBuilder};

    fn decode(deltas: &[Value]) -> Reply {
        let mut decoder = Decoder::default();
        let mut reply = SoFar::default();
        for delta in deltas {
            let event = json!({"choices": [{"delta": delta}]});
            decoder
                .event(event.to_string().as_bytes(), &mut reply)
                .unwrap();
        }
        reply.end(decoder);
        let mut builder = ReplyBuilder::default();
        reply
            .ready
            .into_iter()
            .for_each(|chunk| builder.push(chunk));
        builder.finish().unwrap()
    }

    fn take(event: Value) -> Result<(), DecodeError> {
        Decoder::default().event(event.to_string().as_bytes(), &mut SoFar::default())
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
            .event(b"{\"choices\": \"private\"", &mut SoFar::default())
            .unwrap_err();
        let DecodeError::Malformed(text) = error else {
            unreachable!("{error:?}")
        };
        assert!(!text.contains("private"), "{text}");
    }
}
