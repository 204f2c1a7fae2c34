//! From an agent that is written down to one that can be called.

use std::sync::Arc;

use enact::model::ModelOptions;
use enact::model::openai::DEFAULT_MAX_TOKENS;
use enact::run::Limits;
use enact::{AdapterChoice, AgentTool, Error, LanguageModel, ReAct, Tools};
use enact_sqlite::SqliteStore;

use super::asked::connected;
use crate::agent::{Agent, Member};
use crate::exit::Failure;
use crate::mcp::Servers;
use crate::models::{Named, Probing, Tape, is_unknown};
use crate::tools;

/// The agent, asking this model. Starts the servers of it and of those that it may call.
pub(super) async fn build(
    agent: &Agent,
    model: Arc<dyn LanguageModel>,
    tape: &Tape,
    store: Option<&SqliteStore>,
    servers: &mut Servers,
    probing: Probing,
) -> Result<ReAct, Failure> {
    let own = tools::own(agent)?;
    let own = own.and(members(&agent.agents, tape, store, servers, probing).await?);
    let tools = match &agent.mcp {
        Some(noted) => {
            let started = Servers::start(noted).await?;
            let tools = started.join(own);
            servers.and(started);
            tools
        }
        None => own,
    };
    let adapter = adapter(agent.adapter.as_deref())?;
    let mut options = options(agent.max_tokens, &agent.limits, &agent.models);
    options.temperature = agent.temperature;
    let build = || -> Result<ReAct, Error> {
        let mut built = ReAct::dynamic(agent.signature.clone(), tools)?
            .with_completion(agent.completion)?
            .with_limits(|limits| *limits = agent.limits)
            .with_rules(|rules| rules.clone_from(&agent.rules))
            .with_prices(agent.prices.clone().unwrap_or_default())
            .with_options(options)
            .with_demos(agent.demos.clone())
            .with_adapter(adapter)
            .with_model(model);
        for (name, confirmation) in &agent.approval {
            built = built.with_confirmation(name, confirmation.clone())?;
        }
        Ok(built)
    };
    build().map_err(|error| Failure::from(&error))
}

/// Agents as tools. Their runs are kept with those of the caller, so that both can be resumed.
pub(super) async fn members(
    members: &[Member],
    tape: &Tape,
    store: Option<&SqliteStore>,
    servers: &mut Servers,
    probing: Probing,
) -> Result<Tools, Failure> {
    let mut tools = Tools::new();
    for Member {
        name,
        description,
        agent,
    } in members
    {
        let name_of_model = agent.models.first().map_or("", |first| &first.name);
        let asked = match tape {
            Tape::Replays(_) => None,
            _ => Some(connected(&agent.models, &agent.pace, probing.of(agent)).await?),
        };
        let model = tape.beside_if_asked(name_of_model, || match asked {
            Some((model, _)) => Ok(model),
            None => Err(Failure::usage("no_model", "no model is set")),
        })?;
        let built = Box::pin(build(agent, model, tape, store, servers, probing)).await?;
        let mut tool = AgentTool::new(built, name, description);
        if let Some(store) = store {
            tool = tool.with_store(store.clone());
        }
        tools = tools.with(tool);
    }
    Ok(tools)
}

/// How replies are bounded. Clients bound them by themselves at servers that nothing is known of, but
/// under a budget the bound of a request is what is left of it, which may be far more.
pub(super) fn options(max_tokens: Option<u32>, limits: &Limits, models: &[Named]) -> ModelOptions {
    let has_budget = limits.token_budget.is_some() || limits.cost_budget.is_some();
    let is_bounded = has_budget && models.iter().any(is_unknown);
    let mut options = ModelOptions::default();
    options.max_tokens = max_tokens.or(is_bounded.then_some(DEFAULT_MAX_TOKENS));
    options
}

pub(super) fn adapter(name: Option<&str>) -> Result<AdapterChoice, Failure> {
    match name {
        Some(name) => name
            .parse()
            .map_err(|error: enact::adapter::UnknownAdapter| {
                Failure::usage("adapter", error.to_string())
            }),
        None => Ok(AdapterChoice::default()),
    }
}
