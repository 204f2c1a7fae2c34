//! Protocols over HTTP: how a request is written and how a reply is parsed.

use std::collections::VecDeque;
use std::fmt::Debug;

use enact_core::model::failure::{Failures, Words};
use enact_core::model::{Chunk, FinishReason, ModelError, Request, Usage};
use reqwest::header::{HeaderMap, HeaderName};
use serde_json::{Map, Value};

use super::{Address, Client, Exchange};

/// A protocol, public part. Implemented for the supported protocols; used by [`Client`].
pub trait Service: Clone + Debug + Send + Sync {
    /// The header that carries the key.
    const KEY_HEADER: HeaderName;

    /// Parses a base URL.
    fn address(base_url: &str) -> Result<Address, ModelError>;

    /// The names to use in errors.
    fn words(&self) -> Words<'_>;

    /// The provider's name in OpenTelemetry.
    fn provider(&self) -> &str;

    /// Discards what was learned about a server.
    fn forget(&mut self) {}
}

/// A protocol, private part. Used by the exchange.
pub trait Protocol: Service + Default + 'static {
    /// Parses a reply.
    type Decoder: Decode + Default + Send;

    /// The provider's address, and the path.
    const HOST: &'static str;
    /// The path after the base URL.
    const ENDPOINT: &'static str;
    /// The variable that holds the key.
    const KEY_VARIABLE: &'static str;
    /// The variable that names another address.
    const BASE_URL_VARIABLE: &'static str;
    /// The prefix of the key in its header.
    const KEY_SCHEME: &'static str;

    /// The body of a request, including the requested delivery.
    fn body(client: &Client<Self>, request: &Request) -> Result<String, ModelError>;

    /// Sends the request, and reads until the reply starts.
    fn ask<'a>(
        client: &'a Client<Self>,
        request: Request,
    ) -> impl Future<Output = Result<Exchange<'a, Self>, ModelError>> + Send {
        Exchange::begin(client, request)
    }

    /// Adds the headers of every request.
    fn add_headers(_: &mut HeaderMap) {}

    /// A decoder for the reply to this request.
    fn decoder(&self, request: &Request) -> Self::Decoder;
}

/// The state of a reply while it is read.
#[derive(Debug, Default)]
pub struct SoFar {
    /// The available chunks.
    pub(crate) ready: VecDeque<Chunk>,
    pub(crate) usage: Option<Usage>,
    pub(crate) finish: Option<FinishReason>,
    /// Whether the server has reported the end.
    pub(crate) is_done: bool,
    pub(crate) has_events: bool,
    /// The number of bytes that are held back until the end.
    pub(crate) kept_bytes: usize,
}

impl SoFar {
    pub(crate) fn push(&mut self, chunk: Chunk) {
        self.ready.push_back(chunk);
    }

    /// Adds a text, unless it is empty.
    pub(crate) fn push_text(&mut self, text: Option<String>, chunk: fn(String) -> Chunk) {
        let text = text.filter(|text| !text.is_empty());
        self.ready.extend(text.map(chunk));
    }

    /// Whether the reply is known to be complete, whatever happens to the connection.
    pub(super) fn is_whole(&self) -> bool {
        self.is_done || self.finish.is_some()
    }

    /// Takes the data of a server-sent event.
    pub(crate) fn event(
        &mut self,
        decoder: &mut impl Decode,
        data: &[u8],
    ) -> Result<(), DecodeError> {
        let data = data.trim_ascii();
        if self.is_done || data.is_empty() {
            return Ok(());
        }
        self.has_events = true;
        decoder.event(data, self)
    }

    /// Adds what is only available at the end.
    pub(crate) fn end(&mut self, decoder: impl Decode) {
        let End { fields, has_calls } = decoder.end();
        if !fields.is_empty() {
            self.push(Chunk::Opaque(fields));
        }
        self.ready.extend(self.usage.take().map(Chunk::Usage));
        // Servers disagree on the finish reason of a turn with calls; the calls decide.
        self.push(Chunk::Finish(match self.finish {
            Some(FinishReason::Length) => FinishReason::Length,
            _ if has_calls => FinishReason::ToolCalls,
            _ => FinishReason::Stop,
        }));
    }
}

/// Turns the events of one reply into chunks.
pub trait Decode {
    /// Takes the data of a server-sent event.
    fn event(&mut self, data: &[u8], reply: &mut SoFar) -> Result<(), DecodeError>;

    /// Takes a non-streamed reply, as JSON.
    fn whole(&mut self, body: &[u8], reply: &mut SoFar) -> Result<(), DecodeError>;

    /// What was held back until the end.
    fn end(self) -> End;
}

/// The end of a reply.
#[derive(Debug)]
pub struct End {
    /// Data that the provider requires unchanged.
    pub(crate) fields: Map<String, Value>,
    pub(crate) has_calls: bool,
}

/// Why an event is not accepted.
#[derive(Debug, Clone, PartialEq)]
pub enum DecodeError {
    /// The server reports an error: its error object.
    Reported(Value),
    /// The provider's filter stopped the reply.
    Filtered,
    /// The reply ended early.
    CutOff,
    /// A protocol violation, described.
    Malformed(String),
}

impl DecodeError {
    /// Not JSON, or of the wrong shape.
    pub(crate) fn malformed(error: &serde_json::Error) -> Self {
        // The error's own text may quote the reply; its position is enough.
        Self::Malformed(format!(
            "{:?} error in JSON at line {} column {}",
            error.classify(),
            error.line(),
            error.column()
        ))
    }

    /// The error, with the server that sent the event.
    pub(crate) fn told(self, failures: Failures<'_>) -> ModelError {
        match self {
            Self::Reported(report) => failures.reported(&report),
            Self::Filtered => failures.filtered(),
            Self::CutOff => {
                failures.protocol("was cut off: it ended without a reason for stopping")
            }
            Self::Malformed(what) => failures.protocol(&format!("is not a chat reply: {what}")),
        }
    }
}
