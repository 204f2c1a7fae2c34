//! A response of the script.

use std::time::Duration;

use serde_json::{Value, json};

use crate::gate::Gate;
use crate::reply::{Call, Ending, Reply};

/// The response to one request.
///
/// A turn is either a *reply* ([`Turn::text`], [`Turn::call`], [`Turn::calls`]), encoded as the client
/// requests, or *bytes* ([`Turn::status`], [`Turn::events`], [`Turn::raw_chunks`]), sent unchanged. The
/// methods that modify a reply panic on bytes: a test that requests something impossible should
/// fail.
#[derive(Debug, Clone)]
pub struct Turn {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) latency: Duration,
    pub(crate) gate: Option<Gate>,
    pub(crate) payload: Payload,
}

#[derive(Debug, Clone)]
pub(crate) enum Payload {
    Reply(Reply),
    /// A body with a length.
    Body(Vec<u8>),
    /// A body of server-sent events, in these chunks.
    Chunks {
        chunks: Vec<Vec<u8>>,
        ending: Ending,
    },
}

impl Turn {
    fn new(payload: Payload) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            latency: Duration::ZERO,
            gate: None,
            payload,
        }
    }

    /// The model replies with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Payload::Reply(Reply {
            text: text.into(),
            ..Reply::default()
        }))
    }

    /// The model calls a tool. Arguments that are a JSON string are sent as that text, which doesn't have to
    /// be JSON.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::calls([(name.into(), arguments)])
    }

    /// The model calls several tools in one turn.
    pub fn calls<N: Into<String>>(list: impl IntoIterator<Item = (N, Value)>) -> Self {
        let calls = list
            .into_iter()
            .map(|(name, arguments)| Call {
                id: None,
                name: name.into(),
                arguments: match arguments {
                    Value::String(raw) => raw,
                    other => other.to_string(),
                },
            })
            .collect();
        Self::new(Payload::Reply(Reply {
            calls,
            ..Reply::default()
        }))
    }

    /// A response with this status and, unless [`Turn::body`] is called, no body.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::new(Payload::Body(Vec::new()))
        }
    }

    /// One server-sent event for each value, then `[DONE]`, whatever the client requests.
    pub fn events(events: impl IntoIterator<Item = Value>) -> Self {
        let mut chunks: Vec<Vec<u8>> = events
            .into_iter()
            .map(|event| crate::reply::event(&event))
            .collect();
        chunks.push(crate::reply::DONE.to_vec());
        Self::raw_chunks(chunks)
    }

    /// A body of server-sent events, written in exactly these chunks.
    pub fn raw_chunks<B: Into<Vec<u8>>>(chunks: impl IntoIterator<Item = B>) -> Self {
        Self::new(Payload::Chunks {
            chunks: chunks.into_iter().map(Into::into).collect(),
            ending: Ending::Complete,
        })
    }

    /// Adds a header. A `content-type` replaces the server's.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends this body, JSON or not, instead of a reply.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.payload = Payload::Body(body.into());
        self
    }

    /// Waits before the first byte.
    #[must_use]
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// Waits before the first byte until this gate is opened.
    #[must_use]
    pub fn behind(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Adds text to the calls: the thought of the step.
    #[must_use]
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.edit(|reply| reply.text = text.into())
    }

    /// Adds visible reasoning, as `reasoning_content`.
    #[must_use]
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        self.edit(|reply| reply.reasoning = text.into())
    }

    /// Sets the ids of the calls, in order, instead of `call_1`, `call_2` and so on.
    #[must_use]
    pub fn with_ids<I: Into<String>>(self, ids: impl IntoIterator<Item = I>) -> Self {
        self.edit(|reply| {
            for (call, id) in reply.calls.iter_mut().zip(ids) {
                call.id = Some(id.into());
            }
        })
    }

    /// Streams text and arguments in chunks of at most this many characters.
    #[must_use]
    pub fn in_pieces(self, characters: usize) -> Self {
        self.edit(|reply| reply.piece = Some(characters.max(1)))
    }

    /// Interleaves the chunks of parallel calls instead of streaming one call after the other.
    #[must_use]
    pub fn interleaved(self) -> Self {
        self.edit(|reply| reply.is_interleaved = true)
    }

    /// Sets the usage in tokens.
    #[must_use]
    pub fn usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        self.edit(|reply| {
            let usage = reply.usage.get_or_insert_default();
            usage.input_tokens = input_tokens;
            usage.output_tokens = output_tokens;
        })
    }

    /// Sets the number of input tokens read from the prompt cache.
    #[must_use]
    pub fn cached_tokens(self, tokens: u64) -> Self {
        self.edit(|reply| reply.usage.get_or_insert_default().cached_tokens = tokens)
    }

    /// Sets the number of output tokens spent on reasoning.
    #[must_use]
    pub fn reasoning_tokens(self, tokens: u64) -> Self {
        self.edit(|reply| reply.usage.get_or_insert_default().reasoning_tokens = tokens)
    }

    /// Sets the finish reason, such as `length` or `content_filter`.
    #[must_use]
    pub fn finish_reason(self, reason: impl Into<String>) -> Self {
        self.edit(|reply| reply.finish_reason = Some(reason.into()))
    }

    /// Ends with an error object in the middle of the stream; a non-streamed response is only the error.
    #[must_use]
    pub fn then_error(self, error: Value) -> Self {
        self.end(Ending::Error(error))
    }

    /// Ends with the connection cut in the middle.
    #[must_use]
    pub fn then_cut(self) -> Self {
        self.end(Ending::Cut)
    }

    /// Becomes silent in the middle, until the client disconnects.
    #[must_use]
    pub fn then_stall(self) -> Self {
        self.end(Ending::Stall)
    }

    /// Never ends: says the last piece again and again, until the client hangs up. A plain answer
    /// claims to be a terabyte long, and repeats its text.
    #[must_use]
    pub fn then_endless(self) -> Self {
        self.end(Ending::Endless)
    }

    fn end(mut self, new: Ending) -> Self {
        match &mut self.payload {
            Payload::Chunks { chunks, ending } => {
                if let Ending::Error(error) = &new {
                    chunks.push(crate::reply::event(&json!({"error": error})));
                }
                *ending = new;
                self
            }
            Payload::Reply(_) | Payload::Body(_) => self.edit(|reply| reply.ending = new),
        }
    }

    #[expect(
        clippy::panic,
        reason = "a script that cannot be played is a mistake in the test"
    )]
    fn edit(mut self, change: impl FnOnce(&mut Reply)) -> Self {
        match &mut self.payload {
            Payload::Reply(reply) => change(reply),
            Payload::Body(_) | Payload::Chunks { .. } => {
                panic!(
                    "this turn is bytes: it has no reply whose text, calls or ending could be set"
                )
            }
        }
        self
    }
}
