//! The five criteria of a good agent, over all trials. Each is a share, a mean, or unknown.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::statistics::{Share, mean};
use crate::trial::Trial;

/// The goal of a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// At least this share.
    AtLeast(f64),
    /// Less than this share.
    Below(f64),
}

impl Goal {
    /// Whether a value meets it.
    pub fn is_met_by(self, value: f64) -> bool {
        match self {
            Self::AtLeast(goal) => value >= goal,
            Self::Below(goal) => value < goal,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(goal) if *goal >= 1.0 => f.write_str("100 %"),
            Self::AtLeast(goal) => write!(f, "{:.0} % or more", goal * 100.0),
            Self::Below(goal) => write!(f, "below {:.0} %", goal * 100.0),
        }
    }
}

/// A criterion with its value and goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// Its name.
    pub name: String,
    /// The value from 0 to 1; none without data.
    pub value: Option<f64>,
    /// The goal.
    pub goal: Goal,
    /// Whether the goal is met; none without data.
    pub is_met: Option<bool>,
    /// A description of the data.
    pub basis: String,
}

impl Criterion {
    fn new(name: &str, value: Option<f64>, goal: Goal, basis: String) -> Self {
        Self {
            name: name.to_owned(),
            value,
            goal,
            is_met: value.map(|value| goal.is_met_by(value)),
            basis,
        }
    }

    fn share(name: &str, share: Share, goal: Goal, noun: &str) -> Self {
        let basis = match share.of {
            0 => format!("no {noun}"),
            _ => format!("{} of {} {noun}", share.hits, share.of),
        };
        Self::new(name, share.value(), goal, basis)
    }
}

/// The five criteria; a sixth line has the judge's opinion on the first.
pub fn criteria(trials: &[Trial]) -> Vec<Criterion> {
    let mut criteria = vec![coherence(trials)];
    criteria.extend(judged_coherence(trials));
    criteria.extend([
        termination(trials),
        completeness(trials),
        recovery(trials),
        efficiency(trials),
    ]);
    criteria
}

fn coherence(trials: &[Trial]) -> Criterion {
    let share = trials.iter().map(|trial| trial.figures.connected).sum();
    let goal = Goal::AtLeast(0.9);
    Criterion::share("reasoning coherence", share, goal, "steps that act")
}

fn judged_coherence(trials: &[Trial]) -> Option<Criterion> {
    let share: Share = trials.iter().filter_map(|trial| trial.judged).sum();
    let name = "reasoning coherence, judged";
    (share.of > 0).then(|| Criterion::share(name, share, Goal::AtLeast(0.9), "steps that act"))
}

fn termination(trials: &[Trial]) -> Criterion {
    let told = trials.iter().filter_map(|trial| {
        let expected = trial.expected_termination?;
        Some(trial.termination == Some(expected))
    });
    let (share, goal) = (Share::count(told), Goal::AtLeast(0.95));
    Criterion::share(
        "termination accuracy",
        share,
        goal,
        "runs whose ending is expected",
    )
}

fn completeness(trials: &[Trial]) -> Criterion {
    let share = trials.iter().map(|trial| trial.figures.complete).sum();
    Criterion::share("trace completeness", share, Goal::AtLeast(1.0), "steps")
}

fn recovery(trials: &[Trial]) -> Criterion {
    let had_errors = trials
        .iter()
        .filter(|trial| trial.is_over() && trial.figures.tool_errors > 0);
    let share = Share::count(
        had_errors.map(|trial| trial.termination == Some(enact_core::TerminationReason::Success)),
    );
    let noun = "runs with a tool error";
    Criterion::share("error recovery", share, Goal::AtLeast(0.8), noun)
}

fn efficiency(trials: &[Trial]) -> Criterion {
    let over = trials.iter().filter(|trial| trial.is_over());
    let efforts: Vec<f64> = over.filter_map(|trial| trial.figures.effort()).collect();
    let goal = Goal::Below(0.5);
    let below = efforts
        .iter()
        .filter(|effort| goal.is_met_by(**effort))
        .count();
    let basis = match efforts.len() {
        0 => "no runs".to_owned(),
        count => format!("steps of those allowed, mean; {below} of {count} runs below 50 %"),
    };
    Criterion::new("iteration efficiency", mean(&efforts), goal, basis)
}
