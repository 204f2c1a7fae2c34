//! The prompt of the steps: its view of the transcript.

use std::borrow::Cow;

use super::shorten;
use super::state::RunState;
use crate::run::{Entry, PredictorName, ThoughtsInContext};

impl RunState {
    /// Appends entries to the prompt of the steps.
    pub(super) fn extend_step_prompt(&mut self, entries: &[Entry]) {
        if let ThoughtsInContext::Last(_) = self.started().rules.thoughts_in_context {
            self.prompt_is_stale = true;
            return;
        }
        let shown: Vec<_> = entries.iter().map(|entry| self.shown(entry)).collect();
        if let Some(step) = &self.program.step {
            let entries = shown.iter().map(AsRef::as_ref);
            let mut prompt = std::mem::take(&mut self.step_prompt);
            step.render_onto(
                self.wording.adapter(PredictorName::Step),
                entries,
                &mut prompt,
            );
            self.step_prompt = prompt;
        }
    }

    /// Rebuilds the prompt of the steps if older thoughts have to be removed.
    pub(super) fn refresh_step_prompt(&mut self) {
        if std::mem::take(&mut self.prompt_is_stale) {
            self.rebuild_step_prompt();
        }
    }

    /// Rebuilds the prompt of the steps.
    pub(super) fn rebuild_step_prompt(&mut self) {
        if let Some(step) = &self.program.step {
            let entries = self.run.transcript();
            let mut shown: Vec<_> = crate::run::visible(&entries)
                .into_iter()
                .map(|entry| self.shown(entry))
                .collect();
            if let ThoughtsInContext::Last(kept) = self.started().rules.thoughts_in_context {
                let steps = shown.iter_mut().rev().filter(|entry| has_calls(entry));
                for entry in steps.skip(kept as usize) {
                    *entry = Cow::Owned(without_thought(entry));
                }
            }
            let entries = shown.iter().map(AsRef::as_ref);
            self.step_prompt = step.render(self.wording.adapter(PredictorName::Step), entries);
        }
    }

    /// An entry as prompts show it.
    pub(super) fn shown<'a>(&self, entry: &'a Entry) -> Cow<'a, Entry> {
        let tokens = self.started().limits.max_observation_tokens;
        let thoughts = self.started().rules.thoughts_in_context;
        if thoughts == ThoughtsInContext::None && has_calls(entry) {
            return Cow::Owned(without_thought(entry));
        }
        shorten::entry(entry, tokens, |call_id| self.reading_hint(call_id))
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
