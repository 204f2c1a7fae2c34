//! Creates clients for models.

use std::sync::Arc;

use enact::LanguageModel;
use enact::model::{
    Cached, Fallback, Limited, ModelError, ModelErrorKind, OpenAi, Prices, Retrying,
};
use enact_providers::Provider;
use serde::{Deserialize, Serialize, Serializer};

use crate::args::Pace;
use crate::exit::Failure;
use crate::local;

/// Who is asked where a name says nothing else.
const OPENAI: &str = "openai";

/// The name of a model, and its address if that differs from the provider's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "store_address"
    )]
    pub(crate) base_url: Option<String>,
}

/// The stored form of an address: without user, password and query, which may contain keys.
pub(crate) fn stored_address(address: &str) -> String {
    let client = OpenAi::new("").with_base_url(address);
    let stored = client
        .ok()
        .and_then(|client| client.base_url().map(str::to_owned));
    // An invalid address is of no use later either.
    stored.unwrap_or_default()
}

pub(crate) fn store_address<S: Serializer>(
    address: &Option<String>,
    to: S,
) -> Result<S::Ok, S::Error> {
    address.as_deref().map(stored_address).serialize(to)
}

/// The complete address, if the environment has it.
fn whole_address(address: &str) -> String {
    let whole = super::choice::variable(super::choice::ADDRESS_VARIABLE);
    let whole = whole.filter(|whole| stored_address(whole) == address);
    whole.unwrap_or_else(|| address.to_owned())
}

impl Named {
    /// The model with this name; at this address, if the model allows one.
    pub(crate) fn at(name: &str, address: Option<&str>) -> Self {
        let mut named = Self {
            name: name.to_owned(),
            base_url: None,
        };
        if named.is_compatible() {
            named.base_url = address.map(str::to_owned);
        }
        named
    }

    /// The provider and the model. A short name, such as `gpt-4o`, implies its provider if there is no
    /// address.
    pub(crate) fn parts(&self) -> Option<(&str, &str)> {
        match self.base_url {
            Some(_) => enact_providers::split(&self.name),
            None => enact_providers::resolve(&self.name),
        }
    }

    /// The name in full.
    pub(crate) fn full_name(&self) -> String {
        match self.parts() {
            Some((provider, model)) => format!("{provider}::{model}"),
            None => self.name.clone(),
        }
    }

    /// Whether the name includes a provider.
    pub(crate) fn has_provider(&self) -> bool {
        self.parts().is_some()
    }

    /// Whether the model can be asked at a custom address: without a provider, or OpenAI's.
    pub(crate) fn is_compatible(&self) -> bool {
        enact_providers::split(&self.name).is_none_or(|(provider, _)| provider == "openai")
    }
}

/// A client for one model. Without a provider, it is OpenAI's or at a server that speaks like it.
pub(crate) fn connect(named: &Named) -> Result<Arc<dyn LanguageModel>, Failure> {
    let (provider, model) = named.parts().unwrap_or((OPENAI, &named.name));
    if provider == local::PROVIDER {
        return local::load(model);
    }
    let refused = |error| refused(error, named);
    let provider = Provider::named(provider).map_err(refused)?;
    let connected = match &named.base_url {
        Some(base_url) => provider.model_at(model, &whole_address(base_url)),
        None => provider.model(model),
    };
    connected.map_err(refused)
}

/// The built-in price of a model that is asked at its provider's address.
pub(crate) fn built_in_price(named: &Named) -> Option<Prices> {
    let (provider, model) = named.parts().unwrap_or((OPENAI, &named.name));
    let address = match &named.base_url {
        Some(address) => address.clone(),
        None => Provider::named(provider).ok()?.base_url(),
    };
    let price = enact_providers::prices_at(&address)?.get(model)?;
    Some(Prices::new().with(model, price))
}

/// Whether the server of a model is unknown.
pub(crate) fn is_unknown(named: &Named) -> bool {
    let address = named.base_url.as_deref();
    address.is_some_and(|address| !enact_providers::is_hosted(address))
}

fn refused(error: ModelError, named: &Named) -> Failure {
    match error.kind() {
        ModelErrorKind::Authentication if !named.has_provider() => {
            let message = format!(
                "{error}; for another server give `--base-url URL`, for another provider name the \
                 model as PROVIDER::MODEL (`enact models` lists providers)"
            );
            Failure::usage("no_key", message)
        }
        ModelErrorKind::Authentication => Failure::usage("no_key", error.to_string()),
        ModelErrorKind::InvalidRequest if named.base_url.is_some() => {
            Failure::usage("base_url", error.to_string())
        }
        _ => Failure::usage("model", error.to_string()),
    }
}

/// Combines the models: later ones are fallbacks for earlier ones.
pub(crate) fn joined(
    first: Arc<dyn LanguageModel>,
    others: Vec<Arc<dyn LanguageModel>>,
    pace: &Pace,
) -> Result<Arc<dyn LanguageModel>, Failure> {
    let first = paced(first, pace)?;
    if others.is_empty() {
        return Ok(first);
    }
    let mut all = Fallback::new(first);
    for model in others {
        all = all.or(paced(model, pace)?);
    }
    Ok(Arc::new(all))
}

/// Adds limits and a cache to a model. Cached replies don't count against the limits.
fn paced(model: Arc<dyn LanguageModel>, pace: &Pace) -> Result<Arc<dyn LanguageModel>, Failure> {
    let mut limited = Limited::new(model);
    if let Some(requests) = pace.requests_per_minute {
        limited = limited.with_requests_per_minute(requests);
    }
    if let Some(requests) = pace.concurrent_requests {
        limited = limited.with_concurrency(requests);
    }
    let retrying = Retrying::new(limited);
    match &pace.cache {
        None => Ok(Arc::new(retrying)),
        Some(folder) => match Cached::in_folder(retrying, folder) {
            Ok(cached) => Ok(Arc::new(cached.with_secrets(enact::secrets()))),
            Err(error) => {
                let folder = folder.display();
                let message = format!("the directory `{folder}` cannot be created: {error}");
                Err(Failure::usage("cache", message))
            }
        },
    }
}
