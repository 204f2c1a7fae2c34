//! Replies in the form of messages.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::blocks::OPAQUE;
use super::body::ANSWER_TOOL;
use crate::http::{Decode, DecodeError};
use enact_core::model::{Chunk, FinishReason, Usage};

#[derive(Debug, Default, Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    index: Option<u64>,
    message: Option<Message>,
    content_block: Option<Value>,
    delta: Option<Delta>,
    usage: Option<Value>,
    error: Option<Value>,
}

/// A whole message, or what is known of it when it begins.
#[derive(Debug, Default, Deserialize)]
struct Message {
    content: Option<Vec<Value>>,
    stop_reason: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta {
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

/// A content block that is being written.
#[derive(Debug)]
struct Block {
    /// The number that the server gave it.
    index: u64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text,
    /// Goes back as it was.
    Thinking(Map<String, Value>),
    /// The call of this number in the reply.
    Call(usize),
    /// The call that is the reply's text.
    Answer,
    /// What this client does not know.
    Other,
}

/// Turns the events of one reply into chunks.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    is_answer_forced: bool,
    blocks: Vec<Block>,
    calls: usize,
    kept_bytes: usize,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    is_done: bool,
    has_events: bool,
}

impl Decoder {
    pub(super) fn new(is_answer_forced: bool) -> Self {
        Self {
            is_answer_forced,
            ..Self::default()
        }
    }

    fn begin(&mut self, index: u64, block: Value, out: &mut VecDeque<Chunk>) {
        let Value::Object(mut fields) = block else {
            return;
        };
        let text = |fields: &Map<String, Value>, key: &str| match fields.get(key) {
            Some(Value::String(text)) => text.clone(),
            _ => String::new(),
        };
        let kind = text(&fields, "type");
        let kind = match kind.as_str() {
            "text" => {
                push_some(text(&fields, "text"), out, Chunk::Text);
                Kind::Text
            }
            "thinking" | "redacted_thinking" => {
                push_some(text(&fields, "thinking"), out, Chunk::Reasoning);
                Kind::Thinking(fields)
            }
            "tool_use" => {
                let name = text(&fields, "name");
                // While streaming it is empty: the pieces follow.
                let input = fields.remove("input").filter(|input| *input != json!({}));
                let arguments = input.map_or_else(String::new, |input| input.to_string());
                if self.is_answer_forced && name == ANSWER_TOOL {
                    push_some(arguments, out, Chunk::Text);
                    Kind::Answer
                } else {
                    let index = self.calls;
                    self.calls += 1;
                    out.push_back(Chunk::Call {
                        index,
                        id: Some(text(&fields, "id")).filter(|id| !id.is_empty()),
                        name: Some(name),
                        arguments,
                    });
                    Kind::Call(index)
                }
            }
            _ => Kind::Other,
        };
        self.blocks.push(Block { index, kind });
    }

    fn go_on(&mut self, index: u64, delta: Delta, out: &mut VecDeque<Chunk>) {
        let known = self.blocks.iter_mut().rev();
        let Some(block) = known.into_iter().find(|block| block.index == index) else {
            // A server that does not announce its blocks can only mean text.
            push_some(delta.text.unwrap_or_default(), out, Chunk::Text);
            return;
        };
        let json = delta.partial_json.unwrap_or_default();
        match &mut block.kind {
            Kind::Text => push_some(delta.text.unwrap_or_default(), out, Chunk::Text),
            Kind::Thinking(fields) => {
                for (key, piece) in [
                    ("thinking", &delta.thinking),
                    ("signature", &delta.signature),
                ] {
                    let Some(piece) = piece else { continue };
                    self.kept_bytes += piece.len();
                    match fields.get_mut(key) {
                        Some(Value::String(text)) => text.push_str(piece),
                        _ => {
                            fields.insert(key.into(), piece.clone().into());
                        }
                    }
                }
                push_some(delta.thinking.unwrap_or_default(), out, Chunk::Reasoning);
            }
            Kind::Call(index) if !json.is_empty() => out.push_back(Chunk::Call {
                index: *index,
                id: None,
                name: None,
                arguments: json,
            }),
            Kind::Answer => push_some(json, out, Chunk::Text),
            Kind::Call(_) | Kind::Other => {}
        }
    }

    fn stop(&mut self, reason: Option<&str>) -> Result<(), DecodeError> {
        match reason {
            None => {}
            Some("refusal") => return Err(DecodeError::Filtered),
            Some("max_tokens" | "model_context_window_exceeded") => {
                self.finish = Some(FinishReason::Length);
            }
            Some(_) => self.finish = Some(FinishReason::Stop),
        }
        Ok(())
    }

    /// Later counts replace earlier ones; what they leave out stays.
    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else {
            return;
        };
        let count = |key: &str| usage.get(key).and_then(Value::as_u64);
        let read = self.usage.get_or_insert_with(|| Usage::of_request(0, 0));
        // The provider counts what the cache gave and took apart from the rest.
        if let Some(fresh) = count("input_tokens") {
            let written = count("cache_creation_input_tokens").unwrap_or(0);
            let cached = count("cache_read_input_tokens").unwrap_or(0);
            read.input_tokens = fresh.saturating_add(written).saturating_add(cached);
            read.cached_input_tokens = cached;
        }
        if let Some(output) = count("output_tokens") {
            read.output_tokens = output;
        }
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &[u8], out: &mut VecDeque<Chunk>) -> Result<(), DecodeError> {
        let data = data.trim_ascii();
        if self.is_done || data.is_empty() {
            return Ok(());
        }
        self.has_events = true;
        let event: Event =
            serde_json::from_slice(data).map_err(|error| DecodeError::malformed(&error))?;
        if let Some(error) = event.error.filter(|error| !error.is_null()) {
            return Err(DecodeError::Reported(error));
        }
        let index = event.index.unwrap_or(0);
        match event.kind.as_deref() {
            Some("message_start") => {
                let message = event.message.unwrap_or_default();
                self.count(message.usage.as_ref());
            }
            Some("content_block_start") => {
                self.kept_bytes += data.len();
                self.begin(index, event.content_block.unwrap_or_default(), out);
            }
            Some("content_block_delta") => {
                self.go_on(index, event.delta.unwrap_or_default(), out);
            }
            Some("message_delta") => {
                self.count(event.usage.as_ref());
                self.stop(event.delta.unwrap_or_default().stop_reason.as_deref())?;
            }
            Some("message_stop") => self.is_done = true,
            // Pings, the ends of blocks, and what is new.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], out: &mut VecDeque<Chunk>) -> Result<(), DecodeError> {
        self.has_events = true;
        self.is_done = true;
        let message: Message =
            serde_json::from_slice(body).map_err(|error| DecodeError::malformed(&error))?;
        if let Some(error) = message.error.filter(|error| !error.is_null()) {
            return Err(DecodeError::Reported(error));
        }
        let Some(content) = message.content else {
            return Err(DecodeError::Malformed("there is no `content` field".into()));
        };
        for (index, block) in (0..).zip(content) {
            self.begin(index, block, out);
        }
        self.count(message.usage.as_ref());
        self.stop(message.stop_reason.as_deref())
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
        let thinking = self
            .blocks
            .into_iter()
            .filter_map(|block| match block.kind {
                Kind::Thinking(fields) => Some(Value::Object(fields)),
                _ => None,
            });
        let thinking: Vec<Value> = thinking.collect();
        if !thinking.is_empty() {
            let mut fields = Map::new();
            fields.insert(OPAQUE.into(), json!({"thinking": thinking}));
            out.push_back(Chunk::Opaque(fields));
        }
        out.extend(self.usage.map(Chunk::Usage));
        out.push_back(Chunk::Finish(match self.finish {
            Some(FinishReason::Length) => FinishReason::Length,
            _ if self.calls == 0 => FinishReason::Stop,
            _ => FinishReason::ToolCalls,
        }));
    }
}

fn push_some(text: String, out: &mut VecDeque<Chunk>, chunk: impl FnOnce(String) -> Chunk) {
    if !text.is_empty() {
        out.push_back(chunk(text));
    }
}
