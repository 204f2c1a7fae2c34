//! What resuming a run does beyond reading its log: the commands that it starts, the addresses that
//! it contacts and the tools that it has.

use std::collections::BTreeSet;

use enact::run::{ActionKind, Question, QuestionKind};
use enact::tool::{Confirmation, Effect, ToolSpec};
use enact::{Decision, Run, Values};
use enact_providers::Provider;
use serde_json::Value;

use crate::agent::{Agent, Member};
use crate::exit::Failure;
use crate::mcp::Noted;
use crate::models::Named;
use crate::view::exact;

/// What is done, and with what.
type Deeds = Vec<(String, String)>;

/// All that a run does when it is resumed, as its log says it.
pub(crate) fn deeds(run: &Run) -> Result<Deeds, Failure> {
    let agent = Agent::of_run(run.started())?;
    let mut deeds = Deeds::new();
    tell_agent(&agent, "", &mut deeds);
    tell_tools(run, &mut deeds);
    tell_members(&agent.agents, "", &mut deeds);
    tell_calls(run, &mut deeds);
    Ok(deeds)
}

/// What one agent reaches.
fn tell_agent(agent: &Agent, whose: &str, deeds: &mut Deeds) {
    let mut tell = |what: &str, how: String| deeds.push((format!("{whose}{what}"), how));
    for named in &agent.models {
        let address = named.base_url.as_deref();
        let address = address.unwrap_or("the address of its provider");
        let key = match key_variable(named) {
            Some(name) => format!("with the key in {name}"),
            None => "without a key".to_owned(),
        };
        tell("asks", format!("{} at {address}, {key}", named.name));
    }
    if let Some(mcp) = &agent.mcp {
        tell_servers(mcp, &mut tell);
    }
    if let Some(folder) = &agent.files {
        tell("works on the files in", folder.display().to_string());
    }
    if let Some(shell) = &agent.reach.shell {
        let folder = shell.folder.as_ref();
        let folder = folder.map_or_else(String::new, |folder| folder.display().to_string());
        tell("runs shell commands in", folder);
        if !shell.env.is_empty() {
            tell("hands shell commands the variables", shell.env.join(", "));
        }
    }
    if let Some(pages) = &agent.reach.http_get {
        let private = if pages.private {
            ", also private ones"
        } else {
            ""
        };
        tell(
            "reads pages of",
            format!("{}{private}", pages.hosts.join(", ")),
        );
    }
    if let Some(cache) = &agent.pace.cache {
        tell("keeps replies in", cache.display().to_string());
    }
}

/// Servers as the run notes them: what is not known here is shown as it is.
fn tell_servers(mcp: &Noted, tell: &mut impl FnMut(&str, String)) {
    let Ok(Value::Object(noted)) = serde_json::to_value(mcp) else {
        return;
    };
    for (name, value) in &noted {
        match (name.as_str(), value) {
            ("commands", Value::Array(commands)) => {
                for command in commands {
                    tell("starts", plain(command));
                }
            }
            ("urls", Value::Array(urls)) => {
                for url in urls {
                    tell("connects to", plain(url));
                }
            }
            ("configs", Value::Array(files)) => {
                for file in files {
                    tell("starts the servers listed in", plain(file));
                }
            }
            ("env", Value::Array(names)) => {
                let names: Vec<String> = names.iter().map(plain).collect();
                tell("hands the servers the variables", names.join(", "));
            }
            ("folder", folder) => tell("starts servers in", plain(folder)),
            ("servers", Value::Object(servers)) => {
                for (server, listed) in servers {
                    let server = exact::identifier(server);
                    tell(&format!("starts the server {server}"), listed.to_string());
                }
            }
            // Which tools of the servers are used, and those of enact itself.
            ("allow" | "deny" | "own", _) => {}
            (other, value) => {
                let other = exact::identifier(other);
                tell(&format!("has servers with {other}"), value.to_string());
            }
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The variable whose value goes to a model as the key, if it has one.
fn key_variable(named: &Named) -> Option<&'static str> {
    let name = match enact_providers::split(&named.name) {
        Some((provider, _)) => Provider::named(provider).ok()?.key_variable()?,
        None => "OPENAI_API_KEY",
    };
    std::env::var(name)
        .ok()
        .filter(|key| !key.trim().is_empty())?;
    Some(name)
}

fn tell_tools(run: &Run, deeds: &mut Deeds) {
    let allowed = allowed(run);
    let mut tools: Vec<&ToolSpec> = run.started().agent.tools.iter().collect();
    // Tools of servers come and go.
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
        deeds.push(("runs these tools unasked".to_owned(), unasked));
    }
    if !allowed.is_empty() {
        let names: Vec<&str> = allowed.iter().copied().collect();
        let what = "runs unasked, because somebody allowed it for the rest of the run";
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

fn tell_members(members: &[Member], whose: &str, deeds: &mut Deeds) {
    for Member { name, agent, .. } in members {
        let whose = format!("{whose}{}: ", exact::identifier(name));
        tell_agent(agent, &whose, deeds);
        if !agent.tools.is_empty() {
            deeds.push((format!("{whose}has the tools"), agent.tools.join(", ")));
        }
        tell_members(&agent.agents, &whose, deeds);
    }
}

/// The calls that the log has decided on, and the answers in it that are not used yet.
fn tell_calls(run: &Run, deeds: &mut Deeds) {
    let open = run.open_questions();
    let answers = answers(run);
    let trace = run.trace();
    let last = trace.steps.last();
    for action in last.into_iter().flat_map(|step| &step.actions) {
        let asks = open
            .iter()
            .any(|question| question.tool_call.id == action.call.id);
        let is_due = action.kind == ActionKind::ToolCall && action.observation.is_none();
        if !is_due || asks {
            continue;
        }
        let call = whole_call(&action.call.name, &action.call.args);
        let mut answers = answers.iter().rev();
        let answer = answers.find(|(question, _)| question.tool_call.id == action.call.id);
        let (what, how) = match answer {
            None => ("runs the call", call),
            Some((_, Decision::Edit { name, args })) => (
                "runs the call, as an answer changed it",
                whole_call(name, args),
            ),
            Some((_, Decision::Reject(_))) => ("declines the call, as answered", call),
            Some((_, Decision::Feedback(text))) => (
                "tells the model, as answered",
                format!("{text}, in the place of {call}"),
            ),
            Some((question, Decision::Answer(text))) if question.kind == QuestionKind::Clarify => {
                ("runs the call, as answered", format!("{call}, with {text}"))
            }
            Some((_, Decision::Answer(text))) => (
                "tells the model, as answered",
                format!("{text}, as the result of {call}"),
            ),
            Some(_) => ("runs the call, as answered", call),
        };
        deeds.push((what.to_owned(), how));
    }
}

/// The questions that were answered, with the answer that counts: the first that was not taken back.
fn answers(run: &Run) -> Vec<(&Question, &Decision)> {
    let asked = run.questions().iter();
    asked
        .filter_map(|asked| Some((&asked.question, asked.decision.as_ref()?)))
        .collect()
}

/// A call with all of its arguments.
fn whole_call(name: &str, args: &Values) -> String {
    format!(
        "{} {}",
        exact::identifier(name),
        Value::Object(args.clone())
    )
}
