//! Compares two reports.

use std::collections::HashMap;

use crate::report::{Report, percent};
use crate::statistics::{float, mcnemar};
use crate::trial::Trial;

/// The unit of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Shares from 0 to 1.
    Share,
    /// Seconds.
    Seconds,
    /// Counts.
    Count,
    /// In the currency of the price file.
    Cost,
}

impl Unit {
    /// A formatted value; a positive one starts with `sign`.
    pub fn shown(self, value: Option<f64>, sign: &str) -> String {
        let Some(value) = value else {
            return "–".to_owned();
        };
        let sign = if value > 0.0 { sign } else { "" };
        match self {
            Self::Share => format!("{sign}{}", percent(value)),
            Self::Seconds => format!("{sign}{value:.2} s"),
            Self::Count => format!("{sign}{value:.0}"),
            Self::Cost => format!("{sign}{value:.4}"),
        }
    }
}

/// A value in both reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// The value in the first report.
    pub first: Option<f64>,
    /// The value in the second report.
    pub second: Option<f64>,
}

impl Row {
    /// The second value minus the first.
    pub fn difference(&self) -> Option<f64> {
        Some(self.second? - self.first?)
    }
}

/// The comparison of two reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The values.
    pub rows: Vec<Row>,
    /// The examples in both reports, with the same inputs and an expectation.
    pub common: u64,
    /// The examples in only one report, or with different expectations.
    pub different: Vec<String>,
    /// The examples that failed in the first and passed in the second.
    pub fixed: Vec<String>,
    /// The examples that passed in the first and failed in the second.
    pub broken: Vec<String>,
    /// The probability of such a difference by chance: McNemar's exact test.
    pub p_value: f64,
}

impl Comparison {
    /// Compares two reports.
    pub fn of(first: &Report, second: &Report) -> Self {
        let others: HashMap<&str, &Trial> = second
            .trials
            .iter()
            .map(|trial| (trial.id.as_str(), trial))
            .collect();
        let mut comparison = Self {
            rows: rows(first, second),
            common: 0,
            different: Vec::new(),
            fixed: Vec::new(),
            broken: Vec::new(),
            p_value: 1.0,
        };
        for trial in &first.trials {
            let other = others.get(trial.id.as_str());
            let same =
                |other: &&&Trial| other.inputs == trial.inputs && other.expected == trial.expected;
            let Some(other) = other.filter(same) else {
                comparison.different.push(trial.id.clone());
                continue;
            };
            let (Some(before), Some(after)) = (trial.passed(), other.passed()) else {
                continue;
            };
            comparison.common += 1;
            match (before, after) {
                (false, true) => comparison.fixed.push(trial.id.clone()),
                (true, false) => comparison.broken.push(trial.id.clone()),
                _ => {}
            }
        }
        let is_new = |trial: &&Trial| !first.trials.iter().any(|one| one.id == trial.id);
        let new = second.trials.iter().filter(is_new);
        comparison
            .different
            .extend(new.map(|trial| trial.id.clone()));
        let (fixed, broken) = (comparison.fixed.len(), comparison.broken.len());
        comparison.p_value = mcnemar(fixed as u64, broken as u64);
        comparison
    }
}

fn rows(first: &Report, second: &Report) -> Vec<Row> {
    let row = |name: &str, unit: Unit, value: &dyn Fn(&Report) -> Option<f64>| Row {
        name: name.to_owned(),
        unit,
        first: value(first),
        second: value(second),
    };
    let mut rows = vec![
        row("accuracy", Unit::Share, &|report| {
            Some(report.accuracy?.value)
        }),
        row("mean score", Unit::Share, &|report| {
            Some(report.accuracy?.mean_score)
        }),
    ];
    let mut names: Vec<&str> = Vec::new();
    for criterion in first.criteria.iter().chain(&second.criteria) {
        if !names.contains(&criterion.name.as_str()) {
            names.push(&criterion.name);
        }
    }
    rows.extend(names.into_iter().map(|name| {
        row(name, Unit::Share, &|report| {
            let mut all = report.criteria.iter();
            all.find(|criterion| criterion.name == name)?.value
        })
    }));
    rows.extend([
        row("latency p50", Unit::Seconds, &|report| {
            Some(report.latency?.p50)
        }),
        row("latency p90", Unit::Seconds, &|report| {
            Some(report.latency?.p90)
        }),
        row("latency p99", Unit::Seconds, &|report| {
            Some(report.latency?.p99)
        }),
        row("tokens in", Unit::Count, &|report| {
            Some(float(report.usage.input_tokens))
        }),
        row("tokens out", Unit::Count, &|report| {
            Some(float(report.usage.output_tokens))
        }),
        row("cost", Unit::Cost, &|report| report.cost),
    ]);
    rows
}
