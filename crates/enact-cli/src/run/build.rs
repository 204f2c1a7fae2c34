//! From an agent that is written down to one that can be called.

use std::sync::Arc;

use enact::model::ModelOptions;
use enact::{AdapterChoice, AgentTool, Error, LanguageModel, ReAct, Tools};
use enact_sqlite::SqliteStore;

use super::asked::connected;
use crate::agent::{Agent, Member};
use crate::exit::Failure;
use crate::mcp::Servers;
use crate::models::Tape;
use crate::tools;

/// The agent, asking this model. Starts the servers of it and of those that it may call.
pub(super) async fn build(
    agent: &Agent,
    model: Arc<dyn LanguageModel>,
    tape: &Tape,
    store: Option<&SqliteStore>,
    servers: &mut Servers,
) -> Result<ReAct, Failure> {
    let own = tools::own(agent)?;
    let own = own.and(members(&agent.agents, tape, store, servers).await?);
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
    let mut options = ModelOptions::default();
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
) -> Result<Tools, Failure> {
    let mut tools = Tools::new();
    for Member {
        name,
        description,
        agent,
    } in members
    {
        let name_of_model = agent.models.first().map_or("", |first| &first.name);
        let model = tape.beside_if_asked(name_of_model, || {
            connected(&agent.models, &agent.pace).map(|(model, _)| model)
        })?;
        let built = Box::pin(build(agent, model, tape, store, servers)).await?;
        let mut tool = AgentTool::new(built, name, description);
        if let Some(store) = store {
            tool = tool.with_store(store.clone());
        }
        tools = tools.with(tool);
    }
    Ok(tools)
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
