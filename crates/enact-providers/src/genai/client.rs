//! Models accessed through genai.

use std::sync::LazyLock;
use std::time::Duration;

use enact_core::LanguageModel;
use enact_core::model::failure::{KeyOrigin, Words};
use enact_core::model::{
    Capabilities, Delivery, ModelError, ModelInfo, ReplyStream, ReplyWriter, Request, cut_endless,
    max_reply_bytes, write_reply,
};
use futures_util::{FutureExt as _, StreamExt as _};
use genai::adapter::AdapterKind;
use genai::chat::ChatStream;
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use reqwest::header::{AUTHORIZATION, HeaderName};
use secrecy::ExposeSecret as _;
use tokio::time::{Instant, timeout_at};

use super::failure;
use super::reply::Reading;
use super::request;
use crate::http::{Address, Client, Clock, DecodeError, Service, bad_address, no_client};
use crate::provider::{Provider, environment, given};
use crate::split;

/// A model accessed through genai, always with its streaming call.
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
/// Prefer [`model`](crate::model()) for a model by name: it uses enact's own clients for providers with
/// OpenAI's or Anthropic's protocol, which support more of their features.
///
/// - Signatures of thoughts are returned with the next request, only to the same provider.
/// - Images that tools return are sent in a user message after the results of the turn.
/// - Tool calls arrive when they are complete, not in parts.
/// - Some providers ignore options that genai doesn't support: [`Capabilities`] says what is supported.
pub type Genai = Client<Through>;

/// A provider accessed through genai.
#[derive(Debug, Clone)]
pub struct Through {
    kind: AdapterKind,
    /// The name of its servers in errors.
    server: String,
    key_variable: Option<&'static str>,
}

impl Genai {
    /// The model with this name, such as `gemini::gemini-2.5-flash`, with the key in its provider's
    /// variable.
    ///
    /// # Errors
    /// If the provider doesn't exist.
    pub fn model(name: &str) -> Result<Self, ModelError> {
        let Some((provider, model)) = split(name) else {
            return Err(crate::name::incomplete(name));
        };
        let known = Provider::named(provider)?;
        let Some(kind) = AdapterKind::from_lower_str(known.name()) else {
            return Err(crate::name::unknown(provider));
        };
        let client = Self::through(kind, model)?;
        let Some(variable) = known.key_variable() else {
            return Ok(client);
        };
        Ok(match given(&environment, variable) {
            Some(key) => client.with_secret(key.into(), KeyOrigin::Variable(variable)),
            None => client,
        })
    }

    pub(crate) fn through(kind: AdapterKind, model: &str) -> Result<Self, ModelError> {
        let address = Through::address(&usual_address(kind))?;
        let service = Through::to(kind, kind.as_lower_str(), kind.default_key_env_name());
        Ok(Self::of(model, address, capabilities(kind), service))
    }

    async fn ask(&self, request: &Request) -> Result<ChatStream, ModelError> {
        let kind = self.service.kind;
        let (chat, options) = request::encode(kind, request)?;
        let auth = match &self.api_key {
            Some(key) => AuthData::from_single(key.expose_secret()),
            None if kind.default_key_env_name().is_none() => AuthData::from_single("none"),
            None => return Err(self.failing(|make| make.status(401, None, b""))),
        };
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(format!("{}/", self.address.base_url())),
            auth,
            model: ModelIden::new(kind, self.model.as_str()),
        };
        let client = over(self.line()?.http.clone())?;
        let asked = client.exec_chat_stream(target, chat, Some(&options)).await;
        match asked {
            Ok(response) => Ok(response.stream),
            Err(error) => Err(self.failing(|make| failure::tell(&error, make))),
        }
    }

    /// A request and its reply.
    async fn exchange(&self, request: Request, reply: ReplyWriter) -> Result<(), ModelError> {
        let mut stream = self.ask(&request).await?;
        let mut clock = Clock::start(self.timeouts, Delivery::Streamed);
        let mut reading = Reading::new(self.service.kind);
        while !reading.is_whole() {
            // Yield to timers and other tasks even if the provider always has more.
            tokio::task::consume_budget().await;
            let since = Instant::now();
            let deadline = clock.deadline(since);
            let event = match timeout_at(deadline, stream.next()).await {
                Ok(Some(event)) if deadline > since => event,
                Ok(None) => return Err(self.failing(|make| DecodeError::CutOff.told(make))),
                Ok(Some(_)) | Err(_) => return Err(self.failing(|make| clock.expired(make))),
            };
            let event = event.map_err(|error| self.failing(|make| failure::tell(&error, make)))?;
            if Reading::is_said(&event) {
                clock.goes_on();
            }
            let chunks = reading.take(event);
            for chunk in chunks.map_err(|wrong| self.failing(|make| wrong.told(make)))? {
                reply.write(chunk).await;
            }
        }
        Ok(())
    }
}

impl Through {
    /// A provider with this name, whose key is in this variable.
    pub(crate) fn to(kind: AdapterKind, name: &str, key_variable: Option<&'static str>) -> Self {
        Self {
            kind,
            server: format!("a server for `{name}`"),
            key_variable,
        }
    }
}

impl Service for Through {
    const KEY_HEADER: HeaderName = AUTHORIZATION;

    fn address(base_url: &str) -> Result<Address, ModelError> {
        let base_url = base_url.trim();
        let address = Address::parse(base_url, "")?;
        if address.credentials().next().is_some() {
            let why = "it must not hold a name or a password";
            return Err(bad_address(base_url, why));
        }
        Ok(address)
    }

    fn words(&self) -> Words<'_> {
        Words {
            server: &self.server,
            key_variable: self.key_variable,
            key_method: "Genai::with_api_key",
        }
    }

    fn provider(&self) -> &str {
        match self.kind {
            AdapterKind::Gemini | AdapterKind::GeminiIx => "gcp.gemini",
            AdapterKind::Vertex => "gcp.vertex_ai",
            AdapterKind::BedrockApi => "aws.bedrock",
            AdapterKind::OpenAI | AdapterKind::OpenAIResp => "openai",
            other => other.as_lower_str(),
        }
    }
}

impl LanguageModel for Genai {
    fn info(&self) -> ModelInfo<'_> {
        self.known()
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let prompt_bytes = request.prompt.bytes();
        let max_bytes = max_reply_bytes(request.options.max_tokens);
        let reply = write_reply(|reply| self.exchange(request, reply));
        cut_endless(reply, prompt_bytes, max_bytes)
    }
}

/// The capabilities of a provider through genai.
fn capabilities(kind: AdapterKind) -> Capabilities {
    match kind {
        AdapterKind::Cohere => Capabilities::TEXT,
        AdapterKind::Ollama | AdapterKind::OllamaCloud | AdapterKind::BedrockApi => {
            Capabilities::FULL.with_response_schema(false)
        }
        _ => Capabilities::FULL,
    }
}

/// The default address of a provider in genai.
pub(crate) fn usual_address(kind: AdapterKind) -> String {
    // It only looks up the address: it never connects.
    static TABLE: LazyLock<Option<genai::Client>> =
        LazyLock::new(|| http("http://localhost", Duration::ZERO).ok());
    let Some(client) = TABLE.as_ref() else {
        return String::new();
    };
    // No waiting: the address is in genai's table, or in the environment.
    let target = client.resolve_service_target(ModelIden::new(kind, "any"));
    match target.now_or_never() {
        Some(Ok(target)) => target.endpoint.base_url().to_owned(),
        Some(Err(_)) | None => String::new(),
    }
}

/// A genai client for one server.
pub(crate) fn http(base_url: &str, connect: Duration) -> Result<genai::Client, ModelError> {
    over(Through::address(base_url)?.client(connect)?)
}

fn over(http: reqwest::Client) -> Result<genai::Client, ModelError> {
    let client = genai::Client::builder().with_reqwest(http).build();
    client.map_err(|_| no_client())
}
