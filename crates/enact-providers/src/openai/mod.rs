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
mod nesting;
mod spared;

use reqwest::header::{AUTHORIZATION, HeaderName};

use self::decode::{Decoder, Returned};
use self::spared::{Extra, Refused, Spared};
use crate::http::{Address, Client, Exchange, Protocol, Service};
pub use enact_core::model::Timeouts;
use enact_core::model::failure::Words;
use enact_core::model::{Delivery, ModelError, ModelErrorKind, ModelOptions, Request};

/// How many tokens a reply has at most where nobody says it, at other servers than api.openai.com.
pub const DEFAULT_MAX_TOKENS: u32 = 8192;
/// How servers speak of the bound of a reply when they refuse it.
const BOUND_WORDS: [&str; 3] = ["max_tokens", "max_completion_tokens", "completion"];
/// The fields that bound a reply.
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
pub type OpenAi = Client<ChatCompletions>;

/// OpenAI's chat completions, and what differs from server to server.
#[derive(Debug, Clone, Default)]
pub struct ChatCompletions {
    returned: Returned,
    demands_calls: bool,
    default_max_tokens: Bound,
    streams: bool,
    refused: Refused,
}

/// How long a reply may be where a request does not say it.
#[derive(Debug, Clone, Copy, Default)]
enum Bound {
    /// As is good for the server.
    #[default]
    Usual,
    Set(Option<u32>),
}

impl OpenAi {
    /// The same for models that want the reasoning behind their tool calls back, as
    /// `reasoning_content`: some refuse to go on without it, others refuse a request with it.
    #[must_use]
    pub fn with_reasoning_returned(mut self) -> Self {
        self.service.returned = Returned::Reasoning;
        self
    }

    /// The same for small models, which else answer off the top of their heads: wherever a tool may be
    /// called, one has to be (`tool_choice: required`). Agents commit their outputs by a tool, too. Some
    /// models write no thoughts then.
    #[must_use]
    pub fn with_demanded_calls(mut self) -> Self {
        self.service.demands_calls = true;
        self
    }

    /// The same with another bound on replies to requests that set none: [`DEFAULT_MAX_TOKENS`] unless
    /// told, and none at api.openai.com. `None` sends no bound.
    #[must_use]
    pub fn with_default_max_tokens(mut self, max_tokens: impl Into<Option<u32>>) -> Self {
        self.service.default_max_tokens = Bound::Set(max_tokens.into());
        self
    }

    /// The same with every reply streamed, also where nobody reads along: one that
    /// [repeats itself](enact_core::model::cut_endless) is then cut off early, not when it is whole.
    #[must_use]
    pub fn with_replies_streamed(mut self) -> Self {
        self.service.streams = true;
        self
    }

    /// OpenAI itself has wishes that other servers have not.
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

    /// Asks again without a bound or another thing that is refused and can be spared.
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
