//! The prompt of the steps: its view of the transcript.

use std::borrow::Cow;

use super::state::{Phase, RunState};
use super::{from_log, shorten};
use crate::model::Prompt;
use crate::run::transcript::{self, Place};
use crate::run::{Entry, PredictorName, ThoughtsInContext, visible};

/// The prompt of the steps, as far as it was rendered.
#[derive(Debug, Default)]
pub(super) struct StepPrompt {
    pub(super) prompt: Prompt,
    /// Up to where it shows the transcript; `None` if it has to be made anew.
    shown: Option<Place>,
}

impl StepPrompt {
    /// It has to be made anew.
    pub(super) fn forget(&mut self) {
        self.shown = None;
    }
}

impl RunState {
    /// Renders what the run has added to its transcript since this was last done.
    pub(super) fn render_steps(&mut self) {
        let Some(step) = &self.program.step else {
            return;
        };
        // A step joins the transcript once it is over.
        let open = usize::from(matches!(self.phase, Phase::Act(_)));
        let steps = self.run.steps().len() - open;
        let place = Place::after(&self.run, steps);
        let known = self.steps.shown.replace(place);
        if known == Some(place) {
            return;
        }
        let adapter = self.wording.adapter(PredictorName::Step);
        let thoughts = self.started().rules.thoughts_in_context;
        match (known, thoughts) {
            (Some(known), ThoughtsInContext::All | ThoughtsInContext::None) => {
                let entries = transcript::between(&self.run, known, place);
                let shown: Vec<_> = entries.iter().map(|entry| self.shown(entry)).collect();
                let shown = shown.iter().map(AsRef::as_ref);
                step.render_onto(adapter, shown, &mut self.steps.prompt);
            }
            _ => {
                let entries = transcript::of(&self.run, steps);
                let shown = visible(&entries).into_iter();
                let mut shown: Vec<_> = shown.map(|entry| self.shown(entry)).collect();
                if let ThoughtsInContext::Last(kept) = thoughts {
                    let steps = shown.iter_mut().rev().filter(|entry| has_calls(entry));
                    for entry in steps.skip(kept as usize) {
                        *entry = Cow::Owned(without_thought(entry));
                    }
                }
                self.steps.prompt = step.render(adapter, shown.iter().map(AsRef::as_ref));
            }
        }
    }

    /// An entry as prompts show it.
    pub(super) fn shown<'a>(&self, entry: &'a Entry) -> Cow<'a, Entry> {
        let tokens = self.started().limits.max_observation_tokens;
        let thoughts = self.started().rules.thoughts_in_context;
        if thoughts == ThoughtsInContext::None && has_calls(entry) {
            return Cow::Owned(without_thought(entry));
        }
        shorten::entry(entry, tokens, |call_id| {
            from_log::hint(&self.program, call_id)
        })
    }
}

fn has_calls(entry: &Entry) -> bool {
    matches!(entry, Entry::Assistant { calls, .. } if !calls.is_empty())
}

fn without_thought(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    if let Entry::Assistant { text, .. } = &mut entry {
        text.clear();
    }
    entry
}
