//! Trials: the results of examples.

use enact_core::model::Usage;
use enact_core::{Run, TerminationReason, Values};
use serde::{Deserialize, Serialize};

use crate::dataset::Example;
use crate::figures::Figures;
use crate::metric::{Metric, Score};
use crate::statistics::Share;

/// The status of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// There are outputs.
    Finished,
    /// There are none.
    #[default]
    Failed,
    /// The run waits for a person.
    Paused,
}

/// Why a result is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The kind of failure as one word.
    pub kind: String,
    /// The message.
    pub message: String,
}

/// An example with its result: a line of the results file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Trial {
    /// The id of the example.
    pub id: String,
    /// The id of the run.
    pub run_id: String,
    /// The inputs.
    pub inputs: Values,
    /// The expected outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Values>,
    /// The metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// The expected termination reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_termination: Option<TerminationReason>,
    /// The status.
    pub status: Status,
    /// Why the run ended, if it has.
    pub termination: Option<TerminationReason>,
    /// The outputs.
    pub outputs: Values,
    /// The verdict of the metric; none without outputs, or if it could not decide.
    pub score: Option<Score>,
    /// Why there are no outputs, or no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The counts of the run.
    pub figures: Figures,
    /// Of the steps with actions, those whose thought connects to a call, according to a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Share>,
    /// The model of the judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// The usage of the judge.
    #[serde(default)]
    pub judge_usage: Usage,
}

impl Trial {
    /// The trial of a run, not scored yet.
    pub fn of(example: &Example, run: &Run) -> Self {
        let mut trial = Self::empty(example, run.id());
        trial.termination = run.termination();
        trial.outputs = run.outputs().cloned().unwrap_or_default();
        trial.status = match (run.outputs(), run.termination()) {
            (Some(_), _) => Status::Finished,
            (None, None) if !run.open_questions().is_empty() => Status::Paused,
            (None, _) => Status::Failed,
        };
        if let (Some(reason), Some(message)) = (run.termination(), run.failure()) {
            trial.fault = Some(Fault {
                kind: reason.as_str().to_owned(),
                message: message.to_owned(),
            });
        }
        trial.figures = Figures::of(run);
        trial
    }

    /// A trial without a result.
    pub(crate) fn empty(example: &Example, run_id: &str) -> Self {
        let mut trial = Self {
            id: example.id.clone(),
            run_id: run_id.to_owned(),
            inputs: example.inputs.clone(),
            ..Self::default()
        };
        trial.describe(example);
        trial
    }

    /// Copies the expectations of the example.
    pub(crate) fn describe(&mut self, example: &Example) {
        let (expected, metric) = example.expected.clone().unzip();
        self.expected = expected;
        self.metric = metric;
        self.expected_termination = example.termination;
    }

    /// Whether the answer is correct; none without expectations.
    pub fn passed(&self) -> Option<bool> {
        self.expected.as_ref()?;
        Some(self.score.as_ref().is_some_and(|score| score.passed))
    }

    /// The result in words.
    pub fn outcome(&self) -> &'static str {
        match (self.status, self.passed()) {
            (Status::Paused, _) => "waits for a person",
            (Status::Failed, _) => "failed",
            (Status::Finished, _) if self.is_unscored() => "could not be scored",
            (Status::Finished, Some(true)) => "passed",
            (Status::Finished, Some(false)) => "not passed",
            (Status::Finished, None) => "done",
        }
    }

    /// Whether the run is over: it doesn't have to run again.
    pub fn is_over(&self) -> bool {
        self.termination.is_some()
    }

    /// Whether it has outputs that should have been scored and were not.
    pub fn is_unscored(&self) -> bool {
        self.status == Status::Finished && self.expected.is_some() && self.score.is_none()
    }

    /// Whether it belongs to this example.
    pub(crate) fn is_of(&self, example: &Example) -> bool {
        self.id == example.id && self.inputs == example.inputs
    }

    /// Whether it was scored with this example's expectations.
    pub(crate) fn is_scored_for(&self, example: &Example, judge: Option<&str>) -> bool {
        let asked = example.expected.as_ref();
        let same_judge = self.metric != Some(Metric::Judge) || self.judge.as_deref() == judge;
        self.expected.as_ref() == asked.map(|(expected, _)| expected)
            && self.metric.as_ref() == asked.map(|(_, metric)| metric)
            && same_judge
            && !self.is_unscored()
    }
}
