//! The tool that keeps notes for a run. What it keeps are its calls, which stand in the log.

use serde_json::{Value, json};

use super::state::RunState;
use crate::run::{Call, Observation};

/// What a call that keeps something is told.
const KEPT: &str = "kept";

impl RunState {
    /// What the tool that keeps notes gives for a call: all of them, unless it brings one.
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
