//! A client for every server with OpenAI's chat completions API: OpenAI itself, vLLM,
//! llama.cpp, Ollama, LiteLLM, OpenRouter and many more.
//!
//! Replies are streamed or not, as requested. Servers that ignore the request and answer in the other
//! way also work.
//!
//! There are no retries: wrap the client in [`Retrying`](enact_core::model::Retrying).

mod body;
mod calls;
mod decode;
mod nesting;
mod spared;

use reqwest::header::{AUTHORIZATION, HeaderName};

use self::decode::{Decoder, Returned};
use self::spared::{Extra, Refused, Spared};
use crate::http::{Address, Client, Exchange, Protocol, Service};
pub use enact_core::model::Timeouts;
use enact_core::model::failure::Words;
use enact_core::model::{Delivery, ModelError, ModelErrorKind, ModelOptions, Request};

/// The default token limit of a reply, at servers other than api.openai.com.
pub const DEFAULT_MAX_TOKENS: u32 = 8192;
/// How servers describe the token limit when they reject it.
const BOUND_WORDS: [&str; 3] = ["max_tokens", "max_completion_tokens", "completion"];
/// The fields for the token limit.
const BOUND_FIELDS: [&str; 2] = ["max_tokens", "max_completion_tokens"];
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
/// What is sent:
///
/// - Everything except the messages is written first, in a fixed order: as a prompt grows, each request
///   starts with the bytes of the one before.
/// - Fields of [`ModelOptions::extra`](enact_core::model::ModelOptions::extra) replace those with the same
///   name; `null` removes a field, for servers that reject it. `messages`, `stream` and `tools` cannot be
///   replaced.
/// - `max_tokens` is sent as `max_completion_tokens` to api.openai.com, which requires that.
/// - Without [`ModelOptions::max_tokens`](enact_core::model::ModelOptions::max_tokens), a reply has at most
///   [8192 tokens](DEFAULT_MAX_TOKENS), to stop a model that doesn't stop by itself. Nothing is sent
///   to api.openai.com: its models stop, and their reasoning would count. See
///   [`OpenAi::with_default_max_tokens`].
/// - If a server reports that a token limit doesn't fit into the context, or rejects the default
///   `max_tokens`, the request is sent again without it. The same applies to `stream_options`,
///   `parallel_tool_calls`, `tool_choice`, and to streaming replies to requests with tools; the client
///   remembers what a server rejects.
/// - Images that tools return are sent in a user message after the results of the turn, because
///   most servers reject them in tool messages.
/// - In earlier calls of the model, arguments that are not a JSON object are sent as `{}`, and invalid
///   characters in names are replaced.
pub type OpenAi = Client<ChatCompletions>;

/// OpenAI's chat completions API, with the differences between servers.
#[derive(Debug, Clone, Default)]
pub struct ChatCompletions {
    returned: Returned,
    demands_calls: bool,
    default_max_tokens: Bound,
    streams: bool,
    refused: Refused,
}

/// The token limit of a reply if the request sets none.
#[derive(Debug, Clone, Copy, Default)]
enum Bound {
    /// The default for the server.
    #[default]
    Usual,
    Set(Option<u32>),
}

impl OpenAi {
    /// Returns the reasoning before tool calls to the model, as `reasoning_content`: some models require
    /// it, others reject a request with it.
    #[must_use]
    pub fn with_reasoning_returned(mut self) -> Self {
        self.service.returned = Returned::Reasoning;
        self
    }

    /// Requires a tool call whenever tools are available (`tool_choice: required`), for small models, which
    /// otherwise answer without using tools. Agents also commit their outputs with a tool. Some models
    /// write no thoughts then.
    #[must_use]
    pub fn with_demanded_calls(mut self) -> Self {
        self.service.demands_calls = true;
        self
    }

    /// Sets the token limit of replies to requests that set none. Default: [`DEFAULT_MAX_TOKENS`], and none
    /// at api.openai.com. `None` sends no limit.
    #[must_use]
    pub fn with_default_max_tokens(mut self, max_tokens: impl Into<Option<u32>>) -> Self {
        self.service.default_max_tokens = Bound::Set(max_tokens.into());
        self
    }

    /// Streams every reply, even if that was not requested: a reply that
    /// [repeats itself](enact_core::model::cut_endless) is then cut off early, not when it is complete.
    #[must_use]
    pub fn with_replies_streamed(mut self) -> Self {
        self.service.streams = true;
        self
    }

    /// OpenAI itself has requirements that other servers don't have.
    fn is_at_openai(&self) -> bool {
        let address = self.address.base_url().strip_prefix("https://");
        address.and_then(|rest| rest.split('/').next()) == Some(ChatCompletions::HOST)
    }

    fn default_max_tokens(&self) -> Option<u32> {
        match self.service.default_max_tokens {
            Bound::Set(max_tokens) => max_tokens,
            Bound::Usual => (!self.is_at_openai()).then_some(DEFAULT_MAX_TOKENS),
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
            spared: self.service.refused.spared(),
            request,
        }
    }

    /// Whether the rejected part can be left out of the next attempt.
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
        let learnt = self.service.refused.learn(error, shape, &attempt.request);
        attempt.spared = self.service.refused.spared();
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
            demands_calls: self.service.demands_calls,
            streams: self.service.streams,
            spared: self.service.refused.spared(),
        }
    }
}

/// Whether a server rejects the token limit, and can be asked without it.
fn is_bound_refused(error: &ModelError, request: &Request) -> bool {
    let says = error.to_string().to_lowercase();
    let is_about_bound = BOUND_WORDS.iter().any(|word| says.contains(word));
    is_about_bound
        && match error.kind() {
            // The rest of the context is smaller than the limit.
            ModelErrorKind::ContextLength => true,
            ModelErrorKind::InvalidRequest => request.options.max_tokens.is_none(),
            _ => false,
        }
}

impl Service for ChatCompletions {
    const KEY_HEADER: HeaderName = AUTHORIZATION;

    fn address(base_url: &str) -> Result<Address, ModelError> {
        Address::parse(base_url, Self::ENDPOINT)
    }

    fn words(&self) -> Words<'_> {
        Words {
            server: "an OpenAI-compatible chat-completions server",
            key_variable: Some(Self::KEY_VARIABLE),
            key_method: "OpenAi::with_api_key",
        }
    }

    fn provider(&self) -> &str {
        "openai"
    }

    fn forget(&mut self) {
        self.refused = Refused::default();
    }
}

impl Protocol for ChatCompletions {
    type Decoder = Decoder;

    const HOST: &'static str = "api.openai.com";
    const ENDPOINT: &'static str = "/chat/completions";
    const KEY_VARIABLE: &'static str = "OPENAI_API_KEY";
    const BASE_URL_VARIABLE: &'static str = "OPENAI_BASE_URL";
    const KEY_SCHEME: &'static str = "Bearer ";

    fn body(client: &Client<Self>, request: &Request) -> Result<String, ModelError> {
        body::write_body(client.shape(), request)
    }

    /// Sends the request again without a rejected part that is dispensable.
    async fn ask(
        client: &Client<Self>,
        request: Request,
    ) -> Result<Exchange<'_, Self>, ModelError> {
        let mut attempt = client.attempt(request);
        loop {
            match Exchange::begin(client, attempt.request()).await {
                Err(error) if client.can_spare(&error, &mut attempt) => {}
                begun => return begun,
            }
        }
    }

    fn decoder(&self, _: &Request) -> Decoder {
        Decoder::new(self.returned)
    }
}

/// A request, and what the server accepts of it.
struct Attempt {
    request: Request,
    /// The token limit of the reply.
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
    use enact_core::LanguageModel as _;

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
        assert!(client.api_key.is_none());

        let client = from(&[("OPENAI_BASE_URL", ""), ("OPENAI_API_KEY", " ")]).unwrap();
        assert_eq!(client.base_url(), Some("https://api.openai.com/v1"));
        assert!(client.api_key.is_none());
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
