//! Notes for one run.

use serde_json::json;

use enact_core::tool::{Effect, FnTool, ToolError, ToolSpec};

/// Lets the agent keep notes during its run: `note` with a text stores it, and without one returns all
/// notes. They survive a summary of the conversation and a pause. enact answers from the log of the
/// run, which contains the calls; nothing is stored elsewhere.
pub fn note() -> FnTool {
    let parameters = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to keep; without it, all notes are shown."},
        },
    });
    let spec = ToolSpec::new(
        "note",
        "Keeps a text for later in this task, or shows all that were kept. Use it for what must not \
         be forgotten in a long task.",
        parameters,
    )
    .with_source("built-in")
    .with_effect(Effect::ReadOnly)
    .volatile()
    .keeps_notes();
    FnTool::from_spec(spec, |args, _| async move {
        match args.get("text").and_then(|text| text.as_str()) {
            // Its arguments are in the log now.
            Some(_) => Ok("kept"),
            None => Err(ToolError::new("there is no run to read from")),
        }
    })
}
