//! Language models: what is asked of them, what they answer, and how that can fail.
//!
//! A [`LanguageModel`] is implemented by provider clients and by wrappers around other models
//! ([`Retrying`], [`Fallback`], [`Limited`], [`Cached`], [`Recording`]); it is called by drivers. The layer knows nothing of
//! signatures, adapters or agents.

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

/// What a model can do beyond answering with text. `auto` picks an adapter by it, and `probe` of
/// enact-providers finds it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Capabilities {
    /// Takes tool definitions and answers with tool calls.
    pub tools: bool,
    /// Can be held to a JSON Schema.
    pub response_schema: bool,
    /// Is known not to make the call that a [`ToolChoice`] demands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignores_tool_choice: bool,
}

impl Capabilities {
    /// Tool calls and response schemas: what current hosted models offer.
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

    /// The same with tool calling switched on or off.
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

    /// The same with response schemas switched on or off.
    #[must_use]
    pub fn with_response_schema(self, response_schema: bool) -> Self {
        Self {
            response_schema,
            ..self
        }
    }
}

/// What is known of a model without asking it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelInfo<'a> {
    /// The model's name as the provider knows it.
    pub name: &'a str,
    /// Who serves the model, as OpenTelemetry names providers, or whose protocol it speaks: such as
    /// `openai`.
    pub provider: Option<&'a str>,
    /// The address of the server, if there is one. Never holds a secret.
    pub base_url: Option<&'a str>,
    /// What the model can do.
    pub capabilities: Capabilities,
}

impl<'a> ModelInfo<'a> {
    /// A model of this name, which can do this much.
    pub fn new(name: &'a str, capabilities: Capabilities) -> Self {
        Self {
            name,
            provider: None,
            base_url: None,
            capabilities,
        }
    }

    /// The same, served by this provider.
    #[must_use]
    pub fn with_provider(self, provider: impl Into<Option<&'a str>>) -> Self {
        let provider = provider.into();
        Self { provider, ..self }
    }

    /// The same, at this address.
    #[must_use]
    pub fn with_base_url(self, base_url: impl Into<Option<&'a str>>) -> Self {
        let base_url = base_url.into();
        Self { base_url, ..self }
    }
}

/// A language model. Implemented by provider clients and by wrappers; called by drivers.
///
/// Streaming is the primitive: [`LanguageModel::complete`] folds the stream. [`write_reply`] makes a
/// stream of an async function.
pub trait LanguageModel: Send + Sync + fmt::Debug {
    /// What is known of the model.
    fn info(&self) -> ModelInfo<'_>;

    /// The model's name; see [`ModelInfo::name`].
    fn name(&self) -> &str {
        self.info().name
    }

    /// The address of the server; see [`ModelInfo::base_url`].
    fn base_url(&self) -> Option<&str> {
        self.info().base_url
    }

    /// Who serves the model; see [`ModelInfo::provider`].
    fn provider(&self) -> Option<&str> {
        self.info().provider
    }

    /// What the model can do; see [`ModelInfo::capabilities`].
    fn capabilities(&self) -> Capabilities {
        self.info().capabilities
    }

    /// Asks for one reply. The stream ends after the last chunk or after the first error.
    /// Dropping it abandons the request.
    fn stream(&self, request: Request) -> ReplyStream<'_>;

    /// Asks for one reply and waits until it is whole.
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
