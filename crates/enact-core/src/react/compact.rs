//! Compaction of prompts that no longer fit: which part of the transcript to summarise, and what
//! the summarising and extracting predictors see. The log keeps everything.

use serde_json::Value;

use super::state::RunState;
use super::text;
use crate::model::{Image, Part};
use crate::run::{Entry, visible, visible_positions};
use crate::signature::Values;

/// How often a run can try to shorten its transcript for one prompt.
const MAX_ATTEMPTS: u32 = 3;

/// How often the prompt has not fit since it last did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Overflow {
    attempts: u32,
}

impl Overflow {
    pub(super) fn count(&mut self) {
        self.attempts += 1;
    }

    pub(super) fn attempts(self) -> u32 {
        self.attempts.min(MAX_ATTEMPTS)
    }

    pub(super) fn reset(&mut self) {
        self.attempts = 0;
    }

    /// How many of the latest steps are kept: fewer with each attempt.
    fn kept_steps(self) -> usize {
        MAX_ATTEMPTS.saturating_sub(self.attempts) as usize
    }

    /// How much of each text the summarising predictor sees: less with each attempt.
    fn clip(self) -> usize {
        match self.attempts {
            0 | 1 => 4000,
            2 => 1000,
            _ => 250,
        }
    }
}

/// The number of entries to summarise, or `None` if there is nothing left to shorten.
pub(super) fn plan(state: &RunState, overflow: Overflow) -> Option<usize> {
    if overflow.attempts > MAX_ATTEMPTS {
        return None;
    }
    let entries = state.run().transcript();
    let steps: Vec<usize> = entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| matches!(entry, Entry::Assistant { .. }))
        .map(|(index, _)| index)
        .collect();
    // Keep as many steps as this attempt allows, but always find something to shorten.
    (0..=overflow.kept_steps()).rev().find_map(|kept| {
        let covers = match kept {
            0 => entries.len(),
            kept => *steps.get(steps.len().checked_sub(kept)?)?,
        };
        // An earlier summary may cover more than this.
        let added = entries.get(covered_before(&entries)..covers)?;
        let shortened = added
            .iter()
            .any(|entry| !matches!(entry, Entry::Inputs { .. } | Entry::Summary { .. }));
        shortened.then_some(covers)
    })
}

/// The number of entries that an earlier summary covers.
fn covered_before(entries: &[Entry]) -> usize {
    let summaries = entries.iter().rev().filter_map(|entry| match entry {
        Entry::Summary { covers, .. } => Some(*covers),
        _ => None,
    });
    summaries.take(1).sum()
}

/// What the summarising predictor sees.
pub(super) fn summary_request(state: &RunState, covers: usize, overflow: Overflow) -> Vec<Entry> {
    let entries = state.run().transcript();
    let covered = &entries[..covers.min(entries.len())];
    let task = text::of_task(state);
    let transcript = text::of_entries(visible(covered), overflow.clip());
    let values = Values::from_iter([
        ("task".to_owned(), Value::String(task)),
        ("transcript".to_owned(), Value::String(transcript)),
    ]);
    vec![Entry::Inputs { values }]
}

/// What the answering predictor sees: the earlier conversation, the inputs, and, after steps, the
/// trajectory with its images.
///
/// Each text of the trajectory has at most `clip` characters.
pub(super) fn extract_entries(state: &RunState, clip: usize) -> Vec<Entry> {
    let entries = state.run().transcript();
    let own = state.started().history.entries().len();
    let mut before = Vec::new();
    let mut steps = Vec::new();
    for position in visible_positions(&entries) {
        let (entry, is_own) = (&entries[position], position >= own);
        match entry {
            Entry::Inputs { .. } if is_own => {}
            _ if is_own => steps.push(entry),
            _ => before.push(entry.clone()),
        }
    }
    let mut values = state.started().inputs.clone();
    if state.program.step.is_none() {
        before.push(Entry::Inputs { values });
        return before;
    }
    let images: Vec<Image> = steps
        .iter()
        .filter_map(|entry| match entry {
            Entry::Results { results } => Some(results),
            _ => None,
        })
        .flatten()
        .flat_map(|result| result.observation.images.iter().cloned())
        .collect();
    let shown: Vec<_> = steps.into_iter().map(|entry| state.shown(entry)).collect();
    let trajectory = text::of_entries(shown.iter().map(AsRef::as_ref), clip);
    values.insert("trajectory".to_owned(), Value::String(trajectory));
    before.push(Entry::Inputs { values });
    if !images.is_empty() {
        let mut parts = vec![Part::Text(
            "The pictures in the trajectory, in order:".to_owned(),
        )];
        parts.extend(images.into_iter().map(Part::Image));
        before.push(Entry::User { parts });
    }
    before
}
