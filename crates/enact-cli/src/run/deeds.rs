//! What resuming a run does beyond reading its log: the commands it starts, the addresses it
//! contacts and the tools it uses.

use std::collections::BTreeSet;

use enact::run::{ActionKind, QuestionKind};
use enact::tool::{Confirmation, Effect, ToolSpec};
use enact::{Decision, Run, Values};
use enact_providers::{KeySource, Provider};
use serde_json::Value;

use crate::agent::{Agent, Member};
use crate::exit::Failure;
use crate::models::Named;
use crate::view::exact;

/// Actions with their details.
type Deeds = Vec<(String, String)>;

/// Everything that a run does when it is resumed, according to its log.
pub(crate) fn deeds(run: &Run) -> Result<Deeds, Failure> {
    let agent = Agent::of_run(run.started())?;
    let mut deeds = Deeds::new();
    tell_agent(&agent, "", &mut deeds);
    tell_tools(run, &mut deeds);
    tell_others(&agent, "", &mut deeds);
    tell_calls(run, &mut deeds);
    Ok(deeds)
}

/// What one agent uses.
fn tell_agent(agent: &Agent, whose: &str, deeds: &mut Deeds) {
    let mut tell = |what: &str, how: String| deeds.push((format!("{whose}{what}"), how));
    for named in &agent.models {
        let address = named.base_url.as_deref();
        let address = address.unwrap_or("the address of its provider");
        let key = match key_source(named) {
            Some(KeySource::Variable(name)) => format!("with the key in {name}"),
            Some(KeySource::Kept) => "with the stored key".to_owned(),
            None => "without a key".to_owned(),
        };
        tell("asks", format!("{} at {address}, {key}", named.name));
    }
    if let Some(mcp) = &agent.mcp {
        for (what, how) in mcp.deeds() {
            tell(&what, how);
        }
    }
    for (what, how) in agent.hooks.deeds() {
        tell(&what, how);
    }
    if let Some(folder) = &agent.own.files {
        tell("works on the files in", folder.display().to_string());
    }
    if let Some(shell) = &agent.own.reach.shell {
        let folder = shell.folder.as_ref();
        let folder = folder.map_or_else(String::new, |folder| folder.display().to_string());
        tell("runs shell commands in", folder);
        if !shell.env.is_empty() {
            tell("passes shell commands the variables", shell.env.join(", "));
        }
    }
    if let Some(pages) = &agent.own.reach.http_get {
        let private = if pages.private {
            ", including private ones"
        } else {
            ""
        };
        let hosts = pages.hosts.join(", ");
        tell("reads pages of", format!("{hosts}{private}"));
    }
    if let Some(cache) = &agent.replies.pace.cache {
        tell("stores replies in", cache.display().to_string());
    }
}

/// The source of the key for a model, if it has one.
fn key_source(named: &Named) -> Option<KeySource> {
    let (provider, _) = named.parts().unwrap_or(("openai", ""));
    let provider = Provider::named(provider).ok()?;
    match &named.base_url {
        Some(address) => provider.key_source_at(address),
        None => provider.key_source(),
    }
}

fn tell_tools(run: &Run, deeds: &mut Deeds) {
    let allowed = allowed(run);
    let mut tools: Vec<&ToolSpec> = run.started().agent.tools.iter().collect();
    // Tools of servers may change.
    tools.extend(run.tools());
    let named = |is_meant: &dyn Fn(&ToolSpec) -> bool| -> String {
        let mut names: Vec<&str> = Vec::new();
        for tool in tools.iter().filter(|tool| is_meant(tool)) {
            if !names.contains(&&*tool.name) {
                names.push(&tool.name);
            }
        }
        names.join(", ")
    };
    let is_allowed = |tool: &ToolSpec| allowed.contains(&*tool.name);
    let runs_unasked = |tool: &ToolSpec| {
        matches!(tool.confirmation, Confirmation::Never) && tool.effect != Effect::ReadOnly
    };
    let unasked = named(&|tool| runs_unasked(tool) && !is_allowed(tool));
    if !unasked.is_empty() {
        deeds.push(("runs these tools without asking".to_owned(), unasked));
    }
    if !allowed.is_empty() {
        let names: Vec<&str> = allowed.iter().copied().collect();
        let what = "runs without asking, because someone allowed it for the rest of the run";
        deeds.push((what.to_owned(), names.join(", ")));
    }
    let others = named(&|tool| !runs_unasked(tool) && !is_allowed(tool));
    if !others.is_empty() {
        deeds.push(("has the tools".to_owned(), others));
    }
}

/// The tools that an answer in the log allows for the rest of the run.
fn allowed(run: &Run) -> BTreeSet<&str> {
    let always = run.questions().iter();
    let always = always.filter(|asked| asked.decision == Some(Decision::ApproveAlways));
    always
        .map(|asked| asked.question.tool_call.name.as_str())
        .collect()
}

fn tell_others(agent: &Agent, whose: &str, deeds: &mut Deeds) {
    for Member { name, agent, .. } in &agent.agents {
        let whose = format!("{whose}{}: ", exact::identifier(name));
        tell_agent(agent, &whose, deeds);
        if !agent.own.tools.is_empty() {
            deeds.push((format!("{whose}has the tools"), agent.own.tools.join(", ")));
        }
        tell_others(agent, &whose, deeds);
    }
    for (name, part) in agent.parts() {
        tell_agent(part, &format!("{whose}{}: ", name.as_str()), deeds);
    }
}

/// The calls that the log has decided on, and unused answers.
fn tell_calls(run: &Run, deeds: &mut Deeds) {
    let open = run.open_questions();
    let trace = run.trace();
    let last = trace.steps.last();
    for action in last.into_iter().flat_map(|step| &step.actions) {
        let asks = open
            .iter()
            .any(|question| question.tool_call.id == action.call.id);
        let is_call = matches!(action.kind, ActionKind::ToolCall | ActionKind::Delegate);
        let is_due = is_call && action.observation.is_none();
        if !is_due || asks {
            continue;
        }
        let call = whole_call(&action.call.name, &action.call.args);
        let answers = run.questions().iter().rev();
        let mut answers = answers.filter(|asked| asked.question.tool_call.id == action.call.id);
        let answer = answers.find_map(|asked| Some((&asked.question, asked.decision.as_ref()?)));
        let (what, how) = match answer {
            None => ("runs the call", call),
            Some((_, Decision::Edit { name, args })) => (
                "runs the call, as an answer changed it",
                whole_call(name, args),
            ),
            Some((_, Decision::Reject(_))) => ("rejects the call, as answered", call),
            Some((_, Decision::Feedback(text))) => (
                "sends the model, as answered",
                format!("{text}, instead of {call}"),
            ),
            Some((question, Decision::Answer(text))) if question.kind == QuestionKind::Clarify => {
                ("runs the call, as answered", format!("{call}, with {text}"))
            }
            Some((_, Decision::Answer(text))) => (
                "sends the model, as answered",
                format!("{text}, as the result of {call}"),
            ),
            Some(_) => ("runs the call, as answered", call),
        };
        deeds.push((what.to_owned(), how));
    }
}

/// A call with all of its arguments.
fn whole_call(name: &str, args: &Values) -> String {
    format!(
        "{} {}",
        exact::identifier(name),
        Value::Object(args.clone())
    )
}
