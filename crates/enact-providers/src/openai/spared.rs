//! Dispensable parts of a request that some servers reject.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::body::Shape;
use enact_core::model::{Delivery, ModelError, ModelErrorKind, Request, ToolChoice};

/// How an error starts to quote the server.
const SERVER_SAID: &str = "; the server said: ";

/// A dispensable part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extra {
    StreamOptions,
    ParallelToolCalls,
    ToolChoice,
    /// Streaming a reply that may contain calls.
    StreamedTools,
}

impl Extra {
    const ALL: [Self; 4] = [
        Self::StreamOptions,
        Self::ParallelToolCalls,
        Self::ToolChoice,
        Self::StreamedTools,
    ];

    fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The field of a request, if it is one.
    fn field(self) -> Option<&'static str> {
        match self {
            Self::StreamOptions => Some("stream_options"),
            Self::ParallelToolCalls => Some("parallel_tool_calls"),
            Self::ToolChoice => Some("tool_choice"),
            Self::StreamedTools => None,
        }
    }

    /// Whether a request contains it, and it was not requested explicitly.
    fn is_in(self, shape: Shape<'_>, request: &Request) -> bool {
        let is_streamed = shape.streams || request.delivery == Delivery::Streamed;
        let has_tools = !request.tools.is_empty();
        let is_wanted = |name| request.options.extra.contains_key(name);
        !shape.spared.has(self)
            && !self.field().is_some_and(is_wanted)
            && match self {
                Self::StreamOptions => is_streamed,
                Self::ParallelToolCalls => has_tools,
                Self::ToolChoice => {
                    let is_told = shape.demands_calls || request.tool_choice != ToolChoice::Auto;
                    has_tools && is_told
                }
                Self::StreamedTools => is_streamed && has_tools,
            }
    }

    /// Whether a server mentions it.
    fn is_named(self, said: &str) -> bool {
        match self.field() {
            Some(field) => said.contains(field),
            None => said.contains("stream") && said.contains("tool"),
        }
    }
}

/// What is left out of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Spared(u8);

impl Spared {
    pub(super) fn has(self, extra: Extra) -> bool {
        self.0 & extra.bit() != 0
    }
}

/// What the server of a client has rejected so far. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Refused(Arc<AtomicU8>);

impl Refused {
    pub(super) fn spared(&self) -> Spared {
        Spared(self.0.load(Ordering::Relaxed))
    }

    /// Learns from the rejection of a request in this form; returns whether to ask for less.
    pub(super) fn learn(&self, error: &ModelError, shape: Shape<'_>, request: &Request) -> bool {
        let is_refusal = matches!(
            error.kind(),
            ModelErrorKind::InvalidRequest
                | ModelErrorKind::ToolsRefused
                | ModelErrorKind::FormatRefused
        );
        let told = error.to_string().to_lowercase();
        let Some((_, said)) = told.split_once(SERVER_SAID).filter(|_| is_refusal) else {
            return false;
        };
        let mut extras = Extra::ALL.into_iter();
        // The first match: a server that names a field means that field.
        match extras.find(|extra| extra.is_named(said) && extra.is_in(shape, request)) {
            Some(extra) => {
                self.0.fetch_or(extra.bit(), Ordering::Relaxed);
                true
            }
            None => false,
        }
    }
}
