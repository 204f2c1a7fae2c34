//! By which rules a run thinks and ends, beyond its limits.

use serde::{Deserialize, Serialize};

use super::event::TerminationReason;

/// By which rules a run thinks and ends, beyond its [`Limits`](super::Limits).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Rules {
    /// Words in a thought that say that the task is done. Case does not matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub success_phrases: Vec<String>,
    /// Words in a thought that say that the task cannot be done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failure_phrases: Vec<String>,
    /// Whether a call of a read-only tool runs again although its answer is known and nothing
    /// changed since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reads_again: bool,
}

impl Rules {
    /// What a thought says about the end, if it does. A failure that is spoken of as a success is
    /// still a failure.
    pub(crate) fn ending(&self, thought: &str) -> Option<TerminationReason> {
        let thought = thought.to_lowercase();
        let says = |phrases: &[String]| {
            let mut phrases = phrases.iter().map(|phrase| phrase.trim().to_lowercase());
            phrases.any(|phrase| !phrase.is_empty() && thought.contains(&phrase))
        };
        if says(&self.failure_phrases) {
            Some(TerminationReason::Failure)
        } else if says(&self.success_phrases) {
            Some(TerminationReason::Success)
        } else {
            None
        }
    }

    /// Whether there is nothing to be said beyond the defaults.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
