//! A client for Anthropic's Messages API, and for servers with the same protocol.
//!
//! Replies are streamed or not, as requested.
//!
//! There are no retries: wrap the client in [`Retrying`](enact_core::model::Retrying).

mod blocks;
mod body;
mod decode;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use self::body::{Shape, is_answer_forced};
use self::decode::Decoder;
use crate::http::{Address, Client, Protocol, Service};
use enact_core::model::failure::Words;
use enact_core::model::{ModelError, Request};

/// A model with Anthropic's Messages API.
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
/// What is sent:
///
/// - Prompt-cache breakpoints follow the instructions and the last two turns of the user, so that each
///   request finds what the one before has cached.
///   [`Anthropic::without_prompt_cache`] leaves them out.
/// - Thinking is returned unchanged with the next request, with its signatures.
/// - A [response format](enact_core::model::ResponseFormat) is requested as a tool that has to be called;
///   its arguments are the text of the reply. That works for every schema and model, but not with
///   thinking, so such a request omits it.
/// - [`reasoning_effort`](enact_core::model::ModelOptions::reasoning_effort) is a number of tokens for
///   thinking, `none`, or a word such as `high` for models that accept one. With thinking, a tool call
///   can't be demanded, and there is no temperature.
/// - `max_tokens` is required: 8192 by default.
/// - Fields of [`ModelOptions::extra`](enact_core::model::ModelOptions::extra) replace those with the same
///   name; `null` removes a field. `messages`, `stream` and `tools` cannot be replaced.
/// - A seed is not sent: the protocol has none.
///
/// `/v1` can be omitted in the base URL, as in Anthropic's own libraries.
pub type Anthropic = Client<Messages>;

/// Anthropic's Messages API.
#[derive(Debug, Clone, Default)]
pub struct Messages {
    is_uncached: bool,
}

impl Anthropic {
    /// Removes the prompt-cache breakpoints: nothing is cached. Writing to the cache costs slightly more
    /// than reading, so single requests are cheaper without it.
    #[must_use]
    pub fn without_prompt_cache(mut self) -> Self {
        self.service.is_uncached = true;
        self
    }
}

impl Service for Messages {
    const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");

    fn address(base_url: &str) -> Result<Address, ModelError> {
        let base_url = base_url.trim().trim_end_matches('/');
        let address = Address::parse(base_url, Self::ENDPOINT)?;
        let (_, place) = address.base_url().split_once("://").unwrap_or_default();
        match place.contains('/') {
            true => Ok(address),
            false => Address::parse(&format!("{base_url}/v1"), Self::ENDPOINT),
        }
    }

    fn words(&self) -> Words<'_> {
        Words {
            server: "a server that speaks Anthropic's messages",
            key_variable: Some(Self::KEY_VARIABLE),
            key_method: "Anthropic::with_api_key",
        }
    }

    fn provider(&self) -> &str {
        "anthropic"
    }
}

impl Protocol for Messages {
    type Decoder = Decoder;

    const HOST: &'static str = "api.anthropic.com";
    const ENDPOINT: &'static str = "/messages";
    const KEY_VARIABLE: &'static str = "ANTHROPIC_API_KEY";
    const BASE_URL_VARIABLE: &'static str = "ANTHROPIC_BASE_URL";
    const KEY_SCHEME: &'static str = "";

    fn body(client: &Client<Self>, request: &Request) -> Result<String, ModelError> {
        let shape = Shape {
            model: &client.model,
            has_breakpoints: !client.service.is_uncached,
        };
        body::write_body(shape, request)
    }

    fn add_headers(headers: &mut HeaderMap) {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }

    fn decoder(&self, request: &Request) -> Decoder {
        Decoder::new(is_answer_forced(request))
    }
}

#[cfg(test)]
mod tests {
    use enact_core::LanguageModel as _;

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
        assert!(!client.headers().unwrap().contains_key(Messages::KEY_HEADER));

        let client = from(&[
            ("ANTHROPIC_BASE_URL", "http://localhost:1/proxy/v1"),
            ("ANTHROPIC_API_KEY", "sk-ant-secret\n"),
        ])
        .unwrap();
        assert_eq!(client.base_url(), Some("http://localhost:1/proxy/v1"));
        assert_eq!(
            client.headers().unwrap()[Messages::KEY_HEADER],
            "sk-ant-secret"
        );
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
        assert_eq!(client.headers().unwrap()["anthropic-version"], "2030-01-01");
    }
}
