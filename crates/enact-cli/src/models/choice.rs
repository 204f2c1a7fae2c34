//! Chooses the model: the one that is set, or a default.

use std::time::Duration;

use enact_providers::{KeySource, Provider};

use super::Named;
use crate::agent::Agent;
use crate::args::AgentArgs;
use crate::exit::Failure;
use crate::view::{Ink, Screen, Stream, text};

const MODEL_VARIABLE: &str = "ENACT_MODEL";
pub(super) const ADDRESS_VARIABLE: &str = "OPENAI_BASE_URL";
/// A local server answers quickly, or isn't running.
const PATIENCE: Duration = Duration::from_secs(2);
const NO_MODEL: &str = "no model is set, there is no key, and no local server answers: store a key \
                        with `enact keys set anthropic`, put one into a variable such as \
                        ANTHROPIC_API_KEY or OPENAI_API_KEY, start Ollama or llama.cpp, or name a \
                        model with `--model` or ENACT_MODEL; run `enact models` to list providers \
                        (`enact demo` needs none)";

/// The models to ask, the first choice first; at least one.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) models: Vec<Named>,
    /// Why these models, if the command line didn't set them.
    reason: Option<String>,
}

impl Choice {
    /// A single model, with the reason for it.
    fn of(name: String, base_url: Option<String>, reason: String) -> Self {
        Self {
            models: vec![Named { name, base_url }],
            reason: Some(reason),
        }
    }

    /// The name of the first model.
    pub(super) fn name(&self) -> &str {
        self.models.first().map_or("", |first| &first.name)
    }

    /// Prints the choice if the command line didn't make it.
    pub(crate) fn tell(&self) {
        let Some(reason) = &self.reason else { return };
        let screen = Screen::new(Stream::Stderr);
        let line = format!("model: {} ({reason})", self.name());
        screen.line(&screen.paint(Ink::Quiet, &text::one_line(&line)));
    }
}

/// Chooses in this order: `--model`, `ENACT_MODEL`, the agent file, a key in the environment, a
/// running local server.
pub(crate) async fn choose(args: &AgentArgs, agent: &Agent) -> Result<Choice, Failure> {
    if let Some(choice) = said(args, agent)? {
        return Ok(choice);
    }
    let base_url = agent.asking.base_url.as_deref();
    at_hand(base_url.map(|base_url| (base_url, agent.base_url_source))).await
}

/// The models that are set.
fn said(args: &AgentArgs, agent: &Agent) -> Result<Option<Choice>, Failure> {
    let named = |names: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        let names = names.map(|name| name.trim().to_owned());
        names.filter(|name| !name.is_empty()).collect()
    };
    let mut names = named(&mut args.model.iter().map(String::as_str));
    let mut reason = None;
    if names.is_empty()
        && let Some(variable) = variable(MODEL_VARIABLE)
    {
        names = named(&mut variable.split(','));
        reason = Some(format!("from {MODEL_VARIABLE}"));
    }
    if names.is_empty() {
        names = agent.models.iter().map(|one| one.name.clone()).collect();
    }
    let address = address(agent.asking.base_url.as_deref());
    let models = names.iter();
    let models = models.map(|name| Named::at(name, address.as_deref()));
    let models: Vec<Named> = models.collect();
    if models.is_empty() {
        return Ok(None);
    }
    if args.asking.base_url.is_some() && models.iter().all(|named| named.base_url.is_none()) {
        let message = "`--base-url` only applies to models without a provider: `enact \
                       models` lists the variable of each provider";
        return Err(Failure::usage("base_url", message));
    }
    Ok(Some(Choice { models, reason }))
}

/// What can be asked without being named. The base URL comes with the place where it was set.
pub(super) async fn at_hand(base_url: Option<(&str, &str)>) -> Result<Choice, Failure> {
    let (base_url, source) = base_url.unzip();
    if let Some(address) = address(base_url) {
        return first_at(address, source.unwrap_or(ADDRESS_VARIABLE)).await;
    }
    for provider in Provider::all() {
        let Some(model) = provider.usual_model().filter(|_| !provider.is_local()) else {
            continue;
        };
        if provider.is_configured() {
            let why = match provider.key_source() {
                Some(KeySource::Variable(variable)) => format!("{variable} is set"),
                _ => "its key is stored".to_owned(),
            };
            let name = format!("{}::{model}", provider.name());
            let reason = format!("{why}; change it with `--model` or {MODEL_VARIABLE}");
            return Ok(Choice::of(name, None, reason));
        }
    }
    for provider in Provider::all().into_iter().filter(Provider::is_local) {
        let Ok(models) = provider.models(PATIENCE).await else {
            continue;
        };
        if let Some(model) = models.into_iter().next() {
            let name = format!("{}::{model}", provider.name());
            let reason = format!("running at {}", provider.base_url());
            return Ok(Choice::of(name, None, reason));
        }
    }
    Err(Failure::usage("no_model", NO_MODEL))
}

/// The first model of a server that was named without one, in this place.
async fn first_at(address: String, source: &str) -> Result<Choice, Failure> {
    let asked = match Provider::named("openai") {
        Ok(openai) => openai.models_at(&address, PATIENCE).await,
        Err(error) => Err(error),
    };
    let wrong = |what: String| {
        let message = format!(
            "no model is set, and the server from {source} does not list its models ({what}): name \
             one with `--model` or {MODEL_VARIABLE}"
        );
        Failure::usage("no_model", message)
    };
    let models = asked.map_err(|error| wrong(error.to_string()))?;
    let Some(model) = models.into_iter().next() else {
        return Err(wrong("the list is empty".to_owned()));
    };
    let reason = format!("the first one of the server from {source}");
    Ok(Choice::of(model, Some(address), reason))
}

/// The address of the server for models without a provider, if one is set.
pub(crate) fn address(flag: Option<&str>) -> Option<String> {
    let given = flag.map(str::trim).filter(|flag| !flag.is_empty());
    given
        .map(str::to_owned)
        .or_else(|| variable(ADDRESS_VARIABLE))
}

/// The value of a variable, if it is not empty.
pub(super) fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?.trim().to_owned();
    (!value.is_empty()).then_some(value)
}
