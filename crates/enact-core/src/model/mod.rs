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
mod private;
pub mod recording;
mod repetition;
mod reply;
mod request;
pub mod retry;
mod scripted;
mod secrets;
mod timeouts;

use std::fmt;
use std::pin::Pin;

use futures_util::{Stream, StreamExt as _};

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
}

impl Capabilities {
    /// Tool calls and response schemas: what current hosted models offer.
    pub const FULL: Capabilities = Capabilities {
        tools: true,
        response_schema: true,
    };
    /// Text in, text out.
    pub const TEXT: Capabilities = Capabilities {
        tools: false,
        response_schema: false,
    };

    /// The same with tool calling switched on or off.
    #[must_use]
    pub fn with_tools(self, tools: bool) -> Self {
        Self { tools, ..self }
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

/// A language model. Implemented by provider clients and by wrappers; called by drivers.
///
/// Streaming is the primitive: [`LanguageModel::complete`] folds the stream.
pub trait LanguageModel: Send + Sync + fmt::Debug {
    /// The model's name as the provider knows it.
    fn name(&self) -> &str;

    /// The address of the server, if there is one. Never holds a secret.
    fn base_url(&self) -> Option<&str> {
        None
    }

    /// Who serves the model, as OpenTelemetry names providers, or whose protocol it speaks: such as
    /// `openai`.
    fn provider(&self) -> Option<&str> {
        None
    }

    /// What the model can do.
    fn capabilities(&self) -> Capabilities;

    /// Asks for one reply. The stream ends after the last chunk or after the first error.
    /// Dropping it abandons the request.
    fn stream(&self, request: Request) -> ReplyStream<'_>;

    /// Asks for one reply and waits until it is whole.
    fn complete(
        &self,
        request: Request,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + '_>> {
        let mut stream = self.stream(request);
        Box::pin(async move {
            let mut builder = ReplyBuilder::default();
            while let Some(chunk) = stream.next().await {
                builder.push(chunk?);
            }
            builder.finish()
        })
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for std::sync::Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn base_url(&self) -> Option<&str> {
        (**self).base_url()
    }

    fn provider(&self) -> Option<&str> {
        (**self).provider()
    }

    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
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
