//! Rules for how a run thinks and ends, besides its limits.

use serde::{Deserialize, Serialize};

use super::event::TerminationReason;
use crate::lean::is_default;

/// Rules for how a run thinks and ends, besides its [`Limits`](super::Limits).
///
/// ```
/// use enact::ReAct;
/// use enact::run::ThoughtsInContext;
///
/// let agent = ReAct::builder("question -> answer")
///     .rules(|rules| {
///         rules.failure_phrases = vec!["I give up".into()];
///         rules.thoughts.required = true;
///         rules.thoughts_in_context = ThoughtsInContext::Last(3);
///     })
///     .build()?;
/// # Ok::<_, enact::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Rules {
    /// Phrases in a thought that mean the task is done. Case doesn't matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub success_phrases: Vec<String>,
    /// Phrases in a thought that mean the task can't be done. Outputs with such a phrase are kept, and
    /// the run ends with the reason `failure`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failure_phrases: Vec<String>,
    /// Whether a model judges after each step that called tools if the task is done or impossible. Costs
    /// one more request per step, by the predictor `judge`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub judges: bool,
    /// Whether a model summarises observations that are too large for a prompt, instead of showing their
    /// beginning and end. Costs one more request for each, by the predictor `condense`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub condenses: bool,
    /// Whether a call of a read-only tool runs again even if its result is known and nothing has changed
    /// since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reads_again: bool,
    /// Requirements for the thought before a call.
    #[serde(skip_serializing_if = "is_default")]
    pub thoughts: ThoughtRules,
    /// The thoughts in later prompts.
    #[serde(skip_serializing_if = "is_default")]
    pub thoughts_in_context: ThoughtsInContext,
}

/// Requirements for the thought before a call. If they aren't met, the call is rejected and the model
/// is asked again with the reason, up to `max_repairs` times in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThoughtRules {
    /// Require a thought. Adapters that write calls as text ask for one anyway; this also requires it from
    /// models that call tools natively, and adds it to their instructions.
    pub required: bool,
    /// Minimum length in characters.
    pub min_length: usize,
    /// Require a thought about the task, not just "I will use the tool".
    pub substantive: bool,
    /// Reject a repeated thought.
    pub new: bool,
}

/// The thoughts in later prompts. The log keeps all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThoughtsInContext {
    /// All thoughts.
    #[default]
    All,
    /// The thoughts of the last steps. Prompts are then no longer append-only.
    Last(u32),
    /// No thoughts: only calls and observations.
    None,
}

impl Rules {
    /// The ending that a thought announces, if any. A failure phrase counts even beside a success
    /// phrase.
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

    /// Whether one of these texts contains a failure phrase.
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
