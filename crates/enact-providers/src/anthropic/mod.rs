//! A client for Anthropic's messages, and for servers that speak the same protocol.
//!
//! Replies are streamed, or come whole, as the request wants it.
//!
//! Nothing is retried here: wrap the client in [`Retrying`](enact_core::model::Retrying).

mod blocks;
mod body;
mod decode;

use std::pin::Pin;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;

use self::body::{Shape, is_answer_forced};
use self::decode::Decoder;
use crate::http::{self, Address, Protocol, Server};
use enact_core::model::failure::{Failures, Words};
use enact_core::model::{
    Capabilities, LanguageModel, ModelError, Reply, ReplyStream, Request, Timeouts,
};

const BASE_URL_VARIABLE: &str = "ANTHROPIC_BASE_URL";
const API_KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";
const HOST: &str = "api.anthropic.com";
const ENDPOINT: &str = "/messages";
const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");
const VERSION_HEADER: HeaderName = HeaderName::from_static("anthropic-version");
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
const WORDS: Words<'static> = Words {
    server: "a server that speaks Anthropic's messages",
    key_variable: API_KEY_VARIABLE,
    key_method: "Anthropic::with_api_key",
};

/// A model of Anthropic's.
///
/// ```no_run
/// # fn main() -> Result<(), enact::model::ModelError> {
/// use enact::model::{Anthropic, Retrying};
///
/// // ANTHROPIC_API_KEY, and ANTHROPIC_BASE_URL if it is set.
/// let model = Retrying::new(Anthropic::from_env("claude-sonnet-4-5")?);
/// # Ok(())
/// # }
/// ```
///
/// What goes over the wire:
///
/// - Prompt-cache breakpoints stand behind the instructions and behind the last two turns of the
///   user, so that each request finds what the one before it has cached.
///   [`Anthropic::without_prompt_cache`] leaves them out.
/// - Thinking comes back with the next request as it was, with its signatures.
/// - A [response format](enact_core::model::ResponseFormat) is asked for as a tool that has to be called; its
///   arguments are the text of the reply. That works for every schema and every model, but not
///   while thinking, so such a request goes without.
/// - [`reasoning_effort`](enact_core::model::ModelOptions::reasoning_effort) is a number of tokens to think
///   with, `none`, or a word such as `high` for models that take one. While thinking, a model
///   cannot be held to call a tool, and takes no temperature.
/// - `max_tokens` has to be sent: 8192 unless it is set.
/// - Fields of [`ModelOptions::extra`](enact_core::model::ModelOptions::extra) replace those of the same name;
///   `null` leaves a field out. `messages`, `stream` and `tools` cannot be replaced.
/// - A seed is not sent: the protocol has none.
///
/// Requests to loopback addresses never go through a proxy, and redirects are not followed.
#[derive(Debug, Clone)]
pub struct Anthropic {
    model: String,
    server: Server,
    capabilities: Capabilities,
    has_breakpoints: bool,
}

impl Anthropic {
    /// A model at api.anthropic.com, without a key.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            server: Server::new(Address::public(HOST, ENDPOINT)),
            capabilities: Capabilities::FULL,
            has_breakpoints: true,
        }
    }

    /// A model with the key in `ANTHROPIC_API_KEY`, at `ANTHROPIC_BASE_URL`. Either may be unset.
    ///
    /// # Errors
    /// When `ANTHROPIC_BASE_URL` is not a URL.
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
                .map_err(|error| error.with_note("it comes from ANTHROPIC_BASE_URL"))?;
        }
        if let Some(key) = given(API_KEY_VARIABLE) {
            client = client.with_api_key(key);
        }
        Ok(client)
    }

    /// The same at another server. `/v1` may be left out.
    ///
    /// # Errors
    /// When this is not an `http` or `https` URL.
    pub fn with_base_url(self, base_url: impl AsRef<str>) -> Result<Self, ModelError> {
        let base_url = base_url.as_ref().trim().trim_end_matches('/');
        let mut address = Address::parse(base_url, ENDPOINT)?;
        // Anthropic's own libraries take the address without its version.
        let (_, place) = address.base_url().split_once("://").unwrap_or_default();
        if !place.contains('/') {
            address = Address::parse(&format!("{base_url}/v1"), ENDPOINT)?;
        }
        Ok(Self {
            server: self.server.at(address),
            ..self
        })
    }

    /// The same with a key.
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

    /// The same with another bound on the bytes of a reply's text, reasoning and calls:
    /// [`max_reply_bytes`](enact_core::model::max_reply_bytes) unless told. A longer one is cut off.
    #[must_use]
    pub fn with_max_reply_bytes(self, bytes: usize) -> Self {
        Self {
            server: self.server.with_max_reply_bytes(bytes),
            ..self
        }
    }

    /// The same without prompt-cache breakpoints: nothing is cached. Writing to the cache costs a
    /// little more than reading, so single requests are cheaper without.
    #[must_use]
    pub fn without_prompt_cache(self) -> Self {
        Self {
            has_breakpoints: false,
            ..self
        }
    }

    /// The same with a header on every request, such as `anthropic-beta`. It replaces one of the
    /// same name, also one that the client would send itself. The value is kept as a secret.
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
}

impl Protocol for Anthropic {
    type Decoder = Decoder;

    fn server(&self) -> &Server {
        &self.server
    }

    fn body(&self, request: &Request) -> Result<String, ModelError> {
        let shape = Shape {
            model: &self.model,
            has_breakpoints: self.has_breakpoints,
        };
        body::write_body(shape, request)
    }

    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = self.server.headers(KEY_HEADER, "", &WORDS)?;
        headers.entry(VERSION_HEADER).or_insert(VERSION);
        Ok(headers)
    }

    fn decoder(&self, request: &Request) -> Decoder {
        Decoder::new(is_answer_forced(request))
    }

    fn failing(&self, make: impl FnOnce(Failures<'_>) -> ModelError) -> ModelError {
        self.server.failing(&self.model, &KEY_HEADER, WORDS, make)
    }
}

impl LanguageModel for Anthropic {
    fn name(&self) -> &str {
        &self.model
    }

    fn base_url(&self) -> Option<&str> {
        Some(self.server.base_url())
    }

    fn provider(&self) -> Option<&str> {
        Some("anthropic")
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        http::stream(self, request)
    }

    fn complete(
        &self,
        request: Request,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + '_>> {
        Box::pin(http::complete(self, request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<Anthropic, ModelError> {
        Anthropic::from_variables("m", |name| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        })
    }

    #[test]
    fn the_environment_is_read_and_optional() {
        let client = from(&[]).unwrap();
        assert_eq!(client.base_url(), Some("https://api.anthropic.com/v1"));
        assert!(!client.headers().unwrap().contains_key(KEY_HEADER));

        let client = from(&[
            ("ANTHROPIC_BASE_URL", "http://localhost:1/proxy/v1"),
            ("ANTHROPIC_API_KEY", "sk-ant-secret\n"),
        ])
        .unwrap();
        assert_eq!(client.base_url(), Some("http://localhost:1/proxy/v1"));
        assert_eq!(client.headers().unwrap()[KEY_HEADER], "sk-ant-secret");
        assert!(!format!("{client:?}").contains("secret"));

        let error = from(&[("ANTHROPIC_BASE_URL", "localhost")]).unwrap_err();
        assert!(error.to_string().contains("ANTHROPIC_BASE_URL"), "{error}");
    }

    #[test]
    fn the_version_may_be_left_out_of_the_address() {
        for text in ["http://h:1", "http://h:1/", "http://h:1/v1"] {
            let client = Anthropic::new("m").with_base_url(text).unwrap();
            assert_eq!(client.base_url(), Some("http://h:1/v1"), "{text}");
        }
    }

    #[test]
    fn a_header_of_ones_own_wins() {
        let client = Anthropic::new("m")
            .with_header("anthropic-version", "2030-01-01")
            .unwrap();
        assert_eq!(client.headers().unwrap()[VERSION_HEADER], "2030-01-01");
    }
}
