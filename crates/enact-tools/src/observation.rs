//! The parts of a large observation that a prompt left out.

use serde_json::json;

use enact_core::tool::{Effect, FnTool, ToolError, ToolSpec};

/// Lets the agent read more of an observation that was too large for the prompt. enact answers its
/// calls from the log of the run.
pub fn read_observation() -> FnTool {
    let parameters = json!({
        "type": "object",
        "properties": {
            "call_id": {"type": "string", "description": "The call whose observation was cut."},
            "from": {"type": "integer", "minimum": 0, "description": "The first character to show; 0 unless given."},
            "length": {"type": "integer", "minimum": 1, "description": "How many characters to show."},
        },
        "required": ["call_id"],
    });
    let spec = ToolSpec::new(
        "read_observation",
        "Shows a part of an earlier observation that was too long to be shown whole.",
        parameters,
    )
    .with_source("built-in")
    .with_effect(Effect::ReadOnly)
    .reads_record();
    FnTool::from_spec(spec, |_, _| async {
        Err::<(), _>(ToolError::new("there is no run to read from"))
    })
}
