//! What a protocol over HTTP has to say: how a request is written and how a reply is read.

use std::collections::VecDeque;
use std::fmt::Debug;

use enact_core::model::failure::{Failures, Words};
use enact_core::model::{Chunk, FinishReason, ModelError, Request, Usage};
use reqwest::header::{HeaderMap, HeaderName};
use serde_json::{Map, Value};

use super::{Address, Client, Exchange};

/// Who is asked. Implemented for what the clients speak; asked by [`Client`].
pub trait Service: Clone + Debug + Send + Sync {
    /// The header that carries the key.
    const KEY_HEADER: HeaderName;

    /// Reads a base URL.
    fn address(base_url: &str) -> Result<Address, ModelError>;

    /// How errors name what is needed.
    fn words(&self) -> Words<'_>;

    /// What OpenTelemetry calls who serves the model.
    fn provider(&self) -> &str;

    /// What was learnt of a server does not hold for another one.
    fn forget(&mut self) {}
}

/// A protocol that is spoken here. Asked by the exchange.
pub trait Protocol: Service + Default + 'static {
    /// Reads one reply.
    type Decoder: Decode + Default + Send;

    /// Where its provider is, and which path is asked.
    const HOST: &'static str;
    /// The path behind the base URL.
    const ENDPOINT: &'static str;
    /// The variable that holds the key.
    const KEY_VARIABLE: &'static str;
    /// The variable that names another address.
    const BASE_URL_VARIABLE: &'static str;
    /// What stands before the key in its header.
    const KEY_SCHEME: &'static str;

    /// The whole body of a request, which asks for the delivery that the request wants.
    fn body(client: &Client<Self>, request: &Request) -> Result<String, ModelError>;

    /// Asks, and reads until the reply begins.
    fn ask<'a>(
        client: &'a Client<Self>,
        request: Request,
    ) -> impl Future<Output = Result<Exchange<'a, Self>, ModelError>> + Send {
        Exchange::begin(client, request)
    }

    /// Adds the headers that each request has.
    fn add_headers(_: &mut HeaderMap) {}

    /// A decoder for the reply to this request.
    fn decoder(&self, request: &Request) -> Self::Decoder;
}

/// What is known of a reply while it is being read.
#[derive(Debug, Default)]
pub struct SoFar {
    /// What can be given already.
    pub(crate) ready: VecDeque<Chunk>,
    pub(crate) usage: Option<Usage>,
    pub(crate) finish: Option<FinishReason>,
    /// Whether the server said that nothing follows.
    pub(crate) is_done: bool,
    pub(crate) has_events: bool,
    /// How many bytes are kept that can only be given at the end.
    pub(crate) kept_bytes: usize,
}

impl SoFar {
    pub(crate) fn push(&mut self, chunk: Chunk) {
        self.ready.push_back(chunk);
    }

    /// Takes a text, if it says something.
    pub(crate) fn push_text(&mut self, text: Option<String>, chunk: fn(String) -> Chunk) {
        let text = text.filter(|text| !text.is_empty());
        self.ready.extend(text.map(chunk));
    }

    /// Whether the reply is known to be whole, whatever becomes of the connection.
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

    /// Gives what can only be given at the end.
    pub(crate) fn end(&mut self, decoder: impl Decode) {
        let End { fields, has_calls } = decoder.end();
        if !fields.is_empty() {
            self.push(Chunk::Opaque(fields));
        }
        self.ready.extend(self.usage.take().map(Chunk::Usage));
        // Servers disagree on what to call the end of a turn with calls; the calls decide.
        self.push(Chunk::Finish(match self.finish {
            Some(FinishReason::Length) => FinishReason::Length,
            _ if has_calls => FinishReason::ToolCalls,
            _ => FinishReason::Stop,
        }));
    }
}

/// Turns the events of one reply into chunks.
pub trait Decode {
    /// Takes the data of one server-sent event.
    fn event(&mut self, data: &[u8], reply: &mut SoFar) -> Result<(), DecodeError>;

    /// Takes a reply that came as one JSON body.
    fn whole(&mut self, body: &[u8], reply: &mut SoFar) -> Result<(), DecodeError>;

    /// What was kept until the end.
    fn end(self) -> End;
}

/// What is known of a reply at its end.
#[derive(Debug)]
pub struct End {
    /// What the provider wants back.
    pub(crate) fields: Map<String, Value>,
    pub(crate) has_calls: bool,
}

/// Why an event could not be taken.
#[derive(Debug, Clone, PartialEq)]
pub enum DecodeError {
    /// The server reports a failure: its error object.
    Reported(Value),
    /// The provider's filter stopped the reply.
    Filtered,
    /// It ended too early.
    CutOff,
    /// Not what the protocol promises, in words.
    Malformed(String),
}

impl DecodeError {
    /// Not JSON, or not of the right shape.
    pub(crate) fn malformed(error: &serde_json::Error) -> Self {
        // The error's own text may quote the reply; its place says enough.
        Self::Malformed(format!(
            "{:?} error in JSON at line {} column {}",
            error.classify(),
            error.line(),
            error.column()
        ))
    }

    /// The error in words, about the server that sent the event.
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
