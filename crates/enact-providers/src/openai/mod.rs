//! A client for every server that speaks OpenAI's chat completions: OpenAI itself, vLLM,
//! llama.cpp, Ollama, LiteLLM, OpenRouter and many more.
//!
//! Replies are streamed, or come whole, as the request wants it. A server that ignores the wish and
//! answers in the other way works as well.
//!
//! Nothing is retried here: wrap the client in [`Retrying`](enact_core::model::Retrying).

mod body;
mod calls;
mod decode;
mod loose;
mod nesting;
mod spared;

use std::pin::Pin;

use futures_util::{FutureExt as _, StreamExt as _, stream};
use reqwest::header::{AUTHORIZATION, HeaderMap};
use secrecy::SecretString;

use self::decode::{Decoder, Returned};
use self::spared::{Extra, Refused, Spared};
use crate::http::{self, Address, Protocol, Server};
pub use enact_core::model::Timeouts;
use enact_core::model::failure::{Failures, Words};
use enact_core::model::{
    Capabilities, Delivery, LanguageModel, ModelError, ModelErrorKind, ModelOptions, Reply,
    ReplyStream, Request,
};

const BASE_URL_VARIABLE: &str = "OPENAI_BASE_URL";
const API_KEY_VARIABLE: &str = "OPENAI_API_KEY";
const HOST: &str = "api.openai.com";
const ENDPOINT: &str = "/chat/completions";
/// How many tokens a reply has at most where nobody says it, at other servers than api.openai.com.
pub const DEFAULT_MAX_TOKENS: u32 = 8192;
/// How servers speak of the bound of a reply when they refuse it.
const BOUND_WORDS: [&str; 3] = ["max_tokens", "max_completion_tokens", "completion"];
/// The fields that bound a reply.
const BOUND_FIELDS: [&str; 2] = ["max_tokens", "max_completion_tokens"];
const WORDS: Words<'static> = Words {
    server: "an OpenAI-compatible chat-completions server",
    key_variable: API_KEY_VARIABLE,
    key_method: "OpenAi::with_api_key",
};

/// A model behind an OpenAI-compatible server.
///
/// ```no_run
/// # fn main() -> Result<(), enact::model::ModelError> {
/// use enact::model::{OpenAi, Retrying};
///
/// // OPENAI_BASE_URL and OPENAI_API_KEY, both optional.
/// let hosted = Retrying::new(OpenAi::from_env("gpt-4o-mini")?);
/// // A local server wants no key.
/// let local = OpenAi::new("qwen3").with_base_url("http://localhost:8080/v1")?;
/// # Ok(())
/// # }
/// ```
///
/// What goes over the wire:
///
/// - Everything but the messages is written first, in a fixed order: as a prompt grows, each
///   request begins with the bytes of the one before.
/// - Fields of [`ModelOptions::extra`](enact_core::model::ModelOptions::extra) replace those of the same name;
///   `null` leaves a field out, for servers that refuse it. `messages`, `stream` and `tools`
///   cannot be replaced.
/// - `max_tokens` is sent as `max_completion_tokens` to api.openai.com, which wants it so.
/// - Without [`ModelOptions::max_tokens`](enact_core::model::ModelOptions::max_tokens), a reply has at most
///   [8192 tokens](DEFAULT_MAX_TOKENS), so that a model that does not stop is stopped. Nothing is sent
///   to api.openai.com: its models stop, and their reasoning would count. See
///   [`OpenAi::with_default_max_tokens`].
/// - A server that says that a bound does not fit into the context, or that it knows no `max_tokens`
///   that nobody asked for, is asked again without it. So is one that refuses `stream_options`,
///   `parallel_tool_calls`, `tool_choice`, or to stream replies to requests with tools; the client
///   remembers that.
/// - Pictures that tools return travel in a user message behind the results of the turn, because
///   most servers refuse them in tool messages.
/// - In earlier calls of the model, arguments that are not a JSON object are sent as `{}` and
///   names with characters that servers refuse are made acceptable.
///
/// Requests to loopback addresses never go through a proxy, and redirects are not followed.
#[derive(Debug, Clone)]
pub struct OpenAi {
    model: String,
    server: Server,
    capabilities: Capabilities,
    returned: Returned,
    demands_calls: bool,
    default_max_tokens: Bound,
    streams: bool,
    refused: Refused,
}

/// How long a reply may be where a request does not say it.
#[derive(Debug, Clone, Copy)]
enum Bound {
    /// As is good for the server.
    Usual,
    Set(Option<u32>),
}

impl OpenAi {
    /// A model at api.openai.com, without a key.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            server: Server::new(Address::public(HOST, ENDPOINT)),
            capabilities: Capabilities::FULL,
            returned: Returned::Details,
            demands_calls: false,
            default_max_tokens: Bound::Usual,
            streams: false,
            refused: Refused::default(),
        }
    }

    /// A model at `OPENAI_BASE_URL` with the key in `OPENAI_API_KEY`. Either may be unset.
    ///
    /// # Errors
    /// When `OPENAI_BASE_URL` is not a URL.
    pub fn from_env(model: impl Into<String>) -> Result<Self, ModelError> {
        Self::from_variables(model, |name| std::env::var(name).ok())
    }

    fn from_variables(
        model: impl Into<String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        let given = |name| variable(name).filter(|value| !value.trim().is_empty());
        let mut client = Self::new(model);
        if let Some(base_url) = given(BASE_URL_VARIABLE) {
            client = client
                .with_base_url(base_url)
                .map_err(|error| error.with_note("it comes from OPENAI_BASE_URL"))?;
        }
        if let Some(key) = given(API_KEY_VARIABLE) {
            client = client.with_api_key(key);
        }
        Ok(client)
    }

    /// The same at another server, such as `http://localhost:8080/v1`.
    ///
    /// # Errors
    /// When this is not an `http` or `https` URL.
    pub fn with_base_url(self, base_url: impl AsRef<str>) -> Result<Self, ModelError> {
        Ok(Self {
            server: self.server.at(Address::parse(base_url.as_ref(), ENDPOINT)?),
            refused: Refused::default(),
            ..self
        })
    }

    /// The same with a key, sent as a bearer token.
    #[must_use]
    pub fn with_api_key(self, key: impl Into<String>) -> Self {
        self.with_secret(key.into().into())
    }

    pub(crate) fn with_secret(self, key: SecretString) -> Self {
        Self {
            server: self.server.with_api_key(key),
            ..self
        }
    }

    /// The same with other capabilities: [`Capabilities::FULL`] unless told.
    #[must_use]
    pub fn with_capabilities(self, capabilities: Capabilities) -> Self {
        Self {
            capabilities,
            ..self
        }
    }

    /// The same with other limits of time.
    #[must_use]
    pub fn with_timeouts(self, timeouts: Timeouts) -> Self {
        Self {
            server: self.server.with_timeouts(timeouts),
            ..self
        }
    }

    /// The same for models that want the reasoning behind their tool calls back, as
    /// `reasoning_content`: some refuse to go on without it, others refuse a request with it.
    #[must_use]
    pub fn with_reasoning_returned(self) -> Self {
        Self {
            returned: Returned::Reasoning,
            ..self
        }
    }

    /// The same for small models, which else answer off the top of their heads: wherever a tool may be
    /// called, one has to be (`tool_choice: required`). Agents commit their outputs by a tool, too. Some
    /// models write no thoughts then.
    #[must_use]
    pub fn with_demanded_calls(self) -> Self {
        Self {
            demands_calls: true,
            ..self
        }
    }

    /// The same with another bound on replies to requests that set none: [`DEFAULT_MAX_TOKENS`] unless
    /// told, and none at api.openai.com. `None` sends no bound.
    #[must_use]
    pub fn with_default_max_tokens(self, max_tokens: impl Into<Option<u32>>) -> Self {
        Self {
            default_max_tokens: Bound::Set(max_tokens.into()),
            ..self
        }
    }

    /// The same with every reply streamed, also where nobody reads along: one that
    /// [repeats itself](enact_core::model::cut_endless) is then cut off early, not when it is whole.
    #[must_use]
    pub fn with_replies_streamed(self) -> Self {
        Self {
            streams: true,
            ..self
        }
    }

    /// The same with another bound on the bytes of a reply's text, reasoning and calls:
    /// [`max_reply_bytes`](enact_core::model::max_reply_bytes) unless told. A longer one is cut off.
    #[must_use]
    pub fn with_max_reply_bytes(self, bytes: usize) -> Self {
        Self {
            server: self.server.with_max_reply_bytes(bytes),
            ..self
        }
    }

    /// The same with a header on every request. It replaces one of the same name, also one that
    /// the client would send itself. The value is kept as a secret.
    ///
    /// # Errors
    /// When the name or the value cannot stand in a header.
    pub fn with_header(
        self,
        name: impl AsRef<str>,
        value: impl AsRef<str>,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            server: self.server.with_header(name.as_ref(), value.as_ref())?,
            ..self
        })
    }

    /// OpenAI itself has wishes that other servers have not.
    fn is_at_openai(&self) -> bool {
        let address = self.server.base_url().strip_prefix("https://");
        address.and_then(|rest| rest.split('/').next()) == Some(HOST)
    }

    fn default_max_tokens(&self) -> Option<u32> {
        match self.default_max_tokens {
            Bound::Set(max_tokens) => max_tokens,
            Bound::Usual => (!self.is_at_openai()).then_some(DEFAULT_MAX_TOKENS),
        }
    }

    /// Asks, and again without a bound or another thing that is refused and can be spared.
    async fn ask(&self, request: Request) -> ReplyStream<'_> {
        let mut attempt = self.attempt(request);
        loop {
            let mut reply = http::stream(self, attempt.request());
            let first = reply.next().await;
            if let Some(Err(error)) = &first
                && self.can_spare(error, &mut attempt)
            {
                continue;
            }
            return Box::pin(stream::iter(first).chain(reply));
        }
    }

    /// The same for who wants the whole reply.
    async fn ask_whole(&self, request: Request) -> Result<Reply, ModelError> {
        let mut attempt = self.attempt(request);
        loop {
            match http::complete(self, attempt.request()).await {
                Err(error) if self.can_spare(&error, &mut attempt) => {}
                answered => return answered,
            }
        }
    }

    fn attempt(&self, request: Request) -> Attempt {
        let ModelOptions {
            max_tokens, extra, ..
        } = &request.options;
        let is_bounded = BOUND_FIELDS.iter().any(|name| extra.contains_key(*name));
        let usual = self.default_max_tokens().filter(|_| !is_bounded);
        Attempt {
            bound: max_tokens.or(usual),
            spared: self.refused.spared(),
            request,
        }
    }

    /// Whether what the server refuses can be left out of the next attempt.
    fn can_spare(&self, error: &ModelError, attempt: &mut Attempt) -> bool {
        if attempt.bound.is_some() && is_bound_refused(error, &attempt.request) {
            attempt.request.options.max_tokens = None;
            attempt.bound = None;
            return true;
        }
        let shape = body::Shape {
            spared: attempt.spared,
            ..self.shape()
        };
        let learnt = self.refused.learn(error, shape, &attempt.request);
        attempt.spared = self.refused.spared();
        learnt
    }

    fn shape(&self) -> body::Shape<'_> {
        body::Shape {
            model: &self.model,
            max_tokens: if self.is_at_openai() {
                "max_completion_tokens"
            } else {
                "max_tokens"
            },
            demands_calls: self.demands_calls,
            streams: self.streams,
            spared: self.refused.spared(),
        }
    }
}

/// Whether a server refuses the bound of a reply, and may be asked without it.
fn is_bound_refused(error: &ModelError, request: &Request) -> bool {
    let says = error.to_string().to_lowercase();
    let is_about_bound = BOUND_WORDS.iter().any(|word| says.contains(word));
    is_about_bound
        && match error.kind() {
            // What is left of the context is less than the bound.
            ModelErrorKind::ContextLength => true,
            ModelErrorKind::InvalidRequest => request.options.max_tokens.is_none(),
            _ => false,
        }
}

impl Protocol for OpenAi {
    type Decoder = Decoder;

    fn server(&self) -> &Server {
        &self.server
    }

    fn body(&self, request: &Request) -> Result<String, ModelError> {
        body::write_body(self.shape(), request)
    }

    fn headers(&self) -> Result<HeaderMap, ModelError> {
        self.server.headers(AUTHORIZATION, "Bearer ", &WORDS)
    }

    fn decoder(&self, _: &Request) -> Decoder {
        Decoder::new(self.returned)
    }

    fn failing(&self, make: impl FnOnce(Failures<'_>) -> ModelError) -> ModelError {
        self.server
            .failing(&self.model, &AUTHORIZATION, WORDS, make)
    }
}

impl LanguageModel for OpenAi {
    fn name(&self) -> &str {
        &self.model
    }

    fn base_url(&self) -> Option<&str> {
        Some(self.server.base_url())
    }

    fn provider(&self) -> Option<&str> {
        Some("openai")
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        Box::pin(self.ask(request).flatten_stream())
    }

    fn complete(
        &self,
        request: Request,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + '_>> {
        Box::pin(self.ask_whole(request))
    }
}

/// A request, and what of it the server takes.
struct Attempt {
    request: Request,
    /// The bound of the reply.
    bound: Option<u32>,
    spared: Spared,
}

impl Attempt {
    fn request(&self) -> Request {
        let mut asked = self.request.clone();
        asked.options.max_tokens = self.bound;
        if self.spared.has(Extra::StreamedTools) && !asked.tools.is_empty() {
            asked.delivery = Delivery::Whole;
        }
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<OpenAi, ModelError> {
        OpenAi::from_variables("m", |name| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        })
    }

    #[test]
    fn the_environment_is_optional() {
        let client = from(&[]).unwrap();
        assert_eq!(client.base_url(), Some("https://api.openai.com/v1"));
        assert!(client.server.api_key.is_none());

        let client = from(&[("OPENAI_BASE_URL", ""), ("OPENAI_API_KEY", " ")]).unwrap();
        assert_eq!(client.base_url(), Some("https://api.openai.com/v1"));
        assert!(client.server.api_key.is_none());
    }

    #[test]
    fn the_environment_is_read() {
        let client = from(&[
            ("OPENAI_BASE_URL", "http://localhost:1/v1"),
            ("OPENAI_API_KEY", "sk-secret\n"),
        ])
        .unwrap();
        assert_eq!(client.base_url(), Some("http://localhost:1/v1"));
        assert_eq!(client.headers().unwrap()[AUTHORIZATION], "Bearer sk-secret");
    }

    #[test]
    fn a_bad_variable_is_named() {
        let error = from(&[("OPENAI_BASE_URL", "localhost")]).unwrap_err();
        assert!(error.to_string().contains("OPENAI_BASE_URL"), "{error}");
    }

    #[test]
    fn openai_itself_is_told_from_servers_like_it() {
        let at = |address: &str| OpenAi::new("m").with_base_url(address).unwrap();
        assert!(OpenAi::new("m").is_at_openai());
        assert!(at("https://api.openai.com/v1").is_at_openai());
        assert!(!at("https://api.openai.com.example/v1").is_at_openai());
    }

    #[test]
    fn debug_shows_no_secret() {
        let client = OpenAi::new("m")
            .with_api_key("sk-secret")
            .with_header("x-token", "hidden")
            .unwrap()
            .with_base_url("http://user:p4ss@localhost/v1?key=k3y")
            .unwrap();
        let shown = format!("{client:?} {:?}", client.base_url());
        for secret in ["sk-secret", "hidden", "p4ss", "k3y"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(shown.contains("x-token"));
    }

    #[test]
    fn bad_headers_are_refused() {
        assert!(OpenAi::new("m").with_header("a b", "c").is_err());
        let error = OpenAi::new("m").with_header("a", "hidden\n").unwrap_err();
        assert!(!error.to_string().contains("hidden"), "{error}");
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_explained() {
        let client = OpenAi::new("m").with_api_key("sk-\u{1}x");
        let error = client.headers().unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Authentication);
        assert!(!error.to_string().contains("sk-"), "{error}");
    }
}
