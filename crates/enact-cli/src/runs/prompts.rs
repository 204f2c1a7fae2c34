//! `enact show --as prompts`.

use enact::Run;
use enact::model::{
    Image, ImageSource, Message, Part, RawCall, Request, ResponseFormat, ToolChoice,
};
use enact::module::Asked;
use enact_sqlite::SqliteStore;
use serde_json::{Value, json};

use super::show::{print, seen};
use crate::agent::{Agent, MADE_BY};
use crate::exit::Failure;
use crate::report;
use crate::run::to_read;
use crate::store;

/// Prints every request that a run made: as text, or as a JSON array.
pub(super) async fn print_all(
    run: &Run,
    store: &SqliteStore,
    is_json: bool,
) -> Result<(), Failure> {
    let agent = to_read(run, agent(run, store).await?)?;
    let asked = agent.prompts(run).map_err(|error| Failure::from(&error))?;
    if is_json {
        report::print(&asked.iter().map(object).collect());
        return Ok(());
    }
    for (index, asked) in asked.iter().enumerate() {
        let (number, by) = (index + 1, asked.predictor.as_str());
        print(&format!(
            "== request {number} ({by}), answered by record {} ==",
            asked.answered_at
        ));
        print(&seen(&text(&asked.request)));
    }
    Ok(())
}

/// The agent of a run. A run of an agent that was called doesn't note it, but that of its caller does.
async fn agent(run: &Run, store: &SqliteStore) -> Result<Agent, Failure> {
    let started = run.started();
    let unknown = || {
        let message = "the run was made by a program, and doesn't note how its prompts are worded: \
                       call `agent.prompts(&run)` in that program";
        Failure::usage("prompts", message)
    };
    let Some(parent) = &started.parent else {
        return match started.agent.notes.contains_key(MADE_BY) {
            true => Agent::of_run(started),
            false => Err(unknown()),
        };
    };
    let caller = store::load(store, &parent.run_id).await?.run;
    let mut calls = caller.steps().iter().flat_map(|step| &step.calls);
    let called = calls.find(|called| called.call.id == parent.call_id);
    let name = called.map(|called| called.call.name.clone());
    let name = name.ok_or_else(unknown)?;
    let agents = Box::pin(agent(&caller, store)).await?.agents;
    let member = agents.into_iter().find(|member| member.name == name);
    member.ok_or_else(unknown)?.agent.of_called(started)
}

fn object(asked: &Asked) -> Value {
    let request = &asked.request;
    json!({
        "predictor": asked.predictor.as_str(),
        "answered_at": asked.answered_at,
        "messages": request.prompt.iter().collect::<Vec<_>>(),
        "tools": request.tools.list(),
        "tool_choice": request.tool_choice,
        "response_format": request.response_format,
        "stop": request.stop,
        "options": request.options,
    })
}

fn text(request: &Request) -> String {
    let mut text = String::new();
    for message in request.prompt.iter() {
        let (role, said) = match message {
            Message::System { text } => ("system".to_owned(), text.clone()),
            Message::User { parts } => ("user".to_owned(), joined(parts)),
            Message::Assistant {
                text,
                calls,
                opaque,
            } => {
                let opaque = opaque.iter().map(|opaque| format!("[signed] {opaque}"));
                let calls = calls.iter().map(called);
                let said = Some(text.clone()).filter(|text| !text.is_empty());
                let said: Vec<String> = opaque.chain(said).chain(calls).collect();
                ("assistant".to_owned(), said.join("\n"))
            }
            Message::Tool { name, parts, .. } => (format!("tool {name}"), joined(parts)),
        };
        text.push_str(&format!("[{role}]\n{said}\n\n"));
    }
    for tool in request.tools.list() {
        text.push_str(&format!(
            "[offered tool {}]\n{}\n{}\n\n",
            tool.name, tool.description, tool.parameters
        ));
    }
    for (name, value) in settings(request) {
        text.push_str(&format!("[{name}] {value}\n"));
    }
    text
}

/// What is set beside messages and tools.
fn settings(request: &Request) -> Vec<(&'static str, Value)> {
    let mut set = Vec::new();
    if request.tool_choice != ToolChoice::default() {
        set.push(("tool_choice", json!(request.tool_choice)));
    }
    if request.response_format != ResponseFormat::default() {
        set.push(("response_format", json!(request.response_format)));
    }
    if !request.stop.is_empty() {
        set.push(("stop", json!(request.stop)));
    }
    let options = json!(request.options);
    if options != json!({}) {
        set.push(("options", options));
    }
    set
}

fn called(call: &RawCall) -> String {
    format!("[call] {} {}", call.name, call.arguments)
}

fn joined(parts: &[Part]) -> String {
    let parts = parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Image(image) => pictured(image),
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// An image in a line; `--json` has its data.
fn pictured(image: &Image) -> String {
    let kind = &image.media_type;
    match &image.source {
        ImageSource::Url(url) => format!("[image {kind}] {url}"),
        ImageSource::Base64(data) => format!("[image {kind}] {} characters of base64", data.len()),
    }
}
