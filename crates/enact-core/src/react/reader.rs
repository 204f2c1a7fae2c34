//! The tool that shows what a prompt left out of an observation. Its results are read from the log.

use serde_json::json;

use super::state::RunState;
use crate::run::{Call, Observation};

/// The number of characters to show at once by default.
const PAGE: usize = 4_000;

impl RunState {
    /// How to read the rest of an observation, if the agent has the tool for it.
    pub(super) fn reading_hint(&self, call_id: &str) -> Option<String> {
        let mut specs = self.program.tool_specs();
        let reader = specs.find(|spec| spec.reads_record)?;
        Some(format!(
            " ({} with call_id \"{call_id}\" shows them)",
            reader.name
        ))
    }

    /// The result of a call of the reading tool.
    pub(super) fn read_record(&self, call: &Call) -> Observation {
        let wanted = call.args.get("call_id").and_then(|id| id.as_str());
        let wanted = wanted.unwrap_or_default();
        let number = |name: &str| call.args.get(name).and_then(|value| value.as_u64());
        let calls = self.run.steps().iter().rev().flat_map(|step| &step.calls);
        let mut known = calls.filter(|known| known.call.id == wanted);
        let found = known.find_map(|known| known.done.as_ref());
        let Some(done) = found else {
            return Observation::error(format!("no call of this run has the id `{wanted}`"));
        };
        let text = done.observation.text();
        let total = text.chars().count();
        let from = number("from").map_or(0, |from| from as usize).min(total);
        let limit = self.started().limits.max_observation_tokens as usize * 3;
        let page = if limit == 0 { PAGE } else { PAGE.min(limit) };
        let length = number("length").map_or(page, |length| (length as usize).min(page));
        let shown: String = text.chars().skip(from).take(length).collect();
        let to = from + shown.chars().count();
        Observation::value(json!({"from": from, "to": to, "of": total, "text": shown}))
    }
}
