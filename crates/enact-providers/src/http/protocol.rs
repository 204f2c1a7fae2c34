//! What a protocol over HTTP has to say: how a request is written and how a reply is read.

use std::collections::VecDeque;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::Server;
use enact_core::model::failure::Failures;
use enact_core::model::{Chunk, ModelError, Request};

/// A client that speaks one protocol. Implemented by provider clients; asked by the exchange.
pub(crate) trait Protocol: Send + Sync {
    /// Reads one reply.
    type Decoder: Decode + Send;

    fn server(&self) -> &Server;

    /// The whole body of a request, which asks for the delivery that the request wants.
    fn body(&self, request: &Request) -> Result<String, ModelError>;

    /// The headers of a request.
    fn headers(&self) -> Result<HeaderMap, ModelError>;

    /// A decoder for the reply to this request.
    fn decoder(&self, request: &Request) -> Self::Decoder;

    /// Makes an error about this server.
    fn failing(&self, make: impl FnOnce(Failures<'_>) -> ModelError) -> ModelError;
}

/// Turns the events of one reply into chunks.
pub(crate) trait Decode {
    /// Takes the data of one server-sent event.
    fn event(&mut self, data: &[u8], out: &mut VecDeque<Chunk>) -> Result<(), DecodeError>;

    /// Takes a reply that came as one JSON body.
    fn whole(&mut self, body: &[u8], out: &mut VecDeque<Chunk>) -> Result<(), DecodeError>;

    /// Whether the reply is known to be whole, whatever becomes of the connection.
    fn is_whole(&self) -> bool;

    /// Whether the server said that nothing follows.
    fn is_done(&self) -> bool;

    /// Whether any event came.
    fn has_events(&self) -> bool;

    /// How many bytes are kept that can only be given at the end.
    fn kept_bytes(&self) -> usize;

    /// The chunks that can only be given at the end.
    fn finish(self, out: &mut VecDeque<Chunk>);
}

/// Why an event could not be taken.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DecodeError {
    /// The server reports a failure: its error object.
    Reported(Value),
    /// The provider's filter stopped the reply.
    Filtered,
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
    pub(super) fn told(self, failures: Failures<'_>) -> ModelError {
        match self {
            Self::Reported(report) => failures.reported(&report),
            Self::Filtered => failures.filtered(),
            Self::Malformed(what) => failures.protocol(&format!("is not a chat reply: {what}")),
        }
    }
}
