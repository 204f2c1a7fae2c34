//! The options that limit a run.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use enact::run::Limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Time, TimeBudget};
use crate::agent::overlaid;
use crate::exit::Failure;

/// Limits of a run. Options that are left out keep their defaults.
#[derive(Debug, Default, Args, Serialize, Deserialize, JsonSchema)]
#[command(next_help_heading = "Limits")]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub(crate) struct LimitArgs {
    /// Steps before the agent has to answer [default: 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) max_iterations: Option<u32>,

    /// Consecutive unusable replies before the run gives up [default: 3].
    #[arg(long, value_name = "N")]
    pub(crate) max_repairs: Option<u32>,

    /// Tool calls [default: unlimited].
    #[arg(long, value_name = "N")]
    pub(crate) max_tool_calls: Option<u32>,

    /// Input and output tokens, including the final answer [default: unlimited].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) token_budget: Option<u64>,

    /// Cost of the run, in USD by the built-in prices, or by `--prices` [default: unlimited].
    #[arg(long, value_name = "X", value_parser = money)]
    #[schemars(
        description = "Cost of the run, in USD by the built-in prices, or by `prices` [default: unlimited].",
        extend("exclusiveMinimum" = 0)
    )]
    pub(crate) cost_budget: Option<f64>,

    /// JSON file with prices per million tokens, instead of the built-in prices:
    /// {"model": {"input": 2.5, "output": 10}}.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) prices: Option<PathBuf>,

    /// Time for models and tools before the agent has to answer, such as 90s or 5m; `none` for no limit
    /// [default: 30m].
    #[arg(long, value_name = "TIME")]
    #[schemars(
        description = "Time for models and tools before the agent has to answer, such as \"90s\" or \
                       \"5m\"; \"none\"\nfor no limit [default: \"30m\"]."
    )]
    #[serde(skip_serializing)]
    pub(crate) time_budget: Option<TimeBudget>,

    /// Steps without progress before a warning; one more ends the run; 0 disables this [default: 3].
    #[arg(long, value_name = "N")]
    pub(crate) stall_threshold: Option<u32>,

    /// Tokens of one observation in the prompt; 0 for all [default: 2000].
    #[arg(long, value_name = "N")]
    pub(crate) max_observation_tokens: Option<u32>,

    /// Time to answer a question, such as 30m or 2h; afterwards the call is rejected [default: unlimited].
    #[arg(long, value_name = "TIME")]
    #[schemars(
        description = "Time to answer a question, such as \"30m\" or \"2h\"; afterwards the call is \
                       rejected\n[default: unlimited]."
    )]
    #[serde(skip_serializing)]
    pub(crate) answer_within: Option<Time>,
}

impl LimitArgs {
    /// These limits, applied over `limits`.
    pub(crate) fn over(&self, limits: &Limits) -> Result<Limits, Failure> {
        let mut limits = overlaid(limits, self)?;
        if let Some(TimeBudget(budget)) = self.time_budget {
            limits.time_budget = budget;
        }
        if let Some(Time(time)) = self.answer_within {
            limits.answer_within = Some(time);
        }
        Ok(limits)
    }
}

/// The default time budget: without one, a model that makes no progress could run forever.
const USUAL_TIME_BUDGET: Duration = Duration::from_secs(30 * 60);

/// The default limits of an agent.
pub(crate) fn usual_limits() -> Limits {
    let mut limits = Limits::default();
    limits.time_budget = Some(USUAL_TIME_BUDGET);
    limits
}

fn money(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("give a number above 0".to_owned()),
    }
}
