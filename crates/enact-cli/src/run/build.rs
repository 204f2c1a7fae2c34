//! From an agent that is written down to one that can be called.

use std::sync::Arc;

use enact::model::ModelOptions;
use enact::model::openai::DEFAULT_MAX_TOKENS;
use enact::{AdapterChoice, AgentTool, Builder, LanguageModel, ReAct, Tools};
use enact_sqlite::SqliteStore;

use super::asked::{Asked, connected};
use crate::agent::{Agent, Member};
use crate::exit::Failure;
use crate::mcp::Servers;
use crate::models::{Probing, Tape, is_unknown};
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
    let tools = tools(agent, tape, store, servers, probing).await?;
    let rules = agent.approval.iter();
    let builder = rules.fold(with_tools(agent, tools, model)?, |builder, (name, rule)| {
        builder.confirmation(name, rule.clone())
    });
    builder.build().map_err(|error| Failure::from(&error))
}

/// The same for the agent of a run that began with this adapter of the steps. Tools of servers may
/// come and go: their rules stay.
pub(super) async fn rebuild(
    agent: &Agent,
    step_adapter: Option<&str>,
    asked: &Asked,
    store: &SqliteStore,
    servers: &mut Servers,
    probing: Probing,
) -> Result<ReAct, Failure> {
    let tools = tools(agent, &asked.tape, Some(store), servers, probing).await?;
    let rules = agent.approval.iter();
    let tools = rules.fold(tools, |tools, (name, rule)| {
        tools.with_confirmation_whenever(name, rule.clone())
    });
    let step = adapter(step_adapter.or(agent.adapter.as_deref()))?;
    let builder = with_tools(agent, tools, Arc::clone(&asked.model))?.step_adapter(step);
    builder.build().map_err(|error| Failure::from(&error))
}

/// The tools of the agent: its own, those of its servers, which are started, and other agents.
async fn tools(
    agent: &Agent,
    tape: &Tape,
    store: Option<&SqliteStore>,
    servers: &mut Servers,
    probing: Probing,
) -> Result<Tools, Failure> {
    let own = tools::own(agent)?;
    let own = own.and(members(&agent.agents, tape, store, servers, probing).await?);
    let Some(noted) = &agent.mcp else {
        return Ok(own);
    };
    let started = Servers::start(noted).await?;
    let tools = started.join(own);
    servers.and(started);
    Ok(tools)
}

fn with_tools(
    agent: &Agent,
    tools: Tools,
    model: Arc<dyn LanguageModel>,
) -> Result<Builder<ReAct>, Failure> {
    Ok(ReAct::builder(agent.signature.clone())
        .tools(tools)
        .completion(agent.completion)
        .limits(|limits| *limits = agent.limits)
        .rules(|rules| rules.clone_from(&agent.rules))
        .prices(agent.prices.clone().unwrap_or_default())
        .options(options(agent))
        .demos(agent.demos.clone())
        .adapter(adapter(agent.adapter.as_deref())?)
        .model(model))
}

/// Agents as tools. Their runs are kept with those of the caller, so that both can be resumed.
async fn members(
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
fn options(agent: &Agent) -> ModelOptions {
    let has_budget = agent.limits.token_budget.is_some() || agent.limits.cost_budget.is_some();
    let is_bounded = has_budget && agent.models.iter().any(is_unknown);
    let usual = is_bounded.then_some(DEFAULT_MAX_TOKENS);
    let mut options = ModelOptions::default();
    options.max_tokens = agent.max_tokens.or(usual);
    options.temperature = agent.temperature;
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
