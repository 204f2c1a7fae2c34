//! Worked steps, which show the form of replies better than a description.

use super::Adapter;
use super::task::{Task, Tooling};
use crate::run::{Call, Entry};
use crate::tool::ToolSpec;

/// A reply that calls a tool, and a last reply, in the form of an adapter. The values are samples
/// generated from the schemas; without valid ones no step is shown, because models imitate what they
/// see.
pub(super) fn steps(adapter: &dyn Adapter, task: &Task, tooling: &Tooling) -> String {
    let example = |spec: &ToolSpec, thought: &str| {
        let call = Call::without_id(&spec.name, tooling.sample(&spec.name)?.clone());
        let entry = Entry::Assistant {
            text: thought.to_owned(),
            calls: vec![call.into()],
            opaque: None,
        };
        let said = adapter.render(task, &entry);
        said.first().map(|message| message.text())
    };
    let mut text = String::new();
    let completing = tooling.completion.tool_name();
    let mut tools = tooling.specs.iter().filter(|spec| spec.name != completing);
    // A small model continues such text: asked for what it knows, it invents something.
    let thought = "I need …, which this tool can tell.";
    if let Some(step) = tools.find_map(|tool| example(tool, thought)) {
        text.push_str(&format!(
            "A reply that calls a tool looks like this:\n\n{step}\n\n"
        ));
    }
    let last = tooling.spec(completing);
    if let Some(step) = last.and_then(|tool| example(tool, "The results show that ….")) {
        text.push_str(&format!("The last reply looks like this:\n\n{step}"));
    }
    text
}
