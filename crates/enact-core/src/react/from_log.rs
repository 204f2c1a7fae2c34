//! Tools whose answers are read from the log: the one that shows what a prompt left out of an
//! observation, and the one that keeps notes, which are its calls.

use serde_json::{Value, json};

use super::program::Program;
use crate::run::{Call, Observation, Run};

/// Characters that are shown at once unless fewer are asked for.
const PAGE: usize = 4_000;
/// The result of a call that keeps a note.
const KEPT: &str = "kept";

/// How the rest of an observation can be read, if the agent has the tool for it.
pub(super) fn hint(program: &Program, call_id: &str) -> Option<String> {
    let reader = program.tool_specs().find(|spec| spec.reads_record)?;
    Some(format!(
        " ({} with call_id \"{call_id}\" shows them)",
        reader.name
    ))
}

/// A part of what an earlier call gave: at most as much as a prompt shows of an observation.
pub(super) fn page(run: &Run, most_tokens: u32, call: &Call) -> Observation {
    let wanted = call.args.get("call_id").and_then(Value::as_str);
    let wanted = wanted.unwrap_or_default();
    let number = |name: &str| call.args.get(name).and_then(Value::as_u64);
    let calls = run.steps().iter().rev().flat_map(|step| &step.calls);
    let mut known = calls.filter(|known| known.call.id == wanted);
    let Some(done) = known.find_map(|known| known.done.as_ref()) else {
        return Observation::error(format!("no call of this run has the id `{wanted}`"));
    };
    let text = done.observation.text();
    let total = text.chars().count();
    let from = number("from").map_or(0, |from| from as usize).min(total);
    let page = match most_tokens as usize * 3 {
        0 => PAGE,
        limit => PAGE.min(limit),
    };
    let length = number("length").map_or(page, |length| (length as usize).min(page));
    let shown: String = text.chars().skip(from).take(length).collect();
    let to = from + shown.chars().count();
    Observation::value(json!({"from": from, "to": to, "of": total, "text": shown}))
}

/// All notes of a run, unless the call brings one.
pub(super) fn notes(run: &Run, program: &Program, call: &Call) -> Observation {
    if note(&call.args).is_some() {
        return Observation::value(KEPT);
    }
    let trajectory = run.trajectory();
    let kept = trajectory.steps().iter().filter(|step| {
        let spec = program.tool(&step.tool_name);
        spec.is_some_and(|(spec, _)| spec.keeps_notes) && step.observation == KEPT
    });
    let notes: Vec<&str> = kept.filter_map(|step| note(&step.tool_args)).collect();
    Observation::value(json!({ "notes": notes }))
}

fn note(args: &crate::signature::Values) -> Option<&str> {
    let text = args.get("text").and_then(Value::as_str)?;
    (!text.trim().is_empty()).then_some(text)
}
