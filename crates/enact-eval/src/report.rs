//! Reports: the results of an evaluation.

use enact_core::Timestamp;
use enact_core::Values;
use enact_core::model::{Prices, Usage};
use serde::{Deserialize, Serialize};

use crate::criteria::{Criterion, Goal, criteria};
use crate::results::Heading;
use crate::statistics::{Share, mean, percentile};
use crate::trial::{Status, Trial};

/// The version of the format that this release writes.
const FORMAT: u32 = 1;

/// The results of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of the format.
    pub format: u32,
    /// The id of the evaluation.
    pub evaluation_id: String,
    /// The dataset's name.
    pub dataset: String,
    /// The agent.
    pub settings: Values,
    /// When it was made.
    pub made: Timestamp,
    /// The number of examples by status.
    pub counts: Counts,
    /// The share of correct answers; none without expectations.
    pub accuracy: Option<Accuracy>,
    /// The criteria.
    pub criteria: Vec<Criterion>,
    /// Seconds of work per completed run; none without one.
    pub latency: Option<Latency>,
    /// Tokens and requests of the agent.
    pub usage: Usage,
    /// Their cost; none if the price is unknown.
    pub cost: Option<f64>,
    /// Tokens and requests of the judge.
    pub judge_usage: Usage,
    /// Their cost; none if the price is unknown, or nothing was judged.
    pub judge_cost: Option<f64>,
    /// The examples in the order of the dataset.
    pub trials: Vec<Trial>,
}

/// The number of examples by status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// In the dataset.
    pub examples: u64,
    /// With outputs.
    pub finished: u64,
    /// Without outputs.
    pub failed: u64,
    /// Of those without outputs, the ones that can be resumed: a model failed.
    pub resumable: u64,
    /// Waiting for a person.
    pub paused: u64,
    /// With outputs that could not be scored.
    pub unscored: u64,
    /// Not run: the evaluation was interrupted.
    pub untried: u64,
}

/// The share of correct answers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// The number of passed answers, of those with an expectation. An unscored answer did not pass.
    pub share: Share,
    /// The share.
    pub value: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The mean of the scores, for answers that can be partly correct.
    pub mean_score: f64,
}

/// Percentiles in seconds, by nearest rank.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Half of the runs took no longer.
    pub p50: f64,
    /// 90 of 100 took no longer.
    pub p90: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
}

impl Report {
    /// Computes a report of these trials, in the order of the dataset with this number of
    /// examples.
    pub fn new(
        heading: &Heading,
        dataset: impl Into<String>,
        examples: usize,
        trials: Vec<Trial>,
        prices: Option<&Prices>,
    ) -> Self {
        let mut usage = Usage::default();
        let mut judge_usage = Usage::default();
        for trial in &trials {
            usage += trial.figures.usage;
            judge_usage += trial.judge_usage;
        }
        let model = heading
            .settings
            .get("model")
            .and_then(|model| model.as_str());
        let judge = trials.iter().find_map(|trial| trial.judge.as_deref());
        let cost = |model: Option<&str>, usage: &Usage| prices?.cost(model?, *usage);
        Self {
            format: FORMAT,
            evaluation_id: heading.evaluation_id.clone(),
            dataset: dataset.into(),
            settings: heading.settings.clone(),
            made: Timestamp::now(),
            counts: Counts::of(&trials, examples),
            accuracy: Accuracy::of(&trials),
            criteria: criteria(&trials),
            latency: Latency::of(&trials),
            cost: cost(model, &usage),
            judge_cost: cost(judge, &judge_usage),
            usage,
            judge_usage,
            trials,
        }
    }

    /// Parses a report in JSON.
    pub fn read(json: &str) -> Result<Self, String> {
        let report: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if report.format > FORMAT {
            let format = report.format;
            return Err(format!(
                "format {format} is newer than {FORMAT}: use a newer enact"
            ));
        }
        Ok(report)
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        let model = self.settings.get("model").and_then(|model| model.as_str());
        model.unwrap_or("unknown")
    }
}

/// A line of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
    /// The goal and whether it is met, if known; only criteria have one.
    pub goal: Option<(Goal, Option<bool>)>,
    /// A description of the data.
    pub basis: String,
}

impl Line {
    fn new(name: impl Into<String>, value: String, basis: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value,
            goal: None,
            basis: basis.into(),
        }
    }
}

impl Report {
    /// The results, line by line, with counts of tokens formatted by the function and a note on why the cost
    /// is unknown.
    pub fn lines(&self, count: impl Fn(u64) -> String, about_cost: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(accuracy) = &self.accuracy {
            let basis = format!(
                "{} of {}; 95 % interval {} to {}; mean score {:.3}",
                accuracy.share.hits,
                accuracy.share.of,
                percent(accuracy.low),
                percent(accuracy.high),
                accuracy.mean_score
            );
            lines.push(Line::new("accuracy", percent(accuracy.value), basis));
        }
        lines.extend(self.criteria.iter().map(|criterion| {
            let value = criterion.value.map_or("–".to_owned(), percent);
            Line {
                goal: Some((criterion.goal, criterion.is_met)),
                ..Line::new(&criterion.name, value, &criterion.basis)
            }
        }));
        if let Some(latency) = &self.latency {
            let basis = format!("p90 {:.2} s, p99 {:.2} s", latency.p90, latency.p99);
            lines.push(Line::new(
                "latency, p50",
                format!("{:.2} s", latency.p50),
                basis,
            ));
        }
        let mut spent = |who: &str, usage: &Usage, cost: Option<f64>, about_cost: &str| {
            let basis = format!(
                "{} in ({} cached), {} out, {} requests",
                count(usage.input_tokens),
                count(usage.cached_input_tokens),
                count(usage.output_tokens),
                count(usage.requests)
            );
            let total = count(usage.input_tokens + usage.output_tokens);
            lines.push(Line::new(format!("tokens{who}"), total, basis));
            let cost = cost.map_or("unknown".to_owned(), |cost| format!("{cost:.4}"));
            lines.push(Line::new(format!("cost{who}"), cost, about_cost));
        };
        spent("", &self.usage, self.cost, about_cost);
        if self.judge_usage.requests > 0 {
            spent(" of the judge", &self.judge_usage, self.judge_cost, "");
        }
        lines
    }
}

/// A share in per cent.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

impl Counts {
    fn of(trials: &[Trial], examples: usize) -> Self {
        let count = |fits: &dyn Fn(&Trial) -> bool| {
            trials.iter().filter(|trial| fits(trial)).count() as u64
        };
        Self {
            examples: examples as u64,
            finished: count(&|trial| trial.status == Status::Finished),
            failed: count(&|trial| trial.status == Status::Failed),
            resumable: count(&|trial| trial.status == Status::Failed && !trial.is_over()),
            paused: count(&|trial| trial.status == Status::Paused),
            unscored: count(&Trial::is_unscored),
            untried: examples.saturating_sub(trials.len()) as u64,
        }
    }
}

impl Accuracy {
    fn of(trials: &[Trial]) -> Option<Self> {
        let share = Share::count(trials.iter().filter_map(Trial::passed));
        let asked = trials.iter().filter(|trial| trial.expected.is_some());
        let scores: Vec<f64> = asked
            .map(|trial| trial.score.as_ref().map_or(0.0, |score| score.value))
            .collect();
        let (low, high) = share.interval()?;
        Some(Self {
            share,
            value: share.value()?,
            low,
            high,
            mean_score: mean(&scores)?,
        })
    }
}

impl Latency {
    fn of(trials: &[Trial]) -> Option<Self> {
        let over = trials.iter().filter(|trial| trial.is_over());
        let seconds: Vec<f64> = over.map(|trial| trial.figures.seconds).collect();
        Some(Self {
            p50: percentile(&seconds, 50)?,
            p90: percentile(&seconds, 90)?,
            p99: percentile(&seconds, 99)?,
        })
    }
}
