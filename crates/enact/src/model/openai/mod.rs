//! A client for every server that speaks OpenAI's chat completions: OpenAI itself, vLLM,
//! llama.cpp, Ollama, LiteLLM, OpenRouter and many more.
//!
//! Replies are streamed, or come whole, as the request wants it. A server that ignores the wish and
//! answers in the other way works as well.
//!
//! Nothing is retried here: wrap the client in [`Retrying`](crate::model::Retrying).

mod body;
mod calls;
mod decode;
mod loose;

use reqwest::header::{AUTHORIZATION, HeaderMap};
use secrecy::SecretString;

use self::decode::{Decoder, Returned};
pub use super::Timeouts;
use super::failure::{Failures, Words};
use super::http::{self, Address, Protocol, Server};
use super::{Capabilities, LanguageModel, ModelError, ReplyStream, Request};

const BASE_URL_VARIABLE: &str = "OPENAI_BASE_URL";
const API_KEY_VARIABLE: &str = "OPENAI_API_KEY";
const HOST: &str = "api.openai.com";
const ENDPOINT: &str = "/chat/completions";
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
/// - Fields of [`ModelOptions::extra`](super::ModelOptions::extra) replace those of the same name;
///   `null` leaves a field out, for servers that refuse it. `messages`, `stream` and `tools`
///   cannot be replaced.
/// - `max_tokens` is sent as `max_completion_tokens` to api.openai.com, which wants it so.
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
            ..self
        })
    }

    /// The same with a key, sent as a bearer token.
    #[must_use]
    pub fn with_api_key(self, key: impl Into<SecretString>) -> Self {
        Self {
            server: self.server.with_api_key(key.into()),
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

    fn shape(&self) -> body::Shape<'_> {
        body::Shape {
            model: &self.model,
            max_tokens: if self.is_at_openai() {
                "max_completion_tokens"
            } else {
                "max_tokens"
            },
            demands_calls: self.demands_calls,
        }
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
        http::stream(self, request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelErrorKind;

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
