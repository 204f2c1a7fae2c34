//! Language models: requests, replies and errors.
//!
//! [`LanguageModel`] is implemented by provider clients and by wrappers around other models
//! ([`Retrying`], [`Fallback`], [`Limited`], [`Cached`], [`Recording`]); it is called by drivers. This
//! layer doesn't know signatures, adapters or agents.

mod cache;
mod canonical;
mod endless;
mod error;
pub mod failure;
mod fallback;
mod limit;
mod message;
mod price;
pub(crate) mod private;
pub mod recording;
mod repetition;
mod reply;
mod request;
pub mod retry;
mod scripted;
mod secrets;
mod timeouts;
mod writer;

use std::fmt;
use std::pin::Pin;

use futures_util::Stream;

pub use cache::Cached;
pub use endless::{MAX_CALLS, cut_endless, max_reply_bytes, whole_reply};
pub use error::{ModelError, ModelErrorKind};
pub use fallback::Fallback;
pub use limit::Limited;
pub use message::{Image, ImageSource, Message, Part, Prompt, RawCall};
pub use price::{Price, Prices};
pub use recording::{Recording, Replaying};
pub use reply::{ANSWERED_BY_CACHE, Chunk, FinishReason, Reply, ReplyBuilder, Usage};
pub use request::{
    Delivery, Function, Functions, ModelOptions, Request, ResponseFormat, ToolChoice,
};
pub use retry::Retrying;
pub use scripted::{ScriptStep, ScriptedModel, call, calls, fail, say};
pub use secrets::{REDACTED, SecretError, Secrets};
pub use timeouts::Timeouts;
pub use writer::{ReplyWriter, read_reply, write_reply};

/// The chunks of one reply, in the order in which the model produced them.
pub type ReplyStream<'a> = Pin<Box<dyn Stream<Item = Result<Chunk, ModelError>> + Send + 'a>>;

/// The capabilities of a model beyond text. `auto` selects an adapter by them, and `probe` in
/// enact-providers determines them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Capabilities {
    /// Accepts tool definitions and replies with tool calls.
    pub tools: bool,
    /// Follows a JSON Schema.
    pub response_schema: bool,
    /// Is known not to make the call that a [`ToolChoice`] demands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignores_tool_choice: bool,
}

impl Capabilities {
    /// Tool calls and response schemas, as in current hosted models.
    pub const FULL: Capabilities = Capabilities {
        tools: true,
        response_schema: true,
        ignores_tool_choice: false,
    };
    /// Text in, text out.
    pub const TEXT: Capabilities = Capabilities {
        tools: false,
        response_schema: false,
        ignores_tool_choice: false,
    };

    /// Sets whether the model calls tools.
    #[must_use]
    pub fn with_tools(self, tools: bool) -> Self {
        Self {
            tools,
            ignores_tool_choice: tools && self.ignores_tool_choice,
            ..self
        }
    }

    /// The same with calls made on demand or not.
    #[must_use]
    pub fn with_tool_choice(self, is_enforced: bool) -> Self {
        Self {
            ignores_tool_choice: !is_enforced,
            ..self
        }
    }

    /// Sets whether the model follows response schemas.
    #[must_use]
    pub fn with_response_schema(self, response_schema: bool) -> Self {
        Self {
            response_schema,
            ..self
        }
    }
}

/// Information about a model that needs no request.
///
/// ```
/// use enact::model::{Capabilities, ModelInfo};
///
/// let info = ModelInfo::new("my-model", Capabilities::FULL).with_provider("in-house");
/// assert_eq!(info.name, "my-model");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelInfo<'a> {
    /// The model's name as the provider knows it.
    pub name: &'a str,
    /// The provider as named by OpenTelemetry, or the one whose protocol the model speaks, such as
    /// `openai`.
    pub provider: Option<&'a str>,
    /// The address of the server, if there is one. Never contains a secret.
    pub base_url: Option<&'a str>,
    /// The capabilities of the model.
    pub capabilities: Capabilities,
}

impl<'a> ModelInfo<'a> {
    /// A model with this name and these capabilities.
    pub fn new(name: &'a str, capabilities: Capabilities) -> Self {
        Self {
            name,
            provider: None,
            base_url: None,
            capabilities,
        }
    }

    /// Sets the provider.
    #[must_use]
    pub fn with_provider(self, provider: impl Into<Option<&'a str>>) -> Self {
        let provider = provider.into();
        Self { provider, ..self }
    }

    /// Sets the address.
    #[must_use]
    pub fn with_base_url(self, base_url: impl Into<Option<&'a str>>) -> Self {
        let base_url = base_url.into();
        Self { base_url, ..self }
    }
}

/// A language model. Implemented by provider clients and by wrappers; called by drivers.
///
/// Implement `stream`; [`LanguageModel::complete`] collects it. [`write_reply`] turns an async
/// function into a stream.
pub trait LanguageModel: Send + Sync + fmt::Debug {
    /// Information about the model.
    fn info(&self) -> ModelInfo<'_>;

    /// The model's name; see [`ModelInfo::name`].
    fn name(&self) -> &str {
        self.info().name
    }

    /// The address of the server; see [`ModelInfo::base_url`].
    fn base_url(&self) -> Option<&str> {
        self.info().base_url
    }

    /// The provider; see [`ModelInfo::provider`].
    fn provider(&self) -> Option<&str> {
        self.info().provider
    }

    /// The capabilities; see [`ModelInfo::capabilities`].
    fn capabilities(&self) -> Capabilities {
        self.info().capabilities
    }

    /// Requests a reply. The stream ends after the last chunk or after the first error.
    /// Dropping it cancels the request.
    fn stream(&self, request: Request) -> ReplyStream<'_>;

    /// Requests a reply and waits until it is complete.
    fn complete(
        &self,
        request: Request,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + '_>> {
        Box::pin(read_reply(self.stream(request)))
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for std::sync::Arc<M> {
    fn info(&self) -> ModelInfo<'_> {
        (**self).info()
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        (**self).stream(request)
    }

    fn complete(
        &self,
        request: Request,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + '_>> {
        (**self).complete(request)
    }
}
