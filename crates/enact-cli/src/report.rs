//! A run as one JSON object.

use std::io::{IsTerminal as _, Write as _};

use enact::{Question, Run, TerminationReason};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::view::exact;

/// The status of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Status<'a> {
    Finished,
    Paused(&'a [Question]),
    /// Still waiting: an answer was not accepted.
    Refused(&'a [Question], &'a Failure),
    Failed(&'a Failure),
    /// Neither over nor waiting: its process has ended.
    Interrupted,
    /// A process is working on it.
    Running(&'a [Question]),
}

/// A run as an object; `None` for a run that never started.
pub(crate) fn object(run: Option<&Run>, status: Status<'_>) -> Value {
    let reason = run.and_then(Run::termination);
    let (name, questions, failure) = match status {
        Status::Finished => ("finished", [].as_slice(), None),
        Status::Paused(questions) => ("paused", questions, None),
        Status::Refused(questions, failure) => ("paused", questions, Some(failure)),
        Status::Failed(failure) => match reason {
            Some(TerminationReason::Cancelled) => ("cancelled", [].as_slice(), Some(failure)),
            _ => ("failed", [].as_slice(), Some(failure)),
        },
        Status::Interrupted => ("interrupted", [].as_slice(), None),
        Status::Running(questions) => ("running", questions, None),
    };
    let is_success =
        matches!(status, Status::Finished) && reason == Some(TerminationReason::Success);
    let usage = run.map(Run::usage).unwrap_or_default();
    json!({
        "run_id": run.map(Run::id),
        "status": name,
        "success": is_success,
        "termination_reason": reason.map(TerminationReason::as_str),
        "inputs": run.map(|run| run.started().inputs.clone()).unwrap_or_default(),
        "outputs": run.and_then(Run::outputs).cloned().unwrap_or_default(),
        "trajectory": run.map(Run::trajectory).unwrap_or_default(),
        "trace": run.map(Run::trace),
        "history": run.map(Run::history).unwrap_or_default(),
        "usage": {
            "requests": usage.requests,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_input_tokens": usage.cached_input_tokens,
        },
        "execution_time": run.map_or(0.0, |run| run.execution_time().as_secs_f64()),
        "pending": questions.iter().map(pending).collect::<Vec<_>>(),
        "error": failure.map(|failure| json!({
            "kind": failure.kind,
            "message": failure.message,
        })),
    })
}

fn pending(question: &Question) -> Value {
    json!({
        "confirmation_id": question.confirmation_id,
        "kind": question.kind.as_str(),
        "question": question.question,
        "tool_call": {
            "name": question.tool_call.name,
            "args": question.tool_call.args,
            "call_id": question.tool_call.id,
        },
        "changes": question.changes,
        "expires_at": question.expires_at.map(|at| at.to_string()),
    })
}

/// Prints the object: on several lines for a person, on one for a program.
pub(crate) fn print(object: &Value) {
    let mut stdout = std::io::stdout().lock();
    let text = if stdout.is_terminal() {
        serde_json::to_string_pretty(object).unwrap_or_else(|_| object.to_string())
    } else {
        object.to_string()
    };
    // A closed pipe is not an error.
    let _ = writeln!(stdout, "{}", exact::escaped_json(&text));
}

/// Reports a failure, to the program that requested JSON and to a person.
pub(crate) fn fail(run: Option<&Run>, failure: &Failure, is_json: bool) -> Exit {
    if is_json {
        print(&object(run, Status::Failed(failure)));
    }
    failure.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_never_began_has_every_key() {
        let failure = Failure::usage("no_model", "no model");
        let object = object(None, Status::Failed(&failure));
        assert_eq!(
            object,
            json!({
                "run_id": null,
                "status": "failed",
                "success": false,
                "termination_reason": null,
                "inputs": {},
                "outputs": {},
                "trajectory": [],
                "trace": null,
                "history": [],
                "usage": {
                    "requests": 0,
                    "input_tokens": 0,
                    "output_tokens": 0,
                    "cached_input_tokens": 0,
                },
                "execution_time": 0.0,
                "pending": [],
                "error": {"kind": "no_model", "message": "no model"},
            })
        );
    }
}
