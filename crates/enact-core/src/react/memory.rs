//! The tool for the notes of a run. The notes are its calls, which are stored in the log.

use serde_json::{Value, json};

use super::state::RunState;
use crate::run::{Call, Observation};

/// The result of a call that stores a note.
const KEPT: &str = "kept";

impl RunState {
    /// The result of a call: all notes, unless it stores one.
    pub(super) fn remember(&self, call: &Call) -> Observation {
        if text(&call.args).is_some() {
            return Observation::value(KEPT);
        }
        let trajectory = self.run.trajectory();
        let kept = trajectory.steps().iter().filter(|step| {
            let spec = self.program.tool(&step.tool_name);
            spec.is_some_and(|(spec, _)| spec.keeps_notes) && step.observation == KEPT
        });
        let notes: Vec<&str> = kept.filter_map(|step| text(&step.tool_args)).collect();
        Observation::value(json!({ "notes": notes }))
    }
}

fn text(args: &crate::signature::Values) -> Option<&str> {
    let text = args.get("text").and_then(Value::as_str)?;
    (!text.trim().is_empty()).then_some(text)
}
