//! Previews the change that a call makes to a file, for the person who decides on it.

use enact::run::QuestionKind;
use enact::tool::builtin::{FileChange, Files};
use enact::{Question, Run};

use crate::agent::Agent;
use crate::secrets;

/// The change that a call would make, or why it would fail. `None` if it is not a call of a built-in
/// tool that writes files.
pub(crate) async fn change(run: &Run, question: &Question) -> Option<Result<FileChange, String>> {
    let (run, question) = (run.clone(), question.clone());
    let looking = tokio::task::spawn_blocking(move || change_now(&run, &question));
    looking.await.ok()?
}

/// The same, read in this thread.
pub(crate) fn change_now(run: &Run, question: &Question) -> Option<Result<FileChange, String>> {
    let call = &question.tool_call;
    let tools = run.tools();
    let tool = tools.iter().find(|tool| tool.name == call.name)?;
    if question.kind != QuestionKind::Confirm || tool.source.as_deref() != Some("built-in") {
        return None;
    }
    let folder = Agent::of_run(run.started()).ok()?.own.files?;
    let looked = || {
        let files = Files::open(folder).map_err(|error| error.to_string())?;
        let change = files.change(&call.name, &call.args);
        change.map_err(|error| error.to_string())
    };
    match looked() {
        Ok(change) => change.map(|mut change| {
            change.before = change.before.map(|text| secrets::redact(&text));
            change.after = secrets::redact(&change.after);
            Ok(change)
        }),
        Err(problem) => Some(Err(problem)),
    }
}
