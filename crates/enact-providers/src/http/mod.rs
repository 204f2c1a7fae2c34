//! What the clients of every protocol over HTTP share: the server, one exchange with it, and its
//! events.

mod address;
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
pub(super) use self::exchange::{complete, stream};
pub(super) use self::protocol::{Decode, DecodeError, Protocol};
use enact_core::model::failure::{Failures, Words};
use enact_core::model::{ModelError, ModelErrorKind, Timeouts};

/// Shorter words of a header are no tokens.
const MIN_TOKEN_LENGTH: usize = 8;

/// A server, and how it is reached.
#[derive(Clone)]
pub(super) struct Server {
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
pub(super) struct Line {
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

    pub(super) fn at(self, address: Address) -> Self {
        Self {
            address,
            line: OnceLock::new(),
            ..self
        }
    }

    pub(super) fn with_api_key(self, key: SecretString) -> Self {
        // Keys read from files end in a line break, which no header can carry.
        let key = SecretString::from(key.expose_secret().trim());
        Self {
            api_key: Some(key).filter(|key| !key.expose_secret().is_empty()),
            ..self
        }
    }

    pub(super) fn with_timeouts(self, timeouts: Timeouts) -> Self {
        Self {
            timeouts,
            line: OnceLock::new(),
            ..self
        }
    }

    pub(super) fn with_max_reply_bytes(self, bytes: usize) -> Self {
        Self {
            max_reply_bytes: Some(bytes),
            ..self
        }
    }

    pub(super) fn with_header(mut self, name: &str, value: &str) -> Result<Self, ModelError> {
        let bad = |what: &str| {
            ModelError::new(
                ModelErrorKind::InvalidRequest,
                format!("bad header `{}`: {what}", name.escape_debug()),
            )
        };
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| bad("its name must consist of letters, digits and dashes"))?;
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| bad("its value must be one line of visible ASCII characters"))?;
        value.set_sensitive(true);
        self.headers.insert(parsed, value);
        Ok(self)
    }

    pub(super) fn base_url(&self) -> &str {
        self.address.base_url()
    }

    /// The headers of a request: the key as `key_header` wants it behind `scheme`, and those that
    /// were set, which win.
    pub(super) fn headers(
        &self,
        key_header: HeaderName,
        scheme: &str,
        words: &Words<'_>,
    ) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.api_key {
            let mut value = HeaderValue::from_str(&format!("{scheme}{}", key.expose_secret()))
                .map_err(|_| {
                    ModelError::new(
                        ModelErrorKind::Authentication,
                        format!(
                            "the API key has characters that no key has: copy it again into {} \
                             or `{}`",
                            words.key_variable, words.key_method
                        ),
                    )
                })?;
            value.set_sensitive(true);
            headers.insert(key_header, value);
        }
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        Ok(headers)
    }

    pub(super) fn line(&self) -> Result<&Line, ModelError> {
        if let Some(line) = self.line.get() {
            return Ok(line);
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("enact/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.timeouts.connect)
            // Proxies hold back compressed events until a block is full. Another crate of the same
            // program may have switched compression on.
            .no_gzip()
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
