//! Limits of a run.

use std::time::Duration;

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Limits of a run. Reaching a limit is not a failure: the agent answers from what it knows, and the
/// prediction includes the reason.
///
/// ```
/// use std::time::Duration;
///
/// use enact::ReAct;
///
/// let agent = ReAct::builder("question -> answer")
///     .limits(|limits| {
///         limits.max_iterations = 20;
///         limits.token_budget = Some(50_000);
///         limits.time_budget = Some(Duration::from_secs(120));
///     })
///     .build()?;
/// # Ok::<_, enact::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Limits {
    /// Steps before the agent has to answer from what it knows. Called `max_iters` in DSPy, `max_steps` in
    /// dspy.ex.
    #[serde(skip_serializing_if = "is_usual::<MAX_ITERATIONS>")]
    pub max_iterations: u32,
    /// Consecutive replies that can be unparsable or call nothing that exists.
    #[serde(skip_serializing_if = "is_usual::<MAX_REPAIRS>")]
    pub max_repairs: u32,
    /// Steps without progress before the model is warned; one more ends the loop. 0 disables
    /// this.
    #[serde(skip_serializing_if = "is_usual::<STALL_THRESHOLD>")]
    pub stall_threshold: u32,
    /// Tokens of one observation in a prompt; the log keeps all of it. 0 shows all.
    #[serde(skip_serializing_if = "is_usual::<MAX_OBSERVATION_TOKENS>")]
    pub max_observation_tokens: u32,
    /// Maximum number of tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u32>,
    /// Input and output tokens, including those of the final answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u64>,
    /// Maximum cost of the run, in the currency of the prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_budget: Option<f64>,
    /// Time for models and tools, including the final answer. Waiting for people doesn't
    /// count.
    #[serde(
        rename = "time_budget_ns",
        with = "crate::tool::nanos::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub time_budget: Option<Duration>,
    /// How long a question waits for an answer before it is rejected. Default: no limit.
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
        // A time beyond the maximum means never.
        asked.checked_add(self.answer_within?)
    }
}

/// Logs leave these out: changing them changes the meaning of logs, and requires a new version of the format.
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
