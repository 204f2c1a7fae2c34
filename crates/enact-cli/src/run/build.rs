//! From an agent that is written down to one that can be called.

use std::path::Path;
use std::sync::Arc;

use enact::model::ModelOptions;
use enact::tool::builtin::{self, Files, PickError};
use enact::{AdapterChoice, AgentTool, Error, LanguageModel, ReAct, Tool, Tools};
use enact_sqlite::SqliteStore;

use crate::agent::{Agent, Member};
use crate::exit::Failure;
use crate::mcp::Servers;
use crate::models::{Named, Pace, connect, joined};

/// The agent, asking this model. Starts the servers of it and of those that it may call.
pub(super) async fn build(
    agent: &Agent,
    model: Arc<dyn LanguageModel>,
    store: Option<&SqliteStore>,
    servers: &mut Servers,
) -> Result<ReAct, Failure> {
    let own = own_tools(agent)?;
    let own = own.and(members(&agent.agents, store, servers).await?);
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
        let (model, _) = connected(&agent.models, &agent.pace)?;
        let built = Box::pin(build(agent, model, store, servers)).await?;
        let mut tool = AgentTool::new(built, name, description);
        if let Some(store) = store {
            tool = tool.with_store(store.clone());
        }
        tools = tools.with(tool);
    }
    Ok(tools)
}

/// The built-in tools that an agent has.
pub(super) fn own_tools(agent: &Agent) -> Result<Tools, Failure> {
    let files = agent.files.as_ref().map(open_folder).transpose()?;
    pick(agent.tool_names(), files.as_ref())
}

pub(super) fn open_folder(path: impl AsRef<Path>) -> Result<Files, Failure> {
    Files::open(path).map_err(|error| Failure::usage("files", error.to_string()))
}

pub(super) fn pick(names: Vec<&str>, files: Option<&Files>) -> Result<Tools, Failure> {
    builtin::pick(names, files).map_err(|error| {
        let message = match &error {
            PickError::NeedsFolder(_) => format!("{error}: name it with `--files DIR`"),
            _ => error.to_string(),
        };
        Failure::usage("tools", message)
    })
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

/// Models as one, the first one first, and where each of them is.
pub(super) fn connected(
    models: &[Named],
    pace: &Pace,
) -> Result<(Arc<dyn LanguageModel>, Vec<Named>), Failure> {
    let clients = models.iter().map(connect);
    let clients = clients.collect::<Result<Vec<_>, Failure>>()?;
    let found = models.iter().zip(&clients).map(|(named, client)| Named {
        name: named.name.clone(),
        base_url: client.base_url().map(str::to_owned),
    });
    let found = found.collect();
    let mut clients = clients.into_iter();
    let Some(first) = clients.next() else {
        return Err(Failure::usage("no_model", "no model is set"));
    };
    Ok((joined(first, clients.collect(), pace)?, found))
}

/// A tool that a run had from a server, if it is still to be had.
pub(super) fn still_offered(offered: &Tools, name: &str) -> Result<Arc<dyn Tool>, Failure> {
    offered.get(name).cloned().ok_or_else(|| {
        let message = format!(
            "the run has the tool `{name}`, which its MCP servers do not offer any more: it \
             cannot go on with other tools than it began with"
        );
        Failure::failed("tools", message)
    })
}
