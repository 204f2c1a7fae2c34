//! Entries as plain text, for predictors that read about a run instead of taking part in it.

use serde_json::Value;

use super::state::RunState;
use crate::run::{Entry, Observation, indented};

/// The task of a run: instructions and inputs.
pub(super) fn of_task(state: &RunState) -> String {
    let inputs = Value::Object(state.started().inputs.clone());
    format!("{}\n{inputs}", state.program.declared.instructions())
}

/// The entries as text, each text of at most `clip` characters. Further lines of a text are indented, so
/// that no line of a value looks like a label.
pub(super) fn of_entries<'a>(entries: impl IntoIterator<Item = &'a Entry>, clip: usize) -> String {
    let mut lines = Vec::new();
    for entry in entries {
        let mut line = |label: &str, text: &str| {
            if !text.is_empty() {
                lines.push(format!("{label}: {}", indented(&clipped(text, clip))));
            }
        };
        match entry {
            Entry::System { text } => line("instructions", text),
            Entry::Inputs { values } => {
                line("inputs", &Value::Object(values.clone()).to_string());
            }
            Entry::User { parts } => {
                line(
                    "user",
                    &crate::model::Message::User {
                        parts: parts.clone(),
                    }
                    .text(),
                );
            }
            Entry::Assistant { text, calls, .. } => {
                line(if calls.is_empty() { "said" } else { "thought" }, text);
                for call in calls {
                    let args = Value::Object(call.args.clone());
                    line("call", &format!("{} {args}", call.name));
                }
            }
            Entry::Results { results } => {
                for result in results {
                    let Observation { is_error, .. } = result.observation;
                    let label = if is_error { "error" } else { "observation" };
                    line(label, &result.observation.text());
                }
            }
            Entry::Notice { text } => line("notice", text),
            Entry::Outputs { values, .. } => {
                line("answer", &Value::Object(values.clone()).to_string());
            }
            Entry::Summary { text, .. } => line("summary of what came before", text),
        }
    }
    lines.join("\n")
}

/// A text of at most `limit` characters: its beginning and end.
fn clipped(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    let half = limit / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(length - half).collect();
    format!(
        "{head} … {} characters left out … {tail}",
        length - 2 * half
    )
}
