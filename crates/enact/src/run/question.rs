//! Questions to a person, and their answers.

use enact_signature::Values;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::history::Call;

/// Something that a person has to decide before the run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// Names the question. The same in every process: a digest of the run, the call and its
    /// arguments, so that an answer can never be meant for another call.
    pub confirmation_id: String,
    /// What is asked.
    #[serde(default)]
    pub kind: QuestionKind,
    /// The question in words.
    pub question: String,
    /// The call that waits.
    pub tool_call: Call,
}

/// What a [`Question`] asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuestionKind {
    /// May the call run?
    #[default]
    Confirm,
    /// The call had started when its process ended. Did it happen? [`Decision::Approve`] runs it
    /// again, [`Decision::Answer`] says that it happened and what it gave, and
    /// [`Decision::Reject`] says that it did not and shall not.
    InDoubt,
}

impl Question {
    /// Asks about a call that may or may not have happened.
    pub fn in_doubt(run_id: &str, call: Call) -> Self {
        let args = Value::Object(call.args.clone());
        let kind = QuestionKind::InDoubt;
        Self {
            confirmation_id: confirmation_id(run_id, kind, &call),
            kind,
            question: format!(
                "{} with args: {args} was started, and its process ended before it gave a result. \
                 Run it again? (yes: run it again / no: it did not happen, and shall not / or say \
                 what it gave)",
                call.name
            ),
            tool_call: call,
        }
    }

    /// Asks whether a call may run.
    pub fn confirm(run_id: &str, call: Call) -> Self {
        let args = Value::Object(call.args.clone());
        let kind = QuestionKind::Confirm;
        Self {
            confirmation_id: confirmation_id(run_id, kind, &call),
            kind,
            question: format!(
                "Confirm execution of {} with args: {args}? (yes/no)",
                call.name
            ),
            tool_call: call,
        }
    }
}

fn confirmation_id(run_id: &str, kind: QuestionKind, call: &Call) -> String {
    let mut hash = Sha256::new();
    let kind = match kind {
        QuestionKind::Confirm => "confirm",
        QuestionKind::InDoubt => "in_doubt",
    };
    let args = canonical_json(&Value::Object(call.args.clone()));
    for part in [run_id, kind, &call.id, &call.name, &args] {
        // The length keeps neighbouring parts apart.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize()
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A value as JSON text with object keys in order: equal values give equal texts.
pub fn canonical_json(value: &Value) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Object(object) => {
                let mut entries: Vec<_> = object.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| key.as_str());
                out.push('{');
                for (index, (key, value)) in entries.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    out.push_str(&Value::String(key.clone()).to_string());
                    out.push(':');
                    write(value, out);
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write(item, out);
                }
                out.push(']');
            }
            other => out.push_str(&other.to_string()),
        }
    }
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// What a person decides about a [`Question`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// Run exactly this call, once.
    Approve,
    /// Do not run it; the message, if any, is for the model.
    Reject(Option<String>),
    /// Run this instead.
    Edit {
        /// The tool to run.
        name: String,
        /// With these arguments; they are validated like any.
        args: Values,
    },
    /// Do not run it; the model gets this text and thinks again.
    Feedback(String),
    /// The call in doubt happened, and this is what it gave.
    Answer(String),
}

impl Decision {
    /// Reads an answer typed by a person: `yes` or `y`, `no` or `n`, a JSON object with `edit`,
    /// and anything else as feedback. Free text is never a yes.
    pub fn from_text(text: &str, asked: &Call) -> Self {
        let trimmed = text.trim();
        match trimmed.to_ascii_lowercase().as_str() {
            "yes" | "y" => return Self::Approve,
            "no" | "n" => return Self::Reject(None),
            _ => {}
        }
        if let Ok(Value::Object(object)) = serde_json::from_str(trimmed)
            && let Some(Value::Object(edit)) = object.get("edit")
        {
            let name = edit
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or(&asked.name)
                .to_owned();
            if let Some(Value::Object(args)) = edit.get("args") {
                return Self::Edit {
                    name,
                    args: args.clone(),
                };
            }
        }
        Self::Feedback(trimmed.to_owned())
    }
}
