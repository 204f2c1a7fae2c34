//! What a run waits for, and how to answer.

use enact::run::QuestionKind;
use enact::{Question, Run};
use enact_sqlite::SqliteStore;
use serde_json::Value;

use crate::store::resume_line;
use crate::view::{Way, call_line, text};

/// The command that resumes a run.
pub(crate) fn continued(store: &SqliteStore, run: &Run) -> String {
    resume_line(store, run.id(), &[])
}

/// The ways to answer a question of a stored run; none if it is not stored.
pub(super) fn ways(run: &Run, question: &Question, store: Option<&SqliteStore>) -> Vec<Way> {
    let Some(store) = store else {
        return Vec::new();
    };
    // The run of a member continues with its caller.
    let id = run.started().parent.as_ref();
    let id = id.map_or(run.id(), |parent| &parent.run_id);
    if id != run.id() {
        return vec![(
            "it belongs to another run; to answer:",
            resume_line(store, id, &[]),
        )];
    }
    let asked = question.confirmation_id.as_str();
    let line = |flag: &str| resume_line(store, id, &[flag, asked]);
    let with_text = |text: &str| resume_line(store, id, &["--answer", asked, text]);
    match question.kind {
        QuestionKind::Clarify => vec![("to answer:", with_text("YOUR ANSWER"))],
        QuestionKind::InDoubt => vec![
            ("to run it again:", line("--approve")),
            ("if it happened, with its result:", with_text("RESULT")),
            ("if it did not happen, to skip it:", line("--reject")),
        ],
        _ => vec![
            ("to approve:", line("--approve")),
            ("to reject:", line("--reject")),
        ],
    }
}

/// What a run is about, in one line: its agent, if it came from a file, and its first input.
pub(crate) fn about(run: &Run) -> String {
    let input = first_input(run).unwrap_or_default();
    let about = match agent_name(run) {
        Some(name) => format!("{name}: {input}"),
        None => input,
    };
    text::one_line(&about)
}

/// The name of the agent file that a run came from.
pub(crate) fn agent_name(run: &Run) -> Option<&str> {
    run.started().agent.notes.get("name")?.as_str()
}

/// The first input of a run, as text.
pub(crate) fn first_input(run: &Run) -> Option<String> {
    let started = run.started();
    let field = started.agent.signature.inputs().first()?;
    Some(match started.inputs.get(&field.name)? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

/// A question in one line.
pub(crate) fn asked_in_short(question: &Question) -> String {
    let call = &question.tool_call;
    match question.kind {
        QuestionKind::Clarify => {
            let name = text::one_line(&call.name);
            format!("{name} asks: {}", text::one_line(&question.question))
        }
        QuestionKind::InDoubt => format!("did {} happen?", call_line(&call.name, &call.args)),
        _ => format!("may {} run?", call_line(&call.name, &call.args)),
    }
}
