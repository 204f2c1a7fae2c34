//! A client for every server that speaks OpenAI's chat completions: OpenAI itself, vLLM,
//! llama.cpp, Ollama, LiteLLM, OpenRouter and many more.
//!
//! Replies are streamed; [`LanguageModel::complete`] folds the stream. A server that ignores the
//! wish to stream and answers with one JSON body works as well.
//!
//! Nothing is retried here: wrap the client in [`Retrying`](crate::model::Retrying).

mod address;
mod body;
mod calls;
mod decode;
mod exchange;
mod failure;
mod sse;

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use self::address::Address;
use self::decode::Returned;
use self::failure::Failures;
use super::{Capabilities, LanguageModel, ModelError, ModelErrorKind, ReplyStream, Request};

const BASE_URL_VARIABLE: &str = "OPENAI_BASE_URL";
const API_KEY_VARIABLE: &str = "OPENAI_API_KEY";
/// Shorter words of a header are no tokens.
const MIN_TOKEN_LENGTH: usize = 8;

/// How long to wait for what.
///
/// ```
/// use std::time::Duration;
/// use enact::model::openai::Timeouts;
///
/// let patient = Timeouts { idle: Duration::from_secs(600), ..Timeouts::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Duration,
    /// From sending the request until the first byte of the reply. Local models read the whole
    /// prompt before they say anything.
    pub first_byte: Duration,
    /// Between two pieces of the reply.
    pub idle: Duration,
    /// For the whole request.
    pub total: Duration,
}

impl Default for Timeouts {
    /// 10 seconds to connect, 5 minutes to the first byte, 2 minutes of silence, 30 minutes in
    /// all.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
            total: Duration::from_secs(1800),
        }
    }
}

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
#[derive(Clone)]
pub struct OpenAi {
    model: String,
    address: Address,
    api_key: Option<SecretString>,
    headers: HeaderMap,
    capabilities: Capabilities,
    timeouts: Timeouts,
    returned: Returned,
    /// Made with the first request: it depends on the address and the timeouts.
    client: OnceLock<reqwest::Client>,
}

impl OpenAi {
    /// A model at api.openai.com, without a key.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            address: Address::openai(),
            api_key: None,
            headers: HeaderMap::new(),
            capabilities: Capabilities::FULL,
            timeouts: Timeouts::default(),
            returned: Returned::Details,
            client: OnceLock::new(),
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
            address: Address::parse(base_url.as_ref())?,
            client: OnceLock::new(),
            ..self
        })
    }

    /// The same with a key, sent as a bearer token.
    #[must_use]
    pub fn with_api_key(self, key: impl Into<SecretString>) -> Self {
        // Keys read from files end in a line break, which no header can carry.
        let key: SecretString = key.into();
        let key = SecretString::from(key.expose_secret().trim());
        Self {
            api_key: Some(key).filter(|key| !key.expose_secret().is_empty()),
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
            timeouts,
            client: OnceLock::new(),
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

    /// The same with a header on every request. It replaces one of the same name, also one that
    /// the client would send itself. The value is kept as a secret.
    ///
    /// # Errors
    /// When the name or the value cannot stand in a header.
    pub fn with_header(
        mut self,
        name: impl AsRef<str>,
        value: impl AsRef<str>,
    ) -> Result<Self, ModelError> {
        let name = name.as_ref();
        let bad = |what: &str| {
            ModelError::new(
                ModelErrorKind::InvalidRequest,
                format!("bad header `{}`: {what}", name.escape_debug()),
            )
        };
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| bad("its name must consist of letters, digits and dashes"))?;
        let mut value = HeaderValue::from_str(value.as_ref())
            .map_err(|_| bad("its value must be one line of visible ASCII characters"))?;
        value.set_sensitive(true);
        self.headers.insert(parsed, value);
        Ok(self)
    }

    /// The headers of a request.
    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.api_key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()))
                .map_err(|_| {
                    ModelError::new(
                        ModelErrorKind::Authentication,
                        "the API key has characters that no key has: copy it again into \
                         OPENAI_API_KEY or `OpenAi::with_api_key`",
                    )
                })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        Ok(headers)
    }

    fn client(&self) -> Result<reqwest::Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("enact/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.timeouts.connect)
            // A redirect would carry prompts to an address that nobody configured.
            .redirect(reqwest::redirect::Policy::none());
        if self.address.is_loopback {
            builder = builder.no_proxy();
        }
        if !self.address.is_tls {
            // Nothing to verify: spares reading the system's certificates, or failing without.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| {
            ModelError::new(
                ModelErrorKind::Connection,
                "could not set up the HTTP client: check the system's TLS certificates",
            )
            .with_source(error.without_url())
        })?;
        Ok(self.client.get_or_init(|| client).clone())
    }

    /// Makes an error about this server.
    fn failing(&self, make: impl FnOnce(Failures<'_>) -> ModelError) -> ModelError {
        let mut secrets: Vec<&str> = Vec::new();
        secrets.extend(self.api_key.as_ref().map(|key| key.expose_secret()));
        secrets.extend(self.address.password());
        // Word by word: a server may quote a token without the scheme in front of it.
        let values = self
            .headers
            .values()
            .filter_map(|value| value.to_str().ok());
        secrets.extend(
            values
                .flat_map(str::split_whitespace)
                .filter(|word| word.len() >= MIN_TOKEN_LENGTH),
        );
        make(Failures {
            model: &self.model,
            base_url: self.address.base_url(),
            has_key: self.api_key.is_some() || self.headers.contains_key(AUTHORIZATION),
            secrets: &secrets,
        })
    }

    fn shape(&self) -> body::Shape<'_> {
        body::Shape {
            model: &self.model,
            max_tokens: if self.address.is_openai {
                "max_completion_tokens"
            } else {
                "max_tokens"
            },
        }
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("OpenAi")
            .field("model", &self.model)
            .field("base_url", &self.address.base_url())
            .field("has_api_key", &self.api_key.is_some())
            .field("headers", &headers)
            .field("capabilities", &self.capabilities)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

impl LanguageModel for OpenAi {
    fn name(&self) -> &str {
        &self.model
    }

    fn base_url(&self) -> Option<&str> {
        Some(self.address.base_url())
    }

    fn provider(&self) -> Option<&str> {
        Some("openai")
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        exchange::stream(self, request)
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
