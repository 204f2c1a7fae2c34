//! How far a run may go.

use std::time::Duration;

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// How far a run may go. Reaching a limit is no failure: the agent answers from what it has, and the
/// reason for ending is told beside the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Limits {
    /// Steps before the agent has to answer from what it has. DSPy calls it `max_iters`, dspy.ex
    /// `max_steps`.
    #[serde(skip_serializing_if = "is_usual::<MAX_ITERATIONS>")]
    pub max_iterations: u32,
    /// Replies in a row that may be unreadable or call nothing that exists.
    #[serde(skip_serializing_if = "is_usual::<MAX_REPAIRS>")]
    pub max_repairs: u32,
    /// Steps in a row without progress before the model is warned; one more ends the loop. 0 looks
    /// at nothing.
    #[serde(skip_serializing_if = "is_usual::<STALL_THRESHOLD>")]
    pub stall_threshold: u32,
    /// How much of one observation a prompt shows, in tokens; the log keeps all of it. 0 shows all.
    #[serde(skip_serializing_if = "is_usual::<MAX_OBSERVATION_TOKENS>")]
    pub max_observation_tokens: u32,
    /// Tool calls that may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u32>,
    /// Tokens that may be read and written, those of the final answer included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u64>,
    /// What the run may cost, in the currency of the prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_budget: Option<f64>,
    /// How long models and tools may work, those of the final answer included. Waiting for people
    /// does not count.
    #[serde(
        rename = "time_budget_ns",
        with = "crate::tool::nanos::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub time_budget: Option<Duration>,
    /// How long a question waits for an answer before it stands as rejected; for ever unless set.
    #[serde(
        rename = "answer_within_ns",
        with = "crate::tool::nanos::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub answer_within: Option<Duration>,
}

const MAX_ITERATIONS: u32 = 10;
const MAX_REPAIRS: u32 = 3;
const STALL_THRESHOLD: u32 = 3;
const MAX_OBSERVATION_TOKENS: u32 = 2000;

/// Whether logs leave a limit out.
fn is_usual<const USUAL: u32>(limit: &u32) -> bool {
    *limit == USUAL
}

impl Limits {
    /// When a question that is asked now expires.
    pub(crate) fn expiry(&self, asked: Timestamp) -> Option<Timestamp> {
        // Later than time itself is never.
        asked.checked_add(self.answer_within?)
    }
}

/// Logs leave these out: other ones would change what logs say, and are a new version of the format.
impl Default for Limits {
    fn default() -> Self {
        Self {
            max_iterations: MAX_ITERATIONS,
            max_repairs: MAX_REPAIRS,
            stall_threshold: STALL_THRESHOLD,
            max_observation_tokens: MAX_OBSERVATION_TOKENS,
            max_tool_calls: None,
            token_budget: None,
            cost_budget: None,
            time_budget: None,
            answer_within: None,
        }
    }
}
