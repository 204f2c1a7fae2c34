//! A model that is asked through genai.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use enact_core::LanguageModel;
use enact_core::model::failure::{Failures, Limit};
use enact_core::model::{
    Capabilities, Chunk, ModelError, ModelErrorKind, ReplyStream, Request, Timeouts, cut_endless,
    max_reply_bytes,
};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use genai::adapter::AdapterKind;
use genai::chat::ChatStream;
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::{Instant, timeout_at};

use super::failure::{self, Names};
use super::reply::Reading;
use super::request;
use crate::provider::Provider;
use crate::split;

/// A model that is asked through genai, always by its streaming call.
///
/// ```no_run
/// # fn main() -> Result<(), enact::model::ModelError> {
/// use enact::model::Retrying;
/// use enact_providers::Genai;
///
/// // The key is in GEMINI_API_KEY, unless it is given here.
/// let model = Retrying::new(Genai::model("gemini::gemini-2.5-flash")?.with_api_key("…"));
/// # Ok(())
/// # }
/// ```
///
/// [`model`](crate::model()) is the better way to a model by its name: it asks providers that
/// speak OpenAI's or Anthropic's protocol by enact's own clients, which know them better.
///
/// - Signatures of thoughts come back with the next request, to the same provider only.
/// - Pictures that tools return travel in a user message behind the results of the turn.
/// - Tool calls come when they are whole, not piece by piece.
/// - Some providers ignore what genai has no words for: [`Capabilities`] say what holds.
#[derive(Clone)]
pub struct Genai {
    kind: AdapterKind,
    name: String,
    base_url: String,
    key: Option<SecretString>,
    capabilities: Capabilities,
    timeouts: Timeouts,
    /// Made with the first request: it depends on the address and the timeouts.
    client: OnceLock<genai::Client>,
}

impl Genai {
    /// The model of this name, such as `gemini::gemini-2.5-flash`, with the key of its provider's
    /// variable.
    ///
    /// # Errors
    /// When there is no such provider.
    pub fn model(name: &str) -> Result<Self, ModelError> {
        let Some((provider, model)) = split(name) else {
            return Err(crate::provider::unknown(name));
        };
        let known = Provider::named(provider)?;
        let Some(kind) = AdapterKind::from_lower_str(known.name()) else {
            return Err(crate::provider::unknown(name));
        };
        let client = Self::of(kind, model)?;
        let key = known
            .key_variable()
            .and_then(|name| std::env::var(name).ok());
        Ok(match key.filter(|key| !key.trim().is_empty()) {
            Some(key) => client.with_api_key(key),
            None => client,
        })
    }

    pub(crate) fn of(kind: AdapterKind, model: &str) -> Result<Self, ModelError> {
        let base_url = usual_address(kind).trim_end_matches('/').to_owned();
        Ok(Self {
            kind,
            name: model.to_owned(),
            base_url,
            key: None,
            capabilities: capabilities(kind),
            timeouts: Timeouts::default(),
            client: OnceLock::new(),
        })
    }

    /// The same at another server.
    ///
    /// # Errors
    /// When this is not an `http` or `https` URL, or holds a password.
    pub fn with_base_url(self, base_url: impl AsRef<str>) -> Result<Self, ModelError> {
        let base_url = base_url.as_ref().trim().trim_end_matches('/');
        checked(base_url)?;
        Ok(Self {
            base_url: base_url.to_owned(),
            client: OnceLock::new(),
            ..self
        })
    }

    /// The same with a key.
    #[must_use]
    pub fn with_api_key(self, key: impl Into<String>) -> Self {
        self.with_secret(key.into().into())
    }

    pub(crate) fn with_secret(self, key: SecretString) -> Self {
        let key = SecretString::from(key.expose_secret().trim());
        Self {
            key: Some(key).filter(|key| !key.expose_secret().is_empty()),
            ..self
        }
    }

    /// The same with other capabilities than what is known of the provider.
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

    fn names(&self) -> Names {
        Names::new(self.kind.as_lower_str(), self.kind.default_key_env_name())
    }

    /// Makes an error about this provider.
    fn failing(&self, make: impl FnOnce(Failures<'_>) -> ModelError) -> ModelError {
        let key = self.key.as_ref().map(|key| key.expose_secret());
        let secrets: Vec<&str> = key.into_iter().collect();
        let names = self.names();
        make(failure::of(
            &self.name,
            &self.base_url,
            &names,
            self.key.is_some(),
            &secrets,
        ))
    }

    fn client(&self) -> Result<genai::Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let client = http(&self.base_url, self.timeouts.connect)?;
        Ok(self.client.get_or_init(|| client).clone())
    }

    async fn ask(&self, request: &Request) -> Result<ChatStream, ModelError> {
        let (chat, options) = request::encode(self.kind, request)?;
        let auth = match &self.key {
            Some(key) => AuthData::from_single(key.expose_secret()),
            None if self.kind.default_key_env_name().is_none() => AuthData::from_single("none"),
            None => return Err(self.failing(|make| make.status(401, None, b""))),
        };
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(format!("{}/", self.base_url)),
            auth,
            model: ModelIden::new(self.kind, self.name.as_str()),
        };
        let client = self.client()?;
        let asked = client.exec_chat_stream(target, chat, Some(&options)).await;
        match asked {
            Ok(response) => Ok(response.stream),
            Err(error) => Err(self.failing(|make| failure::tell(&error, make))),
        }
    }
}

impl fmt::Debug for Genai {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Genai")
            .field("provider", &self.kind.as_lower_str())
            .field("model", &self.name)
            .field("base_url", &self.base_url)
            .field("has_api_key", &self.key.is_some())
            .field("capabilities", &self.capabilities)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

impl LanguageModel for Genai {
    fn name(&self) -> &str {
        &self.name
    }

    fn base_url(&self) -> Option<&str> {
        Some(&self.base_url)
    }

    fn provider(&self) -> Option<&str> {
        Some(match self.kind {
            AdapterKind::Gemini | AdapterKind::GeminiIx => "gcp.gemini",
            AdapterKind::Vertex => "gcp.vertex_ai",
            AdapterKind::BedrockApi => "aws.bedrock",
            AdapterKind::OpenAI | AdapterKind::OpenAIResp => "openai",
            other => other.as_lower_str(),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let prompt_bytes = request.prompt.bytes();
        let max_bytes = max_reply_bytes(request.options.max_tokens);
        let exchange = Exchange {
            client: self,
            state: State::Asking(Box::new(request)),
            ready: VecDeque::new(),
        };
        let reply = Box::pin(stream::unfold(exchange, Exchange::next));
        cut_endless(reply, prompt_bytes, max_bytes)
    }
}

/// One request and its reply.
struct Exchange<'a> {
    client: &'a Genai,
    state: State,
    ready: VecDeque<Chunk>,
}

enum State {
    Asking(Box<Request>),
    Reading {
        stream: Box<ChatStream>,
        reading: Reading,
        clock: Clock,
    },
    /// The reply has ended in this way; what is ready comes first.
    Ended(Option<ModelError>),
}

struct Clock {
    first_byte: Instant,
    total: Instant,
    has_begun: bool,
}

impl Exchange<'_> {
    async fn next(mut self) -> Option<(Result<Chunk, ModelError>, Self)> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some((Ok(chunk), self));
            }
            self.state = match self.state {
                State::Asking(request) => match self.client.ask(&request).await {
                    Ok(stream) => State::Reading {
                        stream: Box::new(stream),
                        reading: Reading::new(self.client.kind),
                        clock: Clock::start(&self.client.timeouts),
                    },
                    Err(error) => State::Ended(Some(error)),
                },
                State::Reading {
                    mut stream,
                    mut reading,
                    mut clock,
                } => {
                    let client = self.client;
                    // A provider that always has more ready holds up no clock and nobody else.
                    tokio::task::consume_budget().await;
                    let deadline = clock.deadline(&client.timeouts);
                    let read = match timeout_at(deadline, stream.next()).await {
                        _ if Instant::now() >= clock.total => Err(clock.expired(client)),
                        Ok(Some(Ok(event))) => {
                            clock.has_begun |= Reading::is_said(&event);
                            let taken = reading.take(event, &mut self.ready);
                            taken.map_err(|wrong| client.failing(|make| wrong.tell(make)))
                        }
                        Ok(Some(Err(error))) => {
                            Err(client.failing(|make| failure::tell(&error, make)))
                        }
                        Ok(None) => Err(client.failing(|make| {
                            make.protocol("was cut off: it ended without a reason for stopping")
                        })),
                        Err(_) => Err(clock.expired(client)),
                    };
                    match read {
                        Ok(()) if reading.is_whole() => State::Ended(None),
                        Ok(()) => State::Reading {
                            stream,
                            reading,
                            clock,
                        },
                        Err(error) => State::Ended(Some(error)),
                    }
                }
                State::Ended(error) => {
                    self.state = State::Ended(None);
                    return error.map(|error| (Err(error), self));
                }
            };
        }
    }
}

impl Clock {
    fn start(timeouts: &Timeouts) -> Self {
        let now = Instant::now();
        Self {
            first_byte: later(now, timeouts.first_byte),
            total: later(now, timeouts.total),
            has_begun: false,
        }
    }

    fn deadline(&self, timeouts: &Timeouts) -> Instant {
        let next = match self.has_begun {
            true => later(Instant::now(), timeouts.idle),
            false => self.first_byte,
        };
        next.min(self.total)
    }

    fn expired(&self, client: &Genai) -> ModelError {
        let timeouts = &client.timeouts;
        let (limit, after) = if Instant::now() >= self.total {
            (Limit::Total, timeouts.total)
        } else if self.has_begun {
            (Limit::Idle, timeouts.idle)
        } else {
            (Limit::FirstByte, timeouts.first_byte)
        };
        client.failing(|make| make.timeout(limit, Some(after)))
    }
}

/// A duration beyond what the clock can say means never, or as good as.
fn later(from: Instant, duration: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
    from.checked_add(duration).unwrap_or_else(|| from + FAR)
}

/// What genai can ask of a provider.
fn capabilities(kind: AdapterKind) -> Capabilities {
    match kind {
        AdapterKind::Cohere => Capabilities::TEXT,
        AdapterKind::Ollama | AdapterKind::OllamaCloud | AdapterKind::BedrockApi => {
            Capabilities::FULL.with_response_schema(false)
        }
        _ => Capabilities::FULL,
    }
}

/// Where genai asks a provider unless it is told otherwise.
pub(crate) fn usual_address(kind: AdapterKind) -> String {
    // It only looks things up: it never connects.
    static TABLE: LazyLock<Option<genai::Client>> =
        LazyLock::new(|| http("http://localhost", Duration::ZERO).ok());
    let Some(client) = TABLE.as_ref() else {
        return String::new();
    };
    // Nothing is waited for: the address is in genai's table, or in the environment.
    let target = client.resolve_service_target(ModelIden::new(kind, "any"));
    match target.now_or_never() {
        Some(Ok(target)) => target.endpoint.base_url().to_owned(),
        Some(Err(_)) | None => String::new(),
    }
}

/// A client of genai for one server.
pub(crate) fn http(base_url: &str, connect: Duration) -> Result<genai::Client, ModelError> {
    let url = checked(base_url)?;
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("enact/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect)
        .no_gzip()
        // A redirect would carry prompts to an address that nobody configured.
        .redirect(reqwest::redirect::Policy::none());
    if is_loopback(&url) {
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        // Nothing to verify: spares reading the system's certificates, or failing without.
        builder = builder.tls_certs_only([]);
    }
    let unusable = || {
        ModelError::new(
            ModelErrorKind::Connection,
            "could not set up the HTTP client: check the system's TLS certificates",
        )
    };
    let http = builder
        .build()
        .map_err(|error| unusable().with_source(error.without_url()))?;
    let client = genai::Client::builder().with_reqwest(http).build();
    client.map_err(|_| unusable())
}

fn checked(base_url: &str) -> Result<Url, ModelError> {
    let bad = |why: &str| {
        // What cannot be parsed cannot be cleaned of a password either.
        let shown = if base_url.contains('@') {
            "…"
        } else {
            base_url
        };
        let message = format!("bad base URL `{shown}`: {why}");
        ModelError::new(ModelErrorKind::InvalidRequest, message)
    };
    let url = Url::parse(base_url).map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("it must begin with `http://` or `https://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("it must not hold a name or a password"));
    }
    Ok(url)
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    match literal.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}
