//! The scratchpad view: the reasoning as plain text.

use serde_json::Value;

use super::history::{Entry, ToolResult};
use super::log::Run;
use super::trajectory::indented;
use super::transcript;
use crate::signature::plain_text;

/// The reasoning of a run, one block per step.
pub(super) fn of(run: &Run) -> String {
    let entries = transcript::of(run, run.steps().len());
    let before = run.started().history.entries().len();
    let mut lines = Vec::new();
    for (index, entry) in entries.iter().enumerate().skip(before) {
        match entry {
            Entry::Assistant { text, calls, .. } => {
                begin_block(&mut lines);
                thought(&mut lines, text);
                let results = match entries.get(index + 1) {
                    Some(Entry::Results { results }) => results.as_slice(),
                    _ => &[],
                };
                for call in calls {
                    let args = match &call.raw {
                        Some(raw) => raw.clone(),
                        None => Value::Object(call.args.clone()).to_string(),
                    };
                    tagged(&mut lines, "Action", &format!("{} {args}", call.name));
                    let result = results.iter().find(|result| result.call_id == call.id);
                    lines.extend(result.map(observation));
                }
            }
            // What the model was told after a reply without calls.
            Entry::Notice { text } => tagged(&mut lines, "Observation", text),
            Entry::Summary { text, .. } => {
                begin_block(&mut lines);
                tagged(&mut lines, "Summary of what came before", text);
            }
            Entry::Outputs {
                values,
                thought: why,
                ..
            } => {
                begin_block(&mut lines);
                thought(&mut lines, why);
                // A single output is the answer itself.
                let only = values.values().next().filter(|_| values.len() == 1);
                let answer = match only {
                    Some(only) => plain_text(only),
                    None => Value::Object(values.clone()).to_string(),
                };
                tagged(&mut lines, "Final Answer", &answer);
            }
            _ => {}
        }
    }
    lines.join("\n")
}

fn begin_block(lines: &mut Vec<String>) {
    if !lines.is_empty() {
        lines.push(String::new());
    }
}

fn thought(lines: &mut Vec<String>, text: &str) {
    if !text.trim().is_empty() {
        tagged(lines, "Thought", text.trim());
    }
}

fn tagged(lines: &mut Vec<String>, tag: &str, text: &str) {
    lines.push(format!("{tag}: {}", indented(text)));
}

fn observation(result: &ToolResult) -> String {
    let mark = match (result.observation.is_error, result.observation.is_pending) {
        (true, _) => "(error) ",
        (_, true) => "(pending) ",
        _ => "",
    };
    let text = indented(&result.observation.text());
    format!("Observation: {mark}{text}")
}
