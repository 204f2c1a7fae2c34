//! What the clients of every protocol over HTTP share: the server, one exchange with it, and its
//! events.

mod address;
mod client;
mod clock;
mod exchange;
pub(super) mod json;
mod protocol;
mod sse;

use std::fmt;
use std::sync::OnceLock;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

pub(super) use self::address::Address;
pub use self::address::credentials;
pub(super) use self::address::{bad_address, is_loopback, no_client};
pub use self::client::Client;
pub(super) use self::clock::Clock;
pub(super) use self::exchange::{Exchange, transport};
pub(super) use self::protocol::{Decode, DecodeError, End, Protocol, Service, SoFar};
use enact_core::model::failure::{Failures, Words};
use enact_core::model::{ModelError, ModelErrorKind, Timeouts};

/// Shorter words of a header are no tokens.
const MIN_TOKEN_LENGTH: usize = 8;

/// A server, and how it is reached.
#[derive(Clone)]
pub(crate) struct Server {
    pub(super) address: Address,
    pub(super) api_key: Option<SecretString>,
    headers: HeaderMap,
    pub(super) timeouts: Timeouts,
    /// How many bytes a reply holds at most, if that is not left to the tokens asked for.
    pub(super) max_reply_bytes: Option<usize>,
    /// Made with the first request: it depends on the address and the timeouts.
    line: OnceLock<Line>,
}

/// What requests are sent by, and where to.
#[derive(Clone)]
pub(crate) struct Line {
    pub(super) client: reqwest::Client,
    pub(super) endpoint: reqwest::Url,
}

impl Server {
    /// A server without a key.
    pub(super) fn new(address: Address) -> Self {
        Self {
            address,
            api_key: None,
            headers: HeaderMap::new(),
            timeouts: Timeouts::default(),
            max_reply_bytes: None,
            line: OnceLock::new(),
        }
    }

    fn move_to(&mut self, address: Address) {
        self.address = address;
        self.line = OnceLock::new();
    }

    fn wait_for(&mut self, timeouts: Timeouts) {
        self.timeouts = timeouts;
        self.line = OnceLock::new();
    }

    pub(super) fn base_url(&self) -> &str {
        self.address.base_url()
    }

    pub(super) fn line(&self) -> Result<&Line, ModelError> {
        if let Some(line) = self.line.get() {
            return Ok(line);
        }
        let client = self.address.client(self.timeouts.connect)?;
        let endpoint = self.address.endpoint()?;
        Ok(self.line.get_or_init(|| Line { client, endpoint }))
    }

    /// Makes an error about this server and a model on it.
    pub(super) fn failing(
        &self,
        model: &str,
        key_header: &HeaderName,
        words: Words<'_>,
        make: impl FnOnce(Failures<'_>) -> ModelError,
    ) -> ModelError {
        let mut secrets: Vec<&str> = Vec::new();
        secrets.extend(self.api_key.as_ref().map(|key| key.expose_secret()));
        secrets.extend(self.address.credentials());
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
        // The longest first, so that one inside another leaves no rest.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let has_key = self.api_key.is_some() || self.headers.contains_key(key_header);
        make(Failures::new(
            model,
            self.base_url(),
            words,
            has_key,
            &secrets,
        ))
    }
}

impl<P: Protocol> Client<P> {
    /// The headers of a request: the key, and those that were set, which win.
    pub(super) fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        P::add_headers(&mut headers);
        if let Some(key) = &self.server.api_key {
            let key = format!("{}{}", P::KEY_SCHEME, key.expose_secret());
            let mut value = HeaderValue::from_str(&key).map_err(|_| {
                let Words {
                    key_variable,
                    key_method,
                    ..
                } = self.service.words();
                ModelError::new(
                    ModelErrorKind::Authentication,
                    format!(
                        "the API key has characters that no key has: copy it again into \
                         {key_variable} or `{key_method}`"
                    ),
                )
            })?;
            value.set_sensitive(true);
            headers.insert(P::KEY_HEADER, value);
        }
        for (name, value) in &self.server.headers {
            headers.insert(name, value.clone());
        }
        Ok(headers)
    }
}

fn bad_header(name: &str, what: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::InvalidRequest,
        format!("bad header `{}`: {what}", name.escape_debug()),
    )
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Server")
            .field("base_url", &self.base_url())
            .field("has_api_key", &self.api_key.is_some())
            .field("headers", &headers)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}
