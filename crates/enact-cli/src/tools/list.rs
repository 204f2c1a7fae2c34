//! `enact tools`: lists tools and their rules.

use enact::tool::builtin::{NAMES, SET_UP_TOOL_NAMES};
use enact::tool::{Confirmation, Effect, ToolSpec};
use enact::{AgentTool, Error, ReAct, Signature, Tools};
use serde_json::{Value, json};

use super::{open_folder, own, pick};
use crate::agent::{self, Agent, Member};
use crate::args::ToolsArgs;
use crate::exit::{Exit, Failure};
use crate::mcp::Servers;
use crate::report;
use crate::view::{Ink, Screen, Stream, text};

/// The signature of an agent that is only inspected.
const ANY: &str = "question -> answer";

/// Lists tools.
pub(crate) async fn execute(args: &ToolsArgs) -> Result<Exit, Failure> {
    let file = agent::file(args.file.as_deref(), false);
    let agent = match &file {
        Some(path) => agent::of_file(path)?,
        None => Agent::new(Signature::parse(ANY)?),
    };
    let agent = agent.with_tools(&args.own, &args.mcp)?;
    let own = match file {
        None if agent.own.names().is_empty() && agent.mcp.is_none() => all(&agent)?,
        _ => own(&agent)?,
    };
    let agents = callable(&agent.agents).map_err(|error| Failure::from(&error))?;
    let servers = match &agent.mcp {
        Some(noted) => Servers::start(noted).await?,
        None => Servers::default(),
    };
    let has_file = file.is_some();
    let sources = std::iter::repeat_n("built-in".to_owned(), own.len())
        .chain(std::iter::repeat_n("agent".to_owned(), agents.len()))
        .chain(servers.sources());
    let tools = ruled(servers.join(own.and(agents)), &agent);
    let listed = tools.map(|tools| {
        let specs = tools.iter().map(|tool| tool.spec().clone());
        specs.zip(sources).collect::<Vec<_>>()
    });
    servers.shutdown().await;
    let mut listed = listed?;
    if has_file {
        listed.push(completing(&agent)?);
    }
    if args.json {
        report::print(&listed.iter().map(object).collect());
    } else {
        let screen = Screen::new(Stream::Stdout);
        listed.iter().for_each(|one| show(&screen, one));
    }
    Ok(Exit::Success)
}

/// The tool by which the model ends a run of this agent, and what adds it.
fn completing(agent: &Agent) -> Result<(ToolSpec, String), Failure> {
    let failed = |error: Error| Failure::from(&error);
    let mut builder = ReAct::builder(agent.signature.clone())
        .completion(agent.asking.completion.unwrap_or_default());
    if agent.reasoning.confidence == Some(true) {
        builder = builder.confidence();
    }
    let shown = builder.build().map_err(failed)?;
    let spec = shown.tools().last().cloned();
    let missing = || Failure::failed("tools", "the agent has no way to end a run");
    Ok((spec.ok_or_else(missing)?, "ends the run".to_owned()))
}

/// All built-in tools.
fn all(agent: &Agent) -> Result<Tools, Failure> {
    // The directory is only described, not accessed.
    let folder = open_folder(".")?;
    let names = NAMES.iter().chain(SET_UP_TOOL_NAMES).copied().collect();
    pick(names, Some(&folder), &agent.own.reach.clone().for_listing())
}

/// Agents as the tools that their caller sees. This needs neither their models nor their tools.
fn callable(members: &[Member]) -> Result<Tools, Error> {
    let mut tools = Tools::new();
    for member in members {
        let agent = ReAct::builder(member.agent.signature.clone()).build()?;
        tools = tools.with(AgentTool::new(agent, &member.name, &member.description));
    }
    Ok(tools)
}

fn ruled(mut tools: Tools, agent: &Agent) -> Result<Tools, Failure> {
    for (name, rule) in &agent.approval {
        let ruled = tools.with_confirmation(name, *rule);
        tools = ruled.map_err(|error| Failure::usage("tools", error.to_string()))?;
    }
    Ok(tools)
}

/// The type in a schema, in a word. An optional value may also be null, which adds nothing.
fn sort(schema: &Value) -> String {
    let sorts: Vec<&str> = match &schema["type"] {
        Value::String(sort) => vec![sort],
        Value::Array(sorts) => sorts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let sorts: Vec<&str> = sorts.into_iter().filter(|sort| *sort != "null").collect();
    match sorts[..] {
        [] => "any".to_owned(),
        _ => sorts.join(" or "),
    }
}

/// Lists the tools of an agent in short.
pub(crate) fn show_brief(screen: &Screen, tools: &Tools) {
    for tool in tools.iter() {
        let spec = tool.spec();
        let name = screen.paint(Ink::Tool, &text::one_line(&spec.name));
        let (effect, asks) = (spoken(spec.effect), asking(&spec.confirmation));
        let about = text::one_line(&spec.description);
        let about = screen.paint(Ink::Quiet, &text::clipped(&about, 80));
        screen.line(&format!("{name} · {effect} · {asks}"));
        screen.line(&format!("   {about}"));
    }
}

fn asking(confirmation: &Confirmation) -> &'static str {
    match confirmation {
        Confirmation::Never => "runs without asking",
        Confirmation::Always => "asks before every call",
        _ => "asks before some calls",
    }
}

fn show(screen: &Screen, (spec, source): &(ToolSpec, String)) {
    let name = screen.paint(Ink::Tool, &text::one_line(&spec.name));
    let asks = asking(&spec.confirmation);
    let effect = spoken(spec.effect);
    let source = text::one_line(source);
    screen.line(&format!("{name} · {source} · {effect} · {asks}"));
    screen.line(&format!("   {}", text::one_line(&spec.description)));
    let properties = spec.parameters["properties"].as_object();
    for (name, schema) in properties.into_iter().flatten() {
        let is_required = spec.required().contains(&name.as_str());
        let mark = if is_required { "" } else { "?" };
        let sort = sort(schema);
        let about = schema["description"].as_str().unwrap_or_default();
        let line = match about {
            "" => format!("{name}{mark}: {sort}"),
            about => format!("{name}{mark}: {sort}; {about}"),
        };
        let line = text::one_line(&line);
        screen.line(&format!("   {}", screen.paint(Ink::Quiet, &line)));
    }
    screen.line("");
}

fn spoken(effect: Effect) -> &'static str {
    match effect {
        Effect::ReadOnly => "changes nothing",
        Effect::Idempotent => "may be repeated",
        Effect::Effectful => "every call counts",
    }
}

fn object((spec, source): &(ToolSpec, String)) -> Value {
    json!({
        "name": spec.name,
        "description": spec.description,
        "source": source,
        "effect": spec.effect,
        "confirmation": spec.confirmation,
        "volatile": spec.volatile,
        "serial": spec.serial,
        "timeout_s": spec.timeout.as_secs_f64(),
        "parameters": spec.parameters,
    })
}
