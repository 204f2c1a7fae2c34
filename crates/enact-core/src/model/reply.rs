//! Replies of models.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use super::error::{ModelError, ModelErrorKind};
use super::message::RawCall;
use super::secrets::Secrets;
use crate::lean::{is_default, is_one, one};

/// Fewer bytes than a token has in almost any text, so that estimates are rather too high.
const BYTES_PER_TOKEN: usize = 3;

/// Tokens and requests spent.
///
/// ```
/// use enact::model::Usage;
///
/// let mut total = Usage::of_request(1_000, 50);
/// total += Usage::of_request(1_100, 20);
/// assert_eq!((total.requests, total.input_tokens, total.output_tokens), (2, 2_100, 70));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Answered model requests.
    pub requests: u64,
    /// Input tokens, including cached ones.
    pub input_tokens: u64,
    /// Output tokens, including reasoning.
    pub output_tokens: u64,
    /// Input tokens read from the provider's prompt cache.
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

    /// The estimated usage of a request, from the sizes of prompt and reply.
    pub fn estimated(read_bytes: usize, written_bytes: usize) -> Self {
        let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
        Self::of_request(tokens(read_bytes), tokens(written_bytes))
    }
}

impl Usage {
    /// Combines two usages count by count.
    fn zip(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            requests: join(self.requests, other.requests),
            input_tokens: join(self.input_tokens, other.input_tokens),
            output_tokens: join(self.output_tokens, other.output_tokens),
            cached_input_tokens: join(self.cached_input_tokens, other.cached_input_tokens),
            reasoning_tokens: join(self.reasoning_tokens, other.reasoning_tokens),
        }
    }

    /// The usage since an earlier one.
    pub(crate) fn since(self, before: Self) -> Self {
        self.zip(before, u64::saturating_sub)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = self.zip(other, u64::saturating_add);
    }
}

/// The usage of a reply in a log: of one request unless stated otherwise, and without counts that
/// are zero.
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

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The reply is complete.
    #[default]
    Stop,
    /// The model requests tool calls.
    ToolCalls,
    /// The length limit was reached: the reply is incomplete.
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

/// The value of [`Reply::answered_by`] for a cached reply.
pub const ANSWERED_BY_CACHE: &str = "cache";

/// A chunk of a reply as it arrives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Chunk {
    /// Text.
    Text(String),
    /// Visible reasoning.
    Reasoning(String),
    /// Part of the tool call number `index`.
    Call {
        /// The number of the call in the reply.
        index: usize,
        /// The id, in the first chunk that contains it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The name, in the first chunk that contains it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Part of the arguments.
        arguments: String,
    },
    /// Data that the provider requires unchanged in the next request: fields of the
    /// assistant message.
    Opaque(serde_json::Map<String, Value>),
    /// The model that answers, if it is not the one that was asked: another model by name, or the
    /// [cache](ANSWERED_BY_CACHE).
    AnsweredBy(String),
    /// The usage of the request.
    Usage(Usage),
    /// The reply repeats itself or calls tools without end, and was [cut off](super::cut_endless): its
    /// calls don't count.
    Repeats,
    /// Why the model stopped.
    Finish(FinishReason),
    /// The request is sent again: previous chunks don't count.
    Restart,
}

/// A complete reply.
///
/// ```
/// use enact::model::Reply;
///
/// let reply = Reply::text("Paris");
/// assert_eq!(reply.text, "Paris");
/// assert!(reply.calls.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Reply {
    /// The text; can be empty if there are calls.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Visible reasoning, if the provider separates it from the text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The tool calls in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<RawCall>,
    /// Data that the provider requires unchanged.
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
    /// The number of requests for this reply; 1 if the first one succeeded.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub attempts: u32,
    /// The model that answered, if it is not the one that was asked: another model by name, or the
    /// [cache](ANSWERED_BY_CACHE).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// Whether it repeats itself or calls tools without end, and was [cut off](super::cut_endless). Such a
    /// reply has no calls.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

impl Reply {
    /// A reply with text only.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            attempts: 1,
            usage: Usage::of_request(0, 0),
            ..Self::default()
        }
    }

    /// Removes secrets.
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
    /// The chunks that combine to this reply, including its attempts.
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

/// Combines chunks into a [`Reply`].
///
/// ```
/// use enact::model::{Chunk, FinishReason, ReplyBuilder};
///
/// let mut reply = ReplyBuilder::default();
/// reply.push(Chunk::Text("Par".into()));
/// reply.push(Chunk::Text("is".into()));
/// reply.push(Chunk::Finish(FinishReason::Stop));
/// assert_eq!(reply.finish()?.text, "Paris");
/// # Ok::<_, enact::model::ModelError>(())
/// ```
#[derive(Debug, Default)]
pub struct ReplyBuilder {
    reply: Reply,
    restarts: u32,
    finish: Option<FinishReason>,
}

impl ReplyBuilder {
    /// Adds the next chunk.
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
                // Providers may leave gaps in the numbering; the list stays dense and bounded.
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

    /// Returns the reply. A stream that ended without a finish reason was cut off.
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
        // A cached reply took no request.
        let is_kept = reply.answered_by.as_deref() == Some(ANSWERED_BY_CACHE);
        reply.usage.requests = u64::from(!is_kept);
        Ok(reply)
    }
}
