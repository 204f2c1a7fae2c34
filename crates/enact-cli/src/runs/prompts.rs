//! `enact show --as prompts`.

use enact::Run;
use enact::model::{Message, Part, RawCall, Request};

use super::show::{print, seen};
use crate::exit::Failure;
use crate::run::to_read;

/// Prints every request that a run made, as text.
pub(super) fn print_all(run: &Run) -> Result<(), Failure> {
    let agent = to_read(run)?;
    let asked = agent.prompts(run).map_err(|error| Failure::from(&error))?;
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

fn text(request: &Request) -> String {
    let mut text = String::new();
    for message in request.prompt.iter() {
        let (role, said) = match message {
            Message::System { text } => ("system".to_owned(), text.clone()),
            Message::User { parts } => ("user".to_owned(), joined(parts)),
            Message::Assistant { text, calls, .. } => {
                let calls = calls.iter().map(called);
                let said = Some(text.clone()).filter(|text| !text.is_empty());
                let said: Vec<String> = said.into_iter().chain(calls).collect();
                ("assistant".to_owned(), said.join("\n"))
            }
            Message::Tool { name, parts, .. } => (format!("tool {name}"), joined(parts)),
        };
        text.push_str(&format!("[{role}]\n{said}\n\n"));
    }
    let tools = request.tools.list().iter().map(|tool| tool.name.as_str());
    let tools: Vec<&str> = tools.collect();
    if !tools.is_empty() {
        text.push_str(&format!("[tools on offer] {}\n", tools.join(", ")));
    }
    text
}

fn called(call: &RawCall) -> String {
    format!("[call] {} {}", call.name, call.arguments)
}

fn joined(parts: &[Part]) -> String {
    let parts = parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Image(_) => "[image]",
    });
    parts.collect::<Vec<_>>().join("\n")
}
