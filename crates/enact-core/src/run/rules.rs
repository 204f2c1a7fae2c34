//! By which rules a run thinks and ends, beyond its limits.

use serde::{Deserialize, Serialize};

use super::event::TerminationReason;
use crate::lean::is_default;

/// By which rules a run thinks and ends, beyond its [`Limits`](super::Limits).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Rules {
    /// Words in a thought that say that the task is done. Case does not matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub success_phrases: Vec<String>,
    /// Words in a thought that say that the task cannot be done. Outputs that come with such words
    /// are kept, and the run ends with the reason `failure`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failure_phrases: Vec<String>,
    /// Whether a model says after each step that called tools if the task is done or cannot be
    /// done. One more request per step, by the predictor `judge`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub judges: bool,
    /// Whether a model summarises observations that are too large for a prompt, instead of head
    /// and tail being shown. One more request for each of them, by the predictor `condense`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub condenses: bool,
    /// Whether a call of a read-only tool runs again although its answer is known and nothing
    /// changed since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reads_again: bool,
    /// What a thought before a call has to be.
    #[serde(skip_serializing_if = "is_default")]
    pub thoughts: ThoughtRules,
    /// Which thoughts later prompts show.
    #[serde(skip_serializing_if = "is_default")]
    pub thoughts_in_context: ThoughtsInContext,
}

/// What a thought before a call has to be. A thought that is not gets the call refused, and the
/// model is asked again with the reason, as often in a row as it may be misread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThoughtRules {
    /// There. The adapters that write calls as text ask for one anyway; this holds models that call
    /// tools natively to it, and asks them for it in the instructions.
    pub required: bool,
    /// At least so many characters long.
    pub min_length: usize,
    /// About the task, not just "I will use the tool".
    pub substantive: bool,
    /// Another than the last one.
    pub new: bool,
}

/// Which thoughts later prompts show. The log keeps all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThoughtsInContext {
    /// All of them.
    #[default]
    All,
    /// Those of the last steps. Prompts no longer only grow at their end.
    Last(u32),
    /// None: only calls and observations.
    None,
}

impl Rules {
    /// What a thought says about the end, if it does. A failure that is spoken of as a success is
    /// still a failure.
    pub(crate) fn ending(&self, thought: &str) -> Option<TerminationReason> {
        if self.failure_phrases.is_empty() && self.success_phrases.is_empty() {
            return None;
        }
        if says(thought, &self.failure_phrases) {
            Some(TerminationReason::Failure)
        } else if says(thought, &self.success_phrases) {
            Some(TerminationReason::Success)
        } else {
            None
        }
    }

    /// Whether one of these texts says that the task cannot be done.
    pub(crate) fn admits_failure<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> bool {
        let phrases = &self.failure_phrases;
        !phrases.is_empty() && texts.into_iter().any(|text| says(text, phrases))
    }
}

fn says(text: &str, phrases: &[String]) -> bool {
    let text = text.to_lowercase();
    let mut phrases = phrases.iter().map(|phrase| phrase.trim().to_lowercase());
    phrases.any(|phrase| !phrase.is_empty() && text.contains(&phrase))
}
