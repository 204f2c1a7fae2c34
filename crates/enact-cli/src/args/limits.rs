//! The options that say how far a run may go.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use enact::run::Limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Time, TimeBudget};
use crate::agent::overlaid;
use crate::exit::Failure;

/// What is not given is as without the table.
#[derive(Debug, Default, Args, Serialize, Deserialize, JsonSchema)]
#[command(next_help_heading = "Limits")]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub(crate) struct LimitArgs {
    /// How many steps it may take before it has to answer; 10 unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) max_iterations: Option<u32>,

    /// How many replies in a row may be unreadable or call nothing that exists; 3 unless given.
    #[arg(long, value_name = "N")]
    pub(crate) max_repairs: Option<u32>,

    /// How many tool calls may run.
    #[arg(long, value_name = "N")]
    pub(crate) max_tool_calls: Option<u32>,

    /// How many tokens may be read and written, the final answer included.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) token_budget: Option<u64>,

    /// What the run may cost: in USD by the built-in prices, or by those of `--prices`.
    #[arg(long, value_name = "X", value_parser = money)]
    #[schemars(
        description = "What the run may cost: in USD by the built-in prices, or by `prices`.",
        extend("exclusiveMinimum" = 0)
    )]
    pub(crate) cost_budget: Option<f64>,

    /// A JSON file with what a million tokens cost, instead of the built-in prices:
    /// {"model": {"input": 2.5, "output": 10}}.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) prices: Option<PathBuf>,

    /// How long models and tools may work before it has to answer, such as 90s or 5m; 30m unless
    /// given, `none` for no limit.
    #[arg(long, value_name = "TIME")]
    #[schemars(
        description = "How long models and tools may work before it has to answer, such as \"90s\" \
                       or \"5m\"; \"30m\" unless\ngiven, \"none\" for no limit."
    )]
    #[serde(skip_serializing)]
    pub(crate) time_budget: Option<TimeBudget>,

    /// How many steps in a row may bring nothing new before it is warned, then ended; 3 unless given,
    /// 0 for any.
    #[arg(long, value_name = "N")]
    pub(crate) stall_threshold: Option<u32>,

    /// How many tokens of one observation it is shown; 2000 unless given, 0 for all.
    #[arg(long, value_name = "N")]
    pub(crate) max_observation_tokens: Option<u32>,

    /// How long a question may wait, such as 30m or 2h; after that the call is rejected.
    #[arg(long, value_name = "TIME")]
    #[schemars(
        description = "How long a question may wait, such as \"30m\" or \"2h\"; after that the call \
                       is rejected."
    )]
    #[serde(skip_serializing)]
    pub(crate) answer_within: Option<Time>,
}

impl LimitArgs {
    /// Those limits under the ones that were given.
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

/// How long a run may work unless it is told: a model that makes no progress is not waited for
/// for ever.
const USUAL_TIME_BUDGET: Duration = Duration::from_secs(30 * 60);

/// The limits of an agent that says nothing of them.
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
