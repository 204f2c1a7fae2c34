//! A scripted reply in the two forms of the chat-completions protocol.

use serde_json::{Value, json};

pub(crate) const DONE: &[u8] = b"data: [DONE]\n\n";
const MODEL: &str = "test-model";

#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) usage: Option<Spent>,
    pub(crate) finish_reason: Option<String>,
    /// Characters per streamed chunk; everything at once if `None`.
    pub(crate) piece: Option<usize>,
    pub(crate) is_interleaved: bool,
    pub(crate) ending: Ending,
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cached_tokens: u64,
    pub(crate) reasoning_tokens: u64,
}

/// How a reply ends.
#[derive(Debug, Clone, Default)]
pub(crate) enum Ending {
    #[default]
    Complete,
    Error(Value),
    Cut,
    Stall,
    Endless,
}

impl Reply {
    /// Gives every call an id. `next` counts over all turns of a server, so that ids are unique.
    pub(crate) fn assign_ids(&mut self, next: &mut usize) {
        for call in &mut self.calls {
            *next += 1;
            call.id.get_or_insert_with(|| format!("call_{next}"));
        }
    }

    /// The reply as one JSON body.
    pub(crate) fn whole(&self) -> Value {
        let calls: Vec<Value> = self
            .calls
            .iter()
            .map(|call| {
                json!({
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                })
            })
            .collect();
        let text = Some(&self.text).filter(|text| !text.is_empty());
        let mut message = json!({"role": "assistant", "content": text});
        if !self.reasoning.is_empty() {
            message["reasoning_content"] = self.reasoning.clone().into();
        }
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        json!({
            "id": "chatcmpl-test",
            "object": "chat.completion",
            "created": 0,
            "model": MODEL,
            "choices": [{
                "index": 0,
                "message": message,
                "finish_reason": self.finish(),
            }],
            "usage": self.usage.unwrap_or_default().encode(),
        })
    }

    /// The reply as server-sent events, up to its ending.
    pub(crate) fn events(&self) -> Vec<Vec<u8>> {
        let mut deltas = vec![json!({"role": "assistant", "content": null})];
        for piece in self.pieces(&self.reasoning) {
            deltas.push(json!({"reasoning_content": piece}));
        }
        for piece in self.pieces(&self.text) {
            deltas.push(json!({"content": piece}));
        }
        deltas.extend(self.call_deltas());

        let mut events: Vec<Vec<u8>> = deltas
            .into_iter()
            .map(|delta| {
                event(&chunk(
                    json!([{"index": 0, "delta": delta, "finish_reason": null}]),
                ))
            })
            .collect();
        match &self.ending {
            Ending::Complete => {
                let last = json!([{"index": 0, "delta": {}, "finish_reason": self.finish()}]);
                events.push(event(&chunk(last)));
                let mut usage = chunk(json!([]));
                usage["usage"] = self.usage.unwrap_or_default().encode();
                events.push(event(&usage));
                events.push(DONE.to_vec());
            }
            Ending::Error(error) => events.push(event(&json!({"error": error}))),
            Ending::Cut | Ending::Stall | Ending::Endless => {}
        }
        events
    }

    fn call_deltas(&self) -> Vec<Value> {
        let per_call: Vec<Vec<Value>> = self
            .calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                let opening = json!({
                    "index": index,
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": ""},
                });
                let pieces = self
                    .pieces(&call.arguments)
                    .into_iter()
                    .map(|piece| json!({"index": index, "function": {"arguments": piece}}));
                std::iter::once(opening)
                    .chain(pieces)
                    .map(|call| json!({"tool_calls": [call]}))
                    .collect()
            })
            .collect();
        if !self.is_interleaved {
            return per_call.into_iter().flatten().collect();
        }
        let rounds = per_call.iter().map(Vec::len).max().unwrap_or(0);
        (0..rounds)
            .flat_map(|round| per_call.iter().filter_map(move |deltas| deltas.get(round)))
            .cloned()
            .collect()
    }

    fn pieces(&self, text: &str) -> Vec<String> {
        let characters: Vec<char> = text.chars().collect();
        let size = self.piece.unwrap_or(characters.len()).max(1);
        characters
            .chunks(size)
            .map(|piece| piece.iter().collect())
            .collect()
    }

    fn finish(&self) -> &str {
        match &self.finish_reason {
            Some(reason) => reason,
            None if self.calls.is_empty() => "stop",
            None => "tool_calls",
        }
    }
}

impl Spent {
    fn encode(self) -> Value {
        json!({
            "prompt_tokens": self.input_tokens,
            "completion_tokens": self.output_tokens,
            "total_tokens": self.input_tokens + self.output_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning_tokens},
        })
    }
}

/// One server-sent event.
pub(crate) fn event(data: &Value) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

fn chunk(choices: Value) -> Value {
    json!({
        "id": "chatcmpl-test",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": MODEL,
        "choices": choices,
    })
}
