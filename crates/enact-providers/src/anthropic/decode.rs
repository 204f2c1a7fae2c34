//! Replies in the messages format.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::blocks::OPAQUE;
use super::body::ANSWER_TOOL;
use crate::http::{Decode, DecodeError, End, SoFar};
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

/// A complete message, or what is known when it starts.
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

/// A content block in progress.
#[derive(Debug)]
struct Block {
    /// The index in the server's numbering.
    index: u64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text,
    /// Returned unchanged.
    Thinking(Map<String, Value>),
    /// The call with this index in the reply.
    Call(usize),
    /// The call that contains the reply's text.
    Answer,
    /// An unknown kind of block.
    Other,
}

/// Turns the events of one reply into chunks.
#[derive(Debug, Default)]
pub struct Decoder {
    is_answer_forced: bool,
    blocks: Vec<Block>,
    calls: usize,
}

impl Decoder {
    pub(super) fn new(is_answer_forced: bool) -> Self {
        Self {
            is_answer_forced,
            ..Self::default()
        }
    }

    fn begin(&mut self, index: u64, block: Value, reply: &mut SoFar) {
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
                reply.push_text(Some(text(&fields, "text")), Chunk::Text);
                Kind::Text
            }
            "thinking" | "redacted_thinking" => {
                reply.push_text(Some(text(&fields, "thinking")), Chunk::Reasoning);
                Kind::Thinking(fields)
            }
            "tool_use" => {
                let name = text(&fields, "name");
                // Empty while streaming: the parts follow.
                let input = fields.remove("input").filter(|input| *input != json!({}));
                let arguments = input.map_or_else(String::new, |input| input.to_string());
                if self.is_answer_forced && name == ANSWER_TOOL {
                    reply.push_text(Some(arguments), Chunk::Text);
                    Kind::Answer
                } else {
                    let index = self.calls;
                    self.calls += 1;
                    reply.push(Chunk::Call {
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

    fn go_on(&mut self, index: u64, delta: Delta, reply: &mut SoFar) {
        let known = self.blocks.iter_mut().rev();
        let Some(block) = known.into_iter().find(|block| block.index == index) else {
            // A server that doesn't announce its blocks can only mean text.
            reply.push_text(delta.text, Chunk::Text);
            return;
        };
        let json = delta.partial_json.unwrap_or_default();
        match &mut block.kind {
            Kind::Text => reply.push_text(delta.text, Chunk::Text),
            Kind::Thinking(fields) => {
                for (key, piece) in [
                    ("thinking", &delta.thinking),
                    ("signature", &delta.signature),
                ] {
                    let Some(piece) = piece else { continue };
                    reply.kept_bytes += piece.len();
                    match fields.get_mut(key) {
                        Some(Value::String(text)) => text.push_str(piece),
                        _ => {
                            fields.insert(key.into(), piece.clone().into());
                        }
                    }
                }
                reply.push_text(delta.thinking, Chunk::Reasoning);
            }
            Kind::Call(index) if !json.is_empty() => reply.push(Chunk::Call {
                index: *index,
                id: None,
                name: None,
                arguments: json,
            }),
            Kind::Answer => reply.push_text(Some(json), Chunk::Text),
            Kind::Call(_) | Kind::Other => {}
        }
    }
}

fn stop(reason: Option<&str>, reply: &mut SoFar) -> Result<(), DecodeError> {
    match reason {
        None => {}
        Some("refusal") => return Err(DecodeError::Filtered),
        Some("max_tokens" | "model_context_window_exceeded") => {
            reply.finish = Some(FinishReason::Length);
        }
        Some(_) => reply.finish = Some(FinishReason::Stop),
    }
    Ok(())
}

/// Later counts replace earlier ones; missing counts stay.
fn count(usage: Option<&Value>, reply: &mut SoFar) {
    let Some(usage) = usage.filter(|usage| usage.is_object()) else {
        return;
    };
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let read = reply.usage.get_or_insert_with(|| Usage::of_request(0, 0));
    // The provider counts cached tokens separately.
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

impl Decode for Decoder {
    fn event(&mut self, data: &[u8], reply: &mut SoFar) -> Result<(), DecodeError> {
        let event: Event =
            serde_json::from_slice(data).map_err(|error| DecodeError::malformed(&error))?;
        if let Some(error) = event.error {
            return Err(DecodeError::Reported(error));
        }
        let index = event.index.unwrap_or(0);
        let delta = event.delta.unwrap_or_default();
        match event.kind.as_deref() {
            Some("message_start") => {
                let message = event.message.unwrap_or_default();
                count(message.usage.as_ref(), reply);
            }
            Some("content_block_start") => {
                reply.kept_bytes += data.len();
                self.begin(index, event.content_block.unwrap_or_default(), reply);
            }
            Some("content_block_delta") => self.go_on(index, delta, reply),
            Some("message_delta") => {
                count(event.usage.as_ref(), reply);
                stop(delta.stop_reason.as_deref(), reply)?;
            }
            Some("message_stop") => reply.is_done = true,
            // Pings, ends of blocks, and unknown events.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], reply: &mut SoFar) -> Result<(), DecodeError> {
        let message: Message =
            serde_json::from_slice(body).map_err(|error| DecodeError::malformed(&error))?;
        if let Some(error) = message.error {
            return Err(DecodeError::Reported(error));
        }
        let Some(content) = message.content else {
            return Err(DecodeError::Malformed("there is no `content` field".into()));
        };
        for (index, block) in (0..).zip(content) {
            self.begin(index, block, reply);
        }
        count(message.usage.as_ref(), reply);
        stop(message.stop_reason.as_deref(), reply)
    }

    fn end(self) -> End {
        let thinking = self.blocks.into_iter();
        let thinking = thinking.filter_map(|block| match block.kind {
            Kind::Thinking(fields) => Some(Value::Object(fields)),
            _ => None,
        });
        let thinking: Vec<Value> = thinking.collect();
        let mut fields = Map::new();
        if !thinking.is_empty() {
            fields.insert(OPAQUE.into(), json!({"thinking": thinking}));
        }
        End {
            fields,
            has_calls: self.calls > 0,
        }
    }
}
