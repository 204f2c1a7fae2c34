//! What a model answers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use super::error::{ModelError, ModelErrorKind};
use super::message::RawCall;
use super::secrets::Secrets;
use crate::lean::{is_default, is_one, one};

/// Fewer bytes than a token has in almost any text: what nobody counted is rather overestimated.
const BYTES_PER_TOKEN: usize = 3;

/// Tokens and requests spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Model requests that were answered.
    pub requests: u64,
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// Tokens read from the provider's prompt cache.
    pub cached_input_tokens: u64,
    /// Tokens spent on reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// The usage of one request.
    pub fn of_request(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            requests: 1,
            input_tokens,
            output_tokens,
            ..Self::default()
        }
    }

    /// The usage of one request that nobody counted, from what was read and written.
    pub fn estimated(read_bytes: usize, written_bytes: usize) -> Self {
        let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
        Self::of_request(tokens(read_bytes), tokens(written_bytes))
    }
}

impl Usage {
    /// Each count of two usages put together.
    fn zip(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            requests: join(self.requests, other.requests),
            input_tokens: join(self.input_tokens, other.input_tokens),
            output_tokens: join(self.output_tokens, other.output_tokens),
            cached_input_tokens: join(self.cached_input_tokens, other.cached_input_tokens),
            reasoning_tokens: join(self.reasoning_tokens, other.reasoning_tokens),
        }
    }

    /// What was spent since then.
    pub(crate) fn since(self, before: Self) -> Self {
        self.zip(before, u64::saturating_sub)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = self.zip(other, u64::saturating_add);
    }
}

/// The usage of a reply as logs have it: of one request unless they say otherwise, and without the
/// tokens of which there were none.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Usage")]
struct UsageOfReply {
    #[serde(default = "one", skip_serializing_if = "is_one")]
    requests: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    input_tokens: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    output_tokens: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    cached_input_tokens: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    reasoning_tokens: u64,
}

/// Why a model stopped writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It had said all.
    #[default]
    Stop,
    /// It wants tools to be called.
    ToolCalls,
    /// It ran into its length limit: the reply is cut.
    Length,
}

impl FinishReason {
    fn tool_calls() -> Self {
        Self::ToolCalls
    }

    fn is_tool_calls(&self) -> bool {
        *self == Self::ToolCalls
    }

    /// The reason as one word, such as `tool_calls`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What [`Reply::answered_by`] says of a reply that was kept from an earlier request.
pub const ANSWERED_BY_CACHE: &str = "cache";

/// One piece of a reply as it arrives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Chunk {
    /// More text.
    Text(String),
    /// More visible reasoning.
    Reasoning(String),
    /// More of the tool call number `index`.
    Call {
        /// Which of the reply's calls.
        index: usize,
        /// Its id, when it is first told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Its name, when it is first told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// More of its arguments.
        arguments: String,
    },
    /// Something that the provider wants back unchanged in the next request: fields of the
    /// assistant message.
    Opaque(serde_json::Map<String, Value>),
    /// Who answers, if it is not the model that was asked: another model by its name, or the
    /// [cache](ANSWERED_BY_CACHE).
    AnsweredBy(String),
    /// What the request cost.
    Usage(Usage),
    /// The reply repeats itself or calls without end, and was [cut off](super::cut_endless) for it: its
    /// calls do not count.
    Repeats,
    /// Why the model stopped.
    Finish(FinishReason),
    /// The request is made again: what came so far does not count.
    Restart,
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Reply {
    /// The text; may be empty beside calls.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Visible reasoning, where the provider tells it apart from the text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The tool calls in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<RawCall>,
    /// What the provider wants back unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
    /// Tokens and requests spent.
    #[serde(with = "UsageOfReply")]
    pub usage: Usage,
    /// What that cost, if whoever replied knows it. Otherwise the price of the model counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Why the model stopped.
    #[serde(
        default = "FinishReason::tool_calls",
        skip_serializing_if = "FinishReason::is_tool_calls"
    )]
    pub finish: FinishReason,
    /// How many requests were made until this reply came; 1 when the first was answered.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub attempts: u32,
    /// Who answered, if it was not the model that was asked: another model by its name, or the
    /// [cache](ANSWERED_BY_CACHE).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// Whether it repeats itself or called without end, and was [cut off](super::cut_endless) for it. It
    /// has no calls then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

impl Reply {
    /// A reply of text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            attempts: 1,
            usage: Usage::of_request(0, 0),
            ..Self::default()
        }
    }

    /// The same without secrets.
    #[must_use]
    pub(crate) fn redacted(mut self, secrets: &Secrets) -> Self {
        if secrets.is_empty() {
            return self;
        }
        let calls = self.calls.iter_mut();
        let calls = calls.flat_map(|call| {
            let id = call.id.iter_mut();
            id.chain([&mut call.name, &mut call.arguments])
        });
        for text in [&mut self.text, &mut self.reasoning]
            .into_iter()
            .chain(&mut self.answered_by)
            .chain(calls)
        {
            if let Cow::Owned(redacted) = secrets.redact(text) {
                *text = redacted;
            }
        }
        if let Some(opaque) = &mut self.opaque {
            secrets.redact_value(opaque);
        }
        self
    }
}

impl From<Reply> for Vec<Chunk> {
    /// The chunks that fold into this reply, however many attempts it took.
    fn from(reply: Reply) -> Self {
        let mut chunks: Vec<Chunk> = Vec::new();
        chunks.extend(reply.answered_by.map(Chunk::AnsweredBy));
        let texts = [
            (reply.reasoning, Chunk::Reasoning as fn(String) -> Chunk),
            (reply.text, Chunk::Text),
        ];
        for (text, chunk) in texts {
            if !text.is_empty() {
                chunks.push(chunk(text));
            }
        }
        for (index, call) in reply.calls.into_iter().enumerate() {
            chunks.push(Chunk::Call {
                index,
                id: call.id,
                name: Some(call.name),
                arguments: call.arguments,
            });
        }
        if let Some(Value::Object(fields)) = reply.opaque {
            chunks.push(Chunk::Opaque(fields));
        }
        chunks.push(Chunk::Usage(reply.usage));
        if reply.repeats {
            chunks.push(Chunk::Repeats);
        }
        chunks.push(Chunk::Finish(reply.finish));
        chunks
    }
}

/// Folds chunks into a [`Reply`].
#[derive(Debug, Default)]
pub struct ReplyBuilder {
    reply: Reply,
    restarts: u32,
    finish: Option<FinishReason>,
}

impl ReplyBuilder {
    /// Takes the next chunk.
    pub fn push(&mut self, chunk: Chunk) {
        match chunk {
            Chunk::Text(text) => self.reply.text.push_str(&text),
            Chunk::Reasoning(text) => self.reply.reasoning.push_str(&text),
            Chunk::Call {
                index,
                id,
                name,
                arguments,
            } => {
                let calls = &mut self.reply.calls;
                // A provider may leave gaps in its numbering; the list stays dense and bounded.
                let position = index.min(calls.len());
                if position == calls.len() {
                    calls.push(RawCall {
                        id: None,
                        name: String::new(),
                        arguments: String::new(),
                    });
                }
                let call = &mut calls[position];
                if id.is_some() {
                    call.id = id;
                }
                call.name.push_str(name.as_deref().unwrap_or_default());
                call.arguments.push_str(&arguments);
            }
            Chunk::Opaque(fields) => match &mut self.reply.opaque {
                Some(Value::Object(known)) => known.extend(fields),
                other => *other = Some(Value::Object(fields)),
            },
            Chunk::AnsweredBy(name) => self.reply.answered_by = Some(name),
            Chunk::Usage(usage) => self.reply.usage = usage,
            Chunk::Repeats => {
                self.reply.repeats = true;
                self.reply.calls.clear();
            }
            Chunk::Finish(finish) => self.finish = Some(finish),
            Chunk::Restart => {
                let restarts = self.restarts + 1;
                *self = Self {
                    restarts,
                    ..Self::default()
                };
            }
        }
    }

    /// The whole reply. A stream that ended without saying why it stopped was cut off.
    pub fn finish(self) -> Result<Reply, ModelError> {
        let Some(finish) = self.finish else {
            return Err(ModelError::new(
                ModelErrorKind::Protocol,
                "the model's reply ended before it was complete",
            ));
        };
        let mut reply = self.reply;
        reply.finish = finish;
        reply.attempts = self.restarts + 1;
        // Nobody was asked for what comes from the cache.
        let is_kept = reply.answered_by.as_deref() == Some(ANSWERED_BY_CACHE);
        reply.usage.requests = u64::from(!is_kept);
        Ok(reply)
    }
}
