//! The client of all protocols: what is set on it, whatever it speaks.

use std::pin::Pin;

use enact_core::model::failure::Failures;
use enact_core::model::{
    Capabilities, LanguageModel, ModelError, ModelInfo, Reply, ReplyStream, Request, Timeouts,
};
use futures_util::TryFutureExt as _;
use reqwest::header::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use super::{Address, Exchange, Protocol, Server, Service, bad_header};

/// A model behind a server: [`OpenAi`](crate::OpenAi), [`Anthropic`](crate::Anthropic) or
/// [`Genai`](crate::Genai).
///
/// Requests to loopback addresses never go through a proxy, and redirects are not followed.
#[derive(Debug, Clone)]
pub struct Client<S> {
    pub(crate) model: String,
    pub(crate) server: Server,
    pub(crate) capabilities: Capabilities,
    pub(crate) service: S,
}

impl<P: Protocol> Client<P> {
    /// A model at the provider's own address, without a key.
    pub fn new(model: impl Into<String>) -> Self {
        let address = Address::public(P::HOST, P::ENDPOINT);
        Self::of(model, address, Capabilities::FULL, P::default())
    }

    /// A model with the address and the key that the environment names: `OPENAI_BASE_URL` and
    /// `OPENAI_API_KEY`, or `ANTHROPIC_BASE_URL` and `ANTHROPIC_API_KEY`. Any may be unset.
    ///
    /// # Errors
    /// When the variable of the address holds no URL.
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
        if let Some(key) = given(client.service.words().key_variable) {
            client = client.with_api_key(key);
        }
        Ok(client)
    }

    /// The same with another bound on the bytes of a reply's text, reasoning and calls:
    /// [`max_reply_bytes`](enact_core::model::max_reply_bytes) unless told. A longer one is cut off.
    #[must_use]
    pub fn with_max_reply_bytes(mut self, bytes: usize) -> Self {
        self.server.max_reply_bytes = Some(bytes);
        self
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
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| bad_header(name, "its name must consist of letters, digits and dashes"))?;
        let mut value = HeaderValue::from_str(value.as_ref()).map_err(|_| {
            bad_header(
                name,
                "its value must be one line of visible ASCII characters",
            )
        })?;
        value.set_sensitive(true);
        self.server.headers.insert(parsed, value);
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
            server: Server::new(address),
            capabilities,
            service,
        }
    }

    /// The same at another server, such as `http://localhost:8080/v1`.
    ///
    /// # Errors
    /// When this is not an `http` or `https` URL.
    pub fn with_base_url(mut self, base_url: impl AsRef<str>) -> Result<Self, ModelError> {
        self.server.move_to(S::address(base_url.as_ref())?);
        self.service.forget();
        Ok(self)
    }

    /// The same with a key.
    #[must_use]
    pub fn with_api_key(self, key: impl Into<String>) -> Self {
        self.with_secret(key.into().into())
    }

    pub(crate) fn with_secret(mut self, key: SecretString) -> Self {
        // Keys read from files end in a line break, which no header can carry.
        let key = key.expose_secret().trim();
        self.server.api_key = (!key.is_empty()).then(|| key.into());
        self
    }

    /// The same with other capabilities: what is known of the provider unless told.
    #[must_use]
    pub fn with_capabilities(self, capabilities: Capabilities) -> Self {
        Self {
            capabilities,
            ..self
        }
    }

    /// The same with other limits of time.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.server.wait_for(timeouts);
        self
    }

    pub(crate) fn known(&self) -> ModelInfo<'_> {
        ModelInfo::new(&self.model, self.capabilities)
            .with_provider(self.service.provider())
            .with_base_url(self.server.base_url())
    }

    /// Makes an error about this server and the model on it.
    pub(crate) fn failing(&self, make: impl FnOnce(Failures<'_>) -> ModelError) -> ModelError {
        let words = self.service.words();
        self.server
            .failing(&self.model, &S::KEY_HEADER, words, make)
    }
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
