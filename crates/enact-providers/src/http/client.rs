//! The client for all protocols: its settings.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use enact_core::model::failure::{Failures, KeyOrigin, Words};
use enact_core::model::{
    Capabilities, LanguageModel, ModelError, ModelErrorKind, ModelInfo, Reply, ReplyStream,
    Request, Timeouts,
};
use futures_util::TryFutureExt as _;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use super::exchange::lost;
use super::{Address, Exchange, Protocol, Service};

/// Shorter words in a header are not tokens.
const MIN_TOKEN_LENGTH: usize = 8;

/// A model behind a server: [`OpenAi`](crate::OpenAi), [`Anthropic`](crate::Anthropic) or
/// [`Genai`](crate::Genai).
///
/// Requests to loopback addresses never use a proxy, and redirects are not followed.
///
/// ```
/// use enact::model::{OpenAi, Timeouts};
///
/// let model = OpenAi::new("llama3.1")
///     .with_base_url("http://127.0.0.1:11434/v1")?
///     .with_api_key("not needed");
/// # Ok::<_, enact::model::ModelError>(())
/// ```
#[derive(Clone)]
pub struct Client<S> {
    pub(crate) model: String,
    pub(crate) address: Address,
    pub(crate) api_key: Option<SecretString>,
    key_origin: KeyOrigin<'static>,
    /// The variable that can hold the key, if it is another one than the service usually has.
    key_variable: Option<Option<&'static str>>,
    headers: HeaderMap,
    pub(crate) timeouts: Timeouts,
    /// The maximum size of a reply in bytes, unless derived from the token limit.
    pub(super) max_reply_bytes: Option<usize>,
    capabilities: Capabilities,
    pub(crate) service: S,
    /// Created with the first request: it depends on the address and the timeouts.
    line: OnceLock<Line>,
    /// A request without its body, made with the first one.
    blank: OnceLock<Arc<reqwest::Request>>,
}

/// The HTTP client, and the address.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) http: reqwest::Client,
    pub(super) endpoint: reqwest::Url,
}

impl<P: Protocol> Client<P> {
    /// Creates a client for the provider's own address, without a key.
    pub fn new(model: impl Into<String>) -> Self {
        let address = Address::public(P::HOST, P::ENDPOINT);
        Self::of(model, address, Capabilities::FULL, P::default())
    }

    /// Creates a client with the address and the key in the environment: `OPENAI_BASE_URL` and
    /// `OPENAI_API_KEY`, or `ANTHROPIC_BASE_URL` and `ANTHROPIC_API_KEY`. Each of them can be unset.
    ///
    /// # Errors
    /// If the variable for the address contains no URL.
    pub fn from_env(model: impl Into<String>) -> Result<Self, ModelError> {
        Self::from_variables(model, |name| std::env::var(name).ok())
    }

    pub(crate) fn from_variables(
        model: impl Into<String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        let given = |name| variable(name).filter(|value| !value.trim().is_empty());
        let mut client = Self::new(model);
        if let Some(base_url) = given(P::BASE_URL_VARIABLE) {
            let note = |error: ModelError| {
                error.with_note(&format!("it comes from {}", P::BASE_URL_VARIABLE))
            };
            client = client.with_base_url(base_url).map_err(note)?;
        }
        if let Some(key) = given(P::KEY_VARIABLE) {
            client = client.with_secret(key.into(), KeyOrigin::Variable(P::KEY_VARIABLE));
        }
        Ok(client)
    }

    /// Sets the maximum size in bytes of a reply's text, reasoning and calls. Default:
    /// [`max_reply_bytes`](enact_core::model::max_reply_bytes). A longer reply is cut off.
    #[must_use]
    pub fn with_max_reply_bytes(mut self, bytes: usize) -> Self {
        self.max_reply_bytes = Some(bytes);
        self
    }

    /// Adds a header to every request. It replaces one with the same name, including headers of the
    /// client. The value is kept secret.
    ///
    /// # Errors
    /// If the name or the value is not valid in a header.
    pub fn with_header(
        mut self,
        name: impl AsRef<str>,
        value: impl AsRef<str>,
    ) -> Result<Self, ModelError> {
        let name = name.as_ref();
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| bad_header(name, "its name must consist of letters, digits and dashes"))?;
        let mut value = HeaderValue::from_str(value.as_ref()).map_err(|_| {
            bad_header(
                name,
                "its value must be one line of visible ASCII characters",
            )
        })?;
        value.set_sensitive(true);
        self.headers.insert(parsed, value);
        self.blank = OnceLock::new();
        Ok(self)
    }
}

impl<S: Service> Client<S> {
    pub(crate) fn of(
        model: impl Into<String>,
        address: Address,
        capabilities: Capabilities,
        service: S,
    ) -> Self {
        Self {
            model: model.into(),
            address,
            api_key: None,
            key_origin: KeyOrigin::Given,
            key_variable: None,
            headers: HeaderMap::new(),
            timeouts: Timeouts::default(),
            max_reply_bytes: None,
            capabilities,
            service,
            line: OnceLock::new(),
            blank: OnceLock::new(),
        }
    }

    /// Sets the address of the server, such as `http://localhost:8080/v1`.
    ///
    /// # Errors
    /// If this is not an `http` or `https` URL.
    pub fn with_base_url(mut self, base_url: impl AsRef<str>) -> Result<Self, ModelError> {
        self.address = S::address(base_url.as_ref())?;
        self.line = OnceLock::new();
        self.blank = OnceLock::new();
        self.service.forget();
        Ok(self)
    }

    /// Sets the key.
    #[must_use]
    pub fn with_api_key(self, key: impl Into<String>) -> Self {
        self.with_secret(key.into().into(), KeyOrigin::Given)
    }

    /// The same with a key that comes from somewhere.
    pub(crate) fn with_secret(mut self, key: SecretString, origin: KeyOrigin<'static>) -> Self {
        self.key_origin = origin;
        // Keys read from files end in a line break, which no header can carry.
        let key = key.expose_secret().trim();
        self.api_key = (!key.is_empty()).then(|| key.into());
        self.blank = OnceLock::new();
        self
    }

    /// The same for a provider whose key is in this variable.
    pub(crate) fn with_key_variable(mut self, variable: Option<&'static str>) -> Self {
        self.key_variable = Some(variable);
        self
    }

    fn words(&self) -> Words<'_> {
        let words = self.service.words();
        Words {
            key_variable: self.key_variable.unwrap_or(words.key_variable),
            ..words
        }
    }

    /// The same with other capabilities: what is known of the provider unless told.
    #[must_use]
    pub fn with_capabilities(self, capabilities: Capabilities) -> Self {
        Self {
            capabilities,
            ..self
        }
    }

    /// Sets the time limits.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self.line = OnceLock::new();
        self
    }

    pub(crate) fn known(&self) -> ModelInfo<'_> {
        ModelInfo::new(&self.model, self.capabilities)
            .with_provider(self.service.provider())
            .with_base_url(self.address.base_url())
    }

    pub(crate) fn line(&self) -> Result<&Line, ModelError> {
        if let Some(line) = self.line.get() {
            return Ok(line);
        }
        let http = self.address.client(self.timeouts.connect)?;
        let endpoint = self.address.endpoint()?;
        Ok(self.line.get_or_init(|| Line { http, endpoint }))
    }

    /// Creates errors about this server and its model.
    pub(crate) fn failing(&self, make: impl FnOnce(Failures<'_>) -> ModelError) -> ModelError {
        let key = self.api_key.as_ref().map(|key| key.expose_secret());
        // Word by word: a server may quote a token without its scheme.
        let values = self.headers.values();
        let words = values.filter_map(|value| value.to_str().ok());
        let words = words.flat_map(str::split_whitespace);
        let tokens = words.filter(|word| word.len() >= MIN_TOKEN_LENGTH);
        let secrets = key.into_iter().chain(self.address.credentials());
        let mut secrets: Vec<&str> = secrets.chain(tokens).collect();
        // The longest first, so that one inside another leaves no remainder.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let origin = match self.headers.contains_key(S::KEY_HEADER) {
            true => Some(KeyOrigin::Header),
            false => key.map(|_| self.key_origin),
        };
        let words = self.words();
        let base_url = self.address.base_url();
        make(Failures::new(
            &self.model,
            base_url,
            words,
            origin,
            &secrets,
        ))
    }
}

impl<S: fmt::Debug> fmt::Debug for Client<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Client")
            .field("model", &self.model)
            .field("base_url", &self.address.base_url())
            .field("has_api_key", &self.api_key.is_some())
            .field("headers", &headers)
            .field("timeouts", &self.timeouts)
            .field("capabilities", &self.capabilities)
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl<P: Protocol> Client<P> {
    /// A request with this body, and what sends it.
    pub(super) fn request(
        &self,
        body: String,
    ) -> Result<(&reqwest::Client, reqwest::Request), ModelError> {
        let Line { http, endpoint } = self.line()?;
        let blank = match self.blank.get() {
            Some(blank) => blank,
            None => {
                // This moves the credentials of the address into a header.
                let asked = http.post(endpoint.clone()).headers(self.headers()?);
                let blank = asked.build().map_err(|error| lost(self, error))?;
                self.blank.get_or_init(|| Arc::new(blank))
            }
        };
        let mut request = reqwest::Request::new(Method::POST, blank.url().clone());
        request.headers_mut().clone_from(blank.headers());
        *request.body_mut() = Some(body.into());
        Ok((http, request))
    }

    /// The headers of a request: the key, and those that were set, which win.
    pub(crate) fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        P::add_headers(&mut headers);
        if let Some(key) = &self.api_key {
            let key = format!("{}{}", P::KEY_SCHEME, key.expose_secret());
            let mut value = HeaderValue::from_str(&key).map_err(|_| {
                let to_do = self.words().to_replace(self.key_origin);
                ModelError::new(
                    ModelErrorKind::Authentication,
                    format!("the API key has characters that no key has: {to_do}"),
                )
            })?;
            value.set_sensitive(true);
            headers.insert(P::KEY_HEADER, value);
        }
        for (name, value) in &self.headers {
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

impl<P: Protocol> LanguageModel for Client<P> {
    fn info(&self) -> ModelInfo<'_> {
        self.known()
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let begun = P::ask(self, request);
        Box::pin(begun.map_ok(Exchange::into_stream).try_flatten_stream())
    }

    fn complete(
        &self,
        request: Request,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + '_>> {
        Box::pin(P::ask(self, request).and_then(Exchange::complete))
    }
}
