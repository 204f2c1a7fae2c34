//! Providers: their keys, addresses and models.

use std::sync::Arc;
use std::time::Duration;

use enact_core::LanguageModel;
use enact_core::model::failure::KeyOrigin;
use enact_core::model::{Capabilities, ModelError, ModelErrorKind};
use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use secrecy::ExposeSecret as _;

use crate::genai::client::{self, Genai, Through};
use crate::genai::failure;
use crate::hosted::suited;
use crate::http::{Client, Service};
use crate::keys::{Key, KeySource};
use crate::{Anthropic, OpenAi, name};

/// Local servers: names, default addresses, and the variables that change them.
const OLLAMA: &str = "ollama";
const LLAMACPP: &str = "llamacpp";
/// Other names of providers.
pub(crate) const ALIASES: [(&str, &str); 8] = [
    ("google", "gemini"),
    ("openrouter", "open_router"),
    ("claude", "anthropic"),
    ("grok", "xai"),
    ("x-ai", "xai"),
    ("mistralai", "mistral"),
    ("llama_cpp", LLAMACPP),
    ("bedrock", "bedrock_api"),
];
/// The default models of providers. Chosen to be cheap and able to call
/// tools.
const USUAL_MODELS: [(&str, &str); 8] = [
    ("openai", "gpt-4o-mini"),
    ("anthropic", "claude-sonnet-4-5"),
    ("gemini", "gemini-2.5-flash"),
    ("mistral", "mistral-large-latest"),
    ("groq", "llama-3.3-70b-versatile"),
    ("deepseek", "deepseek-chat"),
    ("xai", "grok-4"),
    ("open_router", "openai/gpt-4o-mini"),
];

/// A provider of models.
///
/// ```
/// use enact_providers::Provider;
///
/// let groq = Provider::named("groq")?;
/// assert_eq!(groq.key_variable(), Some("GROQ_API_KEY"));
/// assert!(Provider::all().len() > 30);
/// # Ok::<(), enact::model::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    name: &'static str,
    pub(crate) kind: AdapterKind,
    wire: Wire,
}

/// How a provider is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    OpenAi,
    /// The same, for models that require their reasoning.
    OpenAiReasoning,
    Anthropic,
    Genai,
    Local,
}

impl Provider {
    /// All providers: the most common ones first, then by name, local servers last.
    pub fn all() -> Vec<Self> {
        let kinds = AdapterKind::all().iter().map(|kind| Self {
            name: kind.as_lower_str(),
            kind: *kind,
            wire: Wire::of(*kind),
        });
        let mut all: Vec<Self> = kinds.collect();
        all.push(Self {
            name: LLAMACPP,
            kind: AdapterKind::OpenAI,
            wire: Wire::Local,
        });
        let rank = |provider: &Self| {
            let usual = USUAL_MODELS
                .iter()
                .position(|(name, _)| *name == provider.name);
            let place = usual.unwrap_or(USUAL_MODELS.len());
            (provider.is_local(), place, provider.name)
        };
        all.sort_by_key(rank);
        all
    }

    /// The provider with this name.
    ///
    /// # Errors
    /// If it doesn't exist.
    pub fn named(name: &str) -> Result<Self, ModelError> {
        let name = name.trim().to_lowercase();
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        let name = alias.map_or(name.as_str(), |(_, name)| *name);
        let found = Self::all().into_iter().find(|known| known.name == name);
        found.ok_or_else(|| name::unknown(name))
    }

    /// The name before `::`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it is a local server and needs no key.
    pub fn is_local(&self) -> bool {
        self.wire == Wire::Local
    }

    /// The variable that sets another address.
    pub fn address_variable(&self) -> String {
        match self.name {
            OLLAMA => "OLLAMA_HOST".to_owned(),
            name => format!("{}_BASE_URL", name.to_uppercase()),
        }
    }

    /// Whether it can be used: it has a key, or needs none. Local servers need none, and other
    /// OpenAI-compatible servers may not.
    pub fn is_configured(&self) -> bool {
        let base_url = self.base_url();
        self.may_be_keyless(&base_url) || self.key(&base_url, &environment).is_some()
    }

    fn may_be_keyless(&self, base_url: &str) -> bool {
        let is_openai = self.name == "openai";
        self.is_local() || (is_openai && base_url != self.usual_address())
    }

    /// The default model, if there is one.
    pub fn usual_model(&self) -> Option<&'static str> {
        let usual = USUAL_MODELS.iter().find(|(name, _)| *name == self.name);
        usual.map(|(_, model)| *model)
    }

    /// The address unless the environment sets another one.
    pub(crate) fn usual_address(&self) -> String {
        self.address(&|_| None)
    }

    /// The address.
    pub fn base_url(&self) -> String {
        self.address(&environment)
    }

    /// A model of this provider, with the key and the address in the environment.
    ///
    /// # Errors
    /// If the key is missing, or the address is invalid.
    pub fn model(&self, model: &str) -> Result<Arc<dyn LanguageModel>, ModelError> {
        self.model_with(model, &self.base_url(), &environment)
    }

    /// A model at another address.
    ///
    /// # Errors
    /// If the key is missing, or the address is invalid.
    pub fn model_at(
        &self,
        model: &str,
        base_url: &str,
    ) -> Result<Arc<dyn LanguageModel>, ModelError> {
        self.model_with(model, base_url, &environment)
    }

    fn model_with(
        &self,
        model: &str,
        base_url: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Arc<dyn LanguageModel>, ModelError> {
        if model.trim().is_empty() {
            let message = format!(
                "`{}::` names no model: write it behind the colons",
                self.name
            );
            return Err(ModelError::new(ModelErrorKind::InvalidRequest, message));
        }
        let key = self.key(base_url, variable);
        if key.is_none() && !self.may_be_keyless(base_url) {
            return Err(self.no_key());
        }
        Ok(match self.wire {
            Wire::OpenAi | Wire::OpenAiReasoning | Wire::Local => {
                let client = self.reached(OpenAi::new(model), base_url, variable)?;
                let client = suited(self.keyed(client, key), base_url);
                Arc::new(match self.wire {
                    Wire::OpenAiReasoning => client.with_reasoning_returned(),
                    _ => client,
                })
            }
            Wire::Anthropic => {
                let client = self.reached(Anthropic::new(model), base_url, variable)?;
                Arc::new(self.keyed(client, key))
            }
            Wire::Genai => {
                let client = Genai::through(self.kind, model)?;
                let client = self.reached(client, base_url, variable)?;
                Arc::new(self.keyed(client, key))
            }
        })
    }

    /// The client with a key, and with where a key belongs.
    fn keyed<S: Service>(&self, client: Client<S>, key: Option<Key>) -> Client<S> {
        let client = client.with_key_variable(self.key_variable());
        match key {
            Some((key, source)) => client.with_secret(key, self.origin(source)),
            None => client,
        }
    }

    fn origin(&self, source: KeySource) -> KeyOrigin<'static> {
        match source {
            KeySource::Variable(name) => KeyOrigin::Variable(name),
            KeySource::Kept => KeyOrigin::Stored(self.name),
        }
    }

    /// The client at this address. If that can't be used, the error names the variable it comes from.
    fn reached<S: Service>(
        &self,
        client: Client<S>,
        base_url: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Client<S>, ModelError> {
        client.with_base_url(base_url).map_err(|error| {
            let name = self.address_variable();
            let is_from_it = given(variable, &name).is_some() && base_url == self.address(variable);
            match is_from_it {
                true => error.with_note(&format!("it comes from {name}")),
                false => error,
            }
        })
    }

    /// The names of its models, as reported by the provider. Gives up after `patience`.
    ///
    /// # Errors
    /// If the key is missing, or the server doesn't answer as expected.
    pub async fn models(&self, patience: Duration) -> Result<Vec<String>, ModelError> {
        if !self.is_configured() {
            return Err(self.no_key());
        }
        self.models_at(&self.base_url(), patience).await
    }

    /// The names of the models at another address, which is asked without a key if there is none.
    ///
    /// # Errors
    /// If the server doesn't answer as expected.
    pub async fn models_at(
        &self,
        base_url: &str,
        patience: Duration,
    ) -> Result<Vec<String>, ModelError> {
        let base_url = base_url.trim().trim_end_matches('/');
        let key = self.key(base_url, &environment);
        let service = Through::to(self.kind, self.name, self.key_variable());
        let client = Client::of("", Through::address(base_url)?, Capabilities::FULL, service);
        let auth = AuthData::from_single(match &key {
            Some((key, _)) => key.expose_secret(),
            None => "none",
        });
        let client = self.keyed(client, key);
        // Its models are listed where its chats are.
        let kind = match self.wire {
            Wire::Local => AdapterKind::OpenAI,
            _ => self.kind,
        };
        let asking = client::http(base_url, patience)?;
        let endpoint = Endpoint::from_owned(format!("{base_url}/"));
        let asked = asking.all_model_names(kind, (endpoint, auth));
        match tokio::time::timeout(patience, asked).await {
            Ok(Ok(names)) => Ok(names),
            Ok(Err(error)) => Err(client.failing(|make| failure::tell(&error, make))),
            Err(_) => Err(ModelError::new(
                ModelErrorKind::Timeout,
                format!("`{base_url}` did not answer within {patience:?}"),
            )),
        }
    }

    /// The base URL without a trailing slash.
    pub(crate) fn address(&self, variable: &dyn Fn(&str) -> Option<String>) -> String {
        let given = given(variable, &self.address_variable());
        let address = match (self.name, given) {
            (OLLAMA, host) => ollama_address(host.as_deref()),
            (LLAMACPP, None) => "http://127.0.0.1:8080/v1".to_owned(),
            (_, Some(address)) => address,
            (_, None) => client::usual_address(self.kind),
        };
        address.trim().trim_end_matches('/').to_owned()
    }
}

impl Wire {
    fn of(kind: AdapterKind) -> Self {
        match kind {
            AdapterKind::OpenAI
            | AdapterKind::Aihubmix
            | AdapterKind::Aliyun
            | AdapterKind::ApiRoute
            | AdapterKind::AtlasCloud
            | AdapterKind::BigModel
            | AdapterKind::CloudGpu
            | AdapterKind::Fireworks
            | AdapterKind::GithubCopilot
            | AdapterKind::Groq
            | AdapterKind::Heabsy
            | AdapterKind::Mistral
            | AdapterKind::Nebius
            | AdapterKind::OpenRouter
            | AdapterKind::QwenCloud
            | AdapterKind::Requesty
            | AdapterKind::Runcrate
            | AdapterKind::Together
            | AdapterKind::Xai
            | AdapterKind::Zai => Self::OpenAi,
            AdapterKind::DeepSeek
            | AdapterKind::Kimi
            | AdapterKind::Mimo
            | AdapterKind::Moonshot => Self::OpenAiReasoning,
            AdapterKind::Anthropic | AdapterKind::MiniMax => Self::Anthropic,
            AdapterKind::Ollama => Self::Local,
            _ => Self::Genai,
        }
    }
}

/// The base URL for chat completions from the value of `OLLAMA_HOST` (a host, a host and a port, a URL,
/// an address to listen on).
fn ollama_address(host: Option<&str>) -> String {
    const PORT: &str = "11434";
    let host = host.unwrap_or("127.0.0.1").trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.strip_suffix("/v1").unwrap_or(rest);
    // A server that listens everywhere can be reached locally.
    let rest = match rest.strip_prefix("0.0.0.0") {
        Some(port) => format!("127.0.0.1{port}"),
        None => rest.to_owned(),
    };
    let host_part = rest.split('/').next().unwrap_or(&rest);
    let has_port = host_part.rsplit_once(':').is_some_and(|(_, port)| {
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    match (has_port, scheme) {
        (true, _) | (false, "https") => format!("{scheme}://{rest}/v1"),
        (false, _) => format!("{scheme}://{rest}:{PORT}/v1"),
    }
}

pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

pub(crate) fn given(variable: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    let value = variable(name)?.trim().to_owned();
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use enact_core::model::{Message, Request};
    use enact_test_server::{Received, TestServer, Turn};

    use super::*;

    fn model(name: &str, variables: &[(&str, &str)]) -> Result<Arc<dyn LanguageModel>, ModelError> {
        let (provider, model) = crate::split(name).unwrap();
        let provider = Provider::named(provider)?;
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        };
        provider.model_with(model, &provider.address(&variable), &variable)
    }

    #[test]
    fn every_provider_has_an_address_and_a_key_or_needs_none() {
        for provider in Provider::all() {
            let address = provider.address(&|_| None);
            assert!(address.starts_with("http"), "{provider:?} {address}");
            assert_eq!(
                provider.key_variable().is_none(),
                provider.is_local(),
                "{provider:?}"
            );
            assert_eq!(Provider::named(provider.name()).unwrap(), provider);
        }
    }

    #[test]
    fn every_provider_gives_a_model() {
        for provider in Provider::all() {
            let key = |_: &str| Some("http://localhost:1/v1".to_owned());
            let address = provider.address(&key);
            let model = provider.model_with("m", &address, &key).unwrap();
            assert_eq!(model.name(), "m", "{provider:?}");
            assert_eq!(
                model.base_url(),
                Some("http://localhost:1/v1"),
                "{provider:?}"
            );
        }
    }

    #[tokio::test]
    async fn a_refused_key_is_named_by_the_variable_that_holds_it() {
        let all = Provider::all().into_iter();
        for provider in all.filter(|provider| provider.wire != Wire::Genai) {
            let Some(last) = provider.key_variables().last() else {
                continue;
            };
            let server = TestServer::answering_anywhere(|_: &Received| Turn::status(401));
            let variable = |name: &str| (name == last).then(|| "sk-0123456789".to_owned());
            let model = provider.model_with("m", server.base_url(), &variable);
            let asked = Request::new([Message::user("hi")].into_iter().collect());
            let error = model.unwrap().complete(asked).await.unwrap_err();
            let text = error.to_string();
            assert_eq!(error.kind(), ModelErrorKind::Authentication, "{text}");
            assert!(text.contains(last), "{provider:?}: {text}");
        }
    }

    #[test]
    fn the_usual_ones_are_asked_where_they_are() {
        let address = |name: &str| {
            let key = [
                ("GROQ_API_KEY", "k"),
                ("ANTHROPIC_API_KEY", "k"),
                ("GOOGLE_API_KEY", "k"),
            ];
            model(name, &key).unwrap().base_url().unwrap().to_owned()
        };
        assert_eq!(address("groq::m"), "https://api.groq.com/openai/v1");
        assert_eq!(address("anthropic::m"), "https://api.anthropic.com/v1");
        let gemini = "https://generativelanguage.googleapis.com/v1beta";
        assert_eq!(address("gemini::m"), gemini);
        assert_eq!(address("google::m"), gemini);
        assert_eq!(address("ollama::m"), "http://127.0.0.1:11434/v1");
        assert_eq!(address("llamacpp::m"), "http://127.0.0.1:8080/v1");
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = model("groq::m", &[("GROQ_API_KEY", " ")]).unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Authentication);
        assert!(error.to_string().contains("GROQ_API_KEY"), "{error}");
        assert!(model("openai::m", &[]).is_err());
        assert!(model("openai::m", &[("OPENAI_BASE_URL", "http://localhost:1/v1")]).is_ok());
        let error = model("grok::m", &[]).unwrap_err();
        assert!(error.to_string().contains("XAI_API_KEY"), "{error}");
        let error = model("ollama::", &[]).unwrap_err();
        assert!(error.to_string().contains("names no model"), "{error}");
        let bad = [("GROQ_API_KEY", "k"), ("GROQ_BASE_URL", "nowhere")];
        let error = model("groq::m", &bad).unwrap_err();
        assert!(error.to_string().contains("GROQ_BASE_URL"), "{error}");
    }

    #[test]
    fn every_way_to_write_the_host_of_ollama_is_understood() {
        for (written, address) in [
            ("localhost", "http://localhost:11434/v1"),
            ("localhost:1", "http://localhost:1/v1"),
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            ("0.0.0.0:80", "http://127.0.0.1:80/v1"),
            ("http://h:1/", "http://h:1/v1"),
            ("http://h:1/v1", "http://h:1/v1"),
            ("https://h/ollama", "https://h/ollama/v1"),
            ("[::1]:1", "http://[::1]:1/v1"),
        ] {
            assert_eq!(ollama_address(Some(written)), address, "{written}");
        }
    }
}
