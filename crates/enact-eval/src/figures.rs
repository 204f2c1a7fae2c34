//! Counts from a run. A function of its log.

use std::time::Duration;

use enact_core::Run;
use enact_core::model::Usage;
use enact_core::run::{Record, Step, StepOutcome};
use serde::{Deserialize, Serialize};

use crate::coherence;
use crate::statistics::Share;

/// The counts of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Number of steps.
    pub steps: u64,
    /// Maximum number of steps.
    pub max_iterations: u64,
    /// Of the steps with actions, those whose thought connects to a call.
    pub connected: Share,
    /// Of the completed steps, those that are complete.
    pub complete: Share,
    /// Tool calls that failed.
    pub tool_errors: u64,
    /// Seconds of work: replies and tools, without the time when no process worked on the run.
    pub seconds: f64,
    /// Tokens and requests.
    pub usage: Usage,
}

impl Figures {
    /// Counts the contents of a log.
    pub fn of(run: &Run) -> Self {
        let steps = run.steps();
        let mut figures = Self {
            steps: steps.len() as u64,
            max_iterations: u64::from(run.started().limits.max_iterations),
            seconds: work(run.records()).as_secs_f64(),
            usage: run.usage(),
            ..Self::default()
        };
        for step in steps {
            if let Some(connects) = connects(run, step) {
                figures.connected.add(connects);
            }
            if let Some(is_complete) = is_complete(run, step) {
                figures.complete.add(is_complete);
            }
            figures.tool_errors += errors(step);
        }
        figures
    }

    /// The used share of the allowed steps.
    pub fn effort(&self) -> Option<f64> {
        let share = Share {
            hits: self.steps,
            of: self.max_iterations,
        };
        share.value()
    }
}

/// Whether the thought connects to a call. None for a step that completes the run: its action is the
/// answer. A step without actions doesn't connect.
fn connects(run: &Run, step: &Step) -> Option<bool> {
    match step.outcome() {
        StepOutcome::Act => {
            let calls: Vec<_> = step.calls.iter().map(|one| &*one.call).collect();
            let tools = &run.started().agent.tools;
            Some(coherence::connects(coherence::thought(step), &calls, tools))
        }
        StepOutcome::Nudge(_) => Some(false),
        _ => None,
    }
}

/// Whether nothing is missing. None for an incomplete step.
fn is_complete(run: &Run, step: &Step) -> Option<bool> {
    if step.is_open() && step.number == run.steps().len() && run.termination().is_none() {
        return None;
    }
    let reply = &step.replied.reply;
    let has_reply =
        !coherence::thought(step).is_empty() || !reply.text.is_empty() || !step.calls.is_empty();
    let named = |name: &str| !name.is_empty();
    let has_action = match step.outcome() {
        StepOutcome::Act => {
            let mut calls = step.calls.iter().map(|call| &call.call);
            !step.calls.is_empty() && calls.all(|call| named(&call.id) && named(&call.name))
        }
        StepOutcome::Submit | StepOutcome::Answer(_) => {
            step.outputs().is_some_and(|outputs| !outputs.is_empty())
        }
        _ => true,
    };
    let has_usage = reply.usage.input_tokens + reply.usage.output_tokens > 0;
    let has_duration = !step.replied.duration.is_zero();
    Some(
        has_reply
            && has_action
            && !step.is_open()
            && is_ordered(run, step)
            && has_usage
            && has_duration,
    )
}

/// Whether the records of a step are in chronological order.
fn is_ordered(run: &Run, step: &Step) -> bool {
    let of_step = run.records_of(step);
    let at = |index: usize| run.records()[index].at;
    of_step
        .into_iter()
        .all(|index| index == 0 || at(index - 1) <= at(index))
}

/// The number of failed calls in a step. Completing calls are not tools.
fn errors(step: &Step) -> u64 {
    if *step.outcome() != StepOutcome::Act {
        return 0;
    }
    let failed = step.calls.iter().filter(|call| {
        let is_tool = !matches!(call.call.name.as_str(), "submit" | "finish");
        is_tool && call.is_error()
    });
    failed.count() as u64
}

/// The time spent on a run. Each reply and each result counts with its own duration, or with the time
/// since the record before it if that is shorter: concurrent calls count once, and the time between two
/// processes doesn't count.
fn work(records: &[Record]) -> Duration {
    let mut total = Duration::ZERO;
    for pair in records.windows(2) {
        let [before, record] = pair else { continue };
        let Some(took) = record.event.took() else {
            continue;
        };
        total += took.min(record.at.since(before.at));
    }
    total
}
