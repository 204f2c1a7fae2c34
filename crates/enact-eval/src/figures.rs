//! What is counted of one run. A function of its log alone.

use std::collections::HashMap;
use std::time::Duration;

use enact_core::Run;
use enact_core::model::Usage;
use enact_core::run::{Event, Observation, Record, StepOutcome, Stepped};
use serde::{Deserialize, Serialize};

use crate::coherence;
use crate::statistics::Share;

/// The counts of one run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Steps taken.
    pub steps: u64,
    /// Steps allowed.
    pub max_iterations: u64,
    /// Of the steps that act, those whose thought connects to a call.
    pub connected: Share,
    /// Of the steps that are over, those with all they should have.
    pub complete: Share,
    /// Calls of tools that were answered with an error.
    pub tool_errors: u64,
    /// Seconds of work: replies and tools, without the time in which nobody worked on the run.
    pub seconds: f64,
    /// Tokens and requests.
    pub usage: Usage,
}

impl Figures {
    /// Counts what a log shows.
    pub fn of(run: &Run) -> Self {
        let steps = steps(run);
        let mut figures = Self {
            steps: steps.len() as u64,
            max_iterations: u64::from(run.started().limits.max_iterations),
            seconds: work(run.records()).as_secs_f64(),
            usage: run.usage(),
            ..Self::default()
        };
        for step in &steps {
            if let Some(connects) = step.connects(run) {
                figures.connected.add(connects);
            }
            if let Some(is_complete) = step.is_complete(run) {
                figures.complete.add(is_complete);
            }
            figures.tool_errors += step.errors();
        }
        figures
    }

    /// The part of the allowed steps that was taken.
    pub fn effort(&self) -> Option<f64> {
        let share = Share {
            hits: self.steps,
            of: self.max_iterations,
        };
        share.value()
    }
}

/// A step with what came of it.
struct Step<'a> {
    stepped: &'a Stepped,
    /// What its calls gave, by id.
    observations: HashMap<&'a str, &'a Observation>,
    /// Whether its records are in the order of time.
    is_ordered: bool,
    is_last: bool,
}

fn steps(run: &Run) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut before = run.records().first().map(|record| record.at);
    for record in run.records() {
        let is_ordered = before.is_none_or(|before| before <= record.at);
        before = Some(record.at);
        if let Event::Stepped(stepped) = &record.event {
            steps.push(Step {
                stepped,
                observations: HashMap::new(),
                is_ordered: true,
                is_last: false,
            });
        }
        if let Some(step) = steps.last_mut() {
            step.is_ordered &= is_ordered;
            if let Event::ToolFinished {
                call_id,
                observation,
                ..
            } = &record.event
            {
                step.observations.insert(call_id, observation);
            }
        }
    }
    if let Some(last) = steps.last_mut() {
        last.is_last = true;
    }
    steps
}

impl Step<'_> {
    /// Whether the thought connects to a call. None for a step that completes the run: its action
    /// is the answer. A step that did nothing does not connect.
    fn connects(&self, run: &Run) -> Option<bool> {
        let thought = coherence::thought(self.stepped);
        let calls: Vec<_> = self.stepped.calls.iter().map(|one| &one.call).collect();
        match self.stepped.outcome {
            StepOutcome::Act => {
                let tools = &run.started().agent.tools;
                Some(coherence::connects(thought, &calls, tools))
            }
            StepOutcome::Nudge(_) => Some(false),
            StepOutcome::Commit(_) | StepOutcome::Extract => None,
        }
    }

    /// Whether nothing is missing. None for a step that is not over.
    fn is_complete(&self, run: &Run) -> Option<bool> {
        let has_results = self.stepped.calls.iter().all(|planned| {
            planned.refusal.is_some() || self.observations.contains_key(planned.call.id.as_str())
        });
        let acts = self.stepped.outcome == StepOutcome::Act;
        if acts && !has_results && self.is_last && run.termination().is_none() {
            return None;
        }
        let reply = &self.stepped.reply;
        let has_reply = !coherence::thought(self.stepped).is_empty()
            || !reply.text.is_empty()
            || !self.stepped.calls.is_empty();
        let named = |name: &str| !name.is_empty();
        let has_action = match &self.stepped.outcome {
            StepOutcome::Act => {
                let mut calls = self.stepped.calls.iter().map(|planned| &planned.call);
                !self.stepped.calls.is_empty()
                    && calls.all(|call| named(&call.id) && named(&call.name))
            }
            StepOutcome::Commit(outputs) => !outputs.is_empty(),
            StepOutcome::Extract | StepOutcome::Nudge(_) => true,
        };
        let has_observation = !acts || has_results;
        let has_usage = reply.usage.input_tokens + reply.usage.output_tokens > 0;
        let has_duration = !self.stepped.duration.is_zero();
        Some(
            has_reply
                && has_action
                && has_observation
                && self.is_ordered
                && has_usage
                && has_duration,
        )
    }

    /// How many of its calls were answered with an error. Those that complete the run are no
    /// tools.
    fn errors(&self) -> u64 {
        if self.stepped.outcome != StepOutcome::Act {
            return 0;
        }
        let failed = self.stepped.calls.iter().filter(|planned| {
            let call = &planned.call;
            let is_tool = !matches!(call.name.as_str(), "submit" | "finish");
            let observation = self.observations.get(call.id.as_str());
            is_tool && (planned.refusal.is_some() || observation.is_some_and(|one| one.is_error))
        });
        failed.count() as u64
    }
}

/// How long a run was worked on. Each reply and each result counts with its own duration, or with
/// the time since the record before it where that is shorter: calls side by side count once, and
/// the time between two processes does not count.
fn work(records: &[Record]) -> Duration {
    let mut total = Duration::ZERO;
    for pair in records.windows(2) {
        let [before, record] = pair else { continue };
        let took = match &record.event {
            Event::Stepped(stepped) => stepped.duration,
            Event::Misread { duration, .. }
            | Event::Summarised { duration, .. }
            | Event::Extracted { duration, .. }
            | Event::ToolFinished { duration, .. } => *duration,
            _ => continue,
        };
        let passed = Duration::try_from(record.at.duration_since(before.at));
        total += took.min(passed.unwrap_or_default());
    }
    total
}
