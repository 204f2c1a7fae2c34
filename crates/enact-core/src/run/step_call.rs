//! A call of a step: as it was written, as it was decided, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::history::{Call, Observation};
use crate::lean::is_default;
use crate::model::{RawCall, Usage};

/// A call of a step: what the model wrote, what was decided, and what came of it. A
/// [reply](super::Stepped) holds its calls as they were decided when it was read; a
/// [step](super::Step) holds them as they stand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepCall {
    /// The call as it was decided: its arguments coerced to the tool's schema, or what a person made
    /// of it.
    #[serde(flatten)]
    pub call: Arc<Call>,
    /// The call as the model wrote it, if that says something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<RawCall>,
    /// Why it does not run: what the model is told instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Whether a person has to agree first, as the tool's rule said when the call was read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
    /// How often it was started.
    #[serde(skip)]
    pub attempts: usize,
    /// Whether its tool asked a person for something.
    #[serde(skip)]
    pub has_asked: bool,
    /// What it gave, once it has.
    #[serde(skip)]
    pub done: Option<Done>,
    /// What prompts show in place of an observation that is too large for them.
    #[serde(skip)]
    pub summary: Option<String>,
    /// Whether it was not run, because the answer was known.
    #[serde(skip)]
    pub from_record: bool,
    /// The index of the record that says what it gave.
    #[serde(skip)]
    pub(crate) record: usize,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Done {
    /// Which call.
    pub call_id: String,
    /// What it gave.
    pub observation: Arc<Observation>,
    /// How long it took.
    #[serde(
        rename = "duration_ns",
        default,
        with = "crate::tool::nanos",
        skip_serializing_if = "Duration::is_zero"
    )]
    pub duration: Duration,
    /// Tokens that it spent on models.
    #[serde(default, skip_serializing_if = "is_default")]
    pub usage: Usage,
    /// What they cost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cost: f64,
}

impl StepCall {
    /// A call that runs.
    pub(crate) fn new(call: Call) -> Self {
        Self {
            call: Arc::new(call),
            written: None,
            refusal: None,
            confirm: false,
            attempts: 0,
            has_asked: false,
            done: None,
            summary: None,
            from_record: false,
            record: 0,
        }
    }

    /// A call that does not run.
    pub(crate) fn refused(call: Call, refusal: String) -> Self {
        Self {
            refusal: Some(refusal),
            ..Self::new(call)
        }
    }

    /// Whether it may still give something.
    pub fn is_open(&self) -> bool {
        self.refusal.is_none() && self.done.is_none()
    }

    /// What it gave, as transcripts show it: what the model was told, if the call was refused.
    pub fn observation(&self) -> Option<Observation> {
        if let Some(refusal) = &self.refusal {
            return Some(Observation::error(refusal.clone()));
        }
        let mut observation = (*self.done.as_ref()?.observation).clone();
        observation.summary.clone_from(&self.summary);
        Some(observation)
    }

    /// Whether what it gave is an error.
    pub fn is_error(&self) -> bool {
        let done = self.done.as_ref();
        self.refusal.is_some() || done.is_some_and(|done| done.observation.is_error)
    }

    /// The record at this index says what it gave.
    pub(super) fn give(&mut self, done: Done, record: usize) {
        self.done = Some(done);
        self.record = record;
    }
}

impl Done {
    /// What a call gave that took no time.
    pub fn new(call_id: impl Into<String>, observation: impl Into<Arc<Observation>>) -> Self {
        Self {
            call_id: call_id.into(),
            observation: observation.into(),
            duration: Duration::ZERO,
            usage: Usage::default(),
            cost: 0.0,
        }
    }

    /// The same, with how long it took and what it spent on models.
    #[must_use]
    pub fn spending(self, duration: Duration, usage: Usage, cost: f64) -> Self {
        Self {
            duration,
            usage,
            cost,
            ..self
        }
    }
}
