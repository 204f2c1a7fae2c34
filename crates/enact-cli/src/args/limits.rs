//! The flags that say how far a run may go.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use enact::run::Limits;

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// How many steps it may take before it has to answer; 10 unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_iterations: Option<u32>,

    /// How many tool calls may run.
    #[arg(long, value_name = "N")]
    pub(crate) max_tool_calls: Option<u32>,

    /// How many tokens may be read and written, the final answer included.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) token_budget: Option<u64>,

    /// What the run may cost, by the prices of `--prices`.
    #[arg(long, value_name = "X", value_parser = money)]
    pub(crate) cost_budget: Option<f64>,

    /// A JSON file with what a million tokens cost: {"model": {"input": 2.5, "output": 10}}.
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,

    /// How long models and tools may work before it has to answer, such as 90s or 5m; 30m unless
    /// given, `none` for no limit.
    #[arg(long, value_name = "TIME", value_parser = time_budget)]
    pub(crate) time_budget: Option<TimeBudget>,

    /// How many steps in a row may bring nothing new before it is warned, then ended; 3 unless
    /// given, 0 for any.
    #[arg(long, value_name = "N")]
    pub(crate) stall_threshold: Option<u32>,

    /// How many tokens of one observation it is shown; 2000 unless given, 0 for all.
    #[arg(long, value_name = "N")]
    pub(crate) max_observation_tokens: Option<u32>,

    /// How long a question may wait, such as 30m or 2h; after that the call is rejected.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) answer_within: Option<Duration>,
}

impl LimitArgs {
    /// Sets the limits that were given.
    pub(crate) fn apply(&self, limits: &mut Limits) {
        limits.max_iterations = self.max_iterations.unwrap_or(limits.max_iterations);
        limits.max_tool_calls = self.max_tool_calls.or(limits.max_tool_calls);
        limits.token_budget = self.token_budget.or(limits.token_budget);
        limits.cost_budget = self.cost_budget.or(limits.cost_budget);
        if let Some(TimeBudget(budget)) = self.time_budget {
            limits.time_budget = budget;
        }
        limits.stall_threshold = self.stall_threshold.unwrap_or(limits.stall_threshold);
        limits.max_observation_tokens = self
            .max_observation_tokens
            .unwrap_or(limits.max_observation_tokens);
        limits.answer_within = self.answer_within.or(limits.answer_within);
    }
}

/// How long a run may work unless it is told: a model that makes no progress is not waited for
/// for ever.
pub(crate) const USUAL_TIME_BUDGET: Duration = Duration::from_secs(30 * 60);

/// How long a run may work; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeBudget(pub(crate) Option<Duration>);

/// A time, or `none` or 0 for no limit.
pub(crate) fn time_budget(text: &str) -> Result<TimeBudget, String> {
    let text = text.trim();
    let zero = text.parse::<jiff::SignedDuration>();
    if text == "none" || text == "0" || zero.is_ok_and(|time| time.is_zero()) {
        return Ok(TimeBudget(None));
    }
    match time(text) {
        Ok(time) => Ok(TimeBudget(Some(time))),
        Err(message) => Err(format!("{message}, or `none` for no limit")),
    }
}

/// A time in the words of people.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let time = text.parse::<jiff::SignedDuration>().ok();
    match time.and_then(|time| Duration::try_from(time).ok()) {
        Some(time) if !time.is_zero() => Ok(time),
        _ => Err("give a time such as 90s, 30m or 2h".to_owned()),
    }
}

fn money(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("give a number above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_a_time_budget_can_be_switched_off() {
        for off in ["none", "0", "0s", " 0m "] {
            assert_eq!(time_budget(off), Ok(TimeBudget(None)), "{off}");
        }
        let minute = TimeBudget(Some(Duration::from_secs(60)));
        assert_eq!(time_budget("1m"), Ok(minute));
        for bad in ["", "never", "5", "-1m"] {
            assert!(time_budget(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_longer_than_nothing() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("2h30m"), Ok(Duration::from_secs(9_000)));
        for bad in ["", "0s", "-1h", "soon", "5"] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }
}
