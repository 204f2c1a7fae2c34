//! What a list of runs shows of each.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::run::event::{Event, Record, TerminationReason};
use crate::time::Timestamp;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// A writer works on it.
    Running,
    /// Neither over nor waiting, and without a writer: its process has ended.
    Interrupted,
    /// Waits for a person.
    Paused,
    /// Over, with outputs.
    Finished,
    /// Over, without outputs.
    Failed,
    /// Over, because somebody cancelled it.
    Cancelled,
    /// The beginning of its log cannot be read.
    Damaged,
}

impl RunStatus {
    /// Every status.
    pub const ALL: [Self; 7] = [
        Self::Running,
        Self::Interrupted,
        Self::Paused,
        Self::Finished,
        Self::Failed,
        Self::Cancelled,
        Self::Damaged,
    ];

    /// The status as one word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a list shows of a run. Kept up to date by its store, a constant effort per record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunSummary {
    /// The run.
    pub run_id: String,
    /// How far it is.
    pub status: RunStatus,
    /// Its signature as an arrow string.
    pub signature: String,
    /// The model of its steps.
    pub model: String,
    /// When it began.
    pub started: Timestamp,
    /// When it was last written to.
    pub updated: Timestamp,
    /// Steps taken.
    pub steps: u64,
    /// Questions that wait for an answer.
    pub open_questions: u64,
    /// Why it ended, if it did.
    pub termination_reason: Option<TerminationReason>,
    /// How many records it has.
    pub records: u64,
}

impl RunSummary {
    /// The summary of a run that begins with this record, if it can begin a run.
    pub fn begin(record: &Record) -> Option<Self> {
        let Event::Started(started) = &record.event else {
            return None;
        };
        Some(Self {
            run_id: started.run_id.clone(),
            status: RunStatus::Running,
            signature: started.agent.signature.arrow(),
            model: started.agent.model.clone(),
            started: record.at,
            updated: record.at,
            steps: 0,
            open_questions: 0,
            termination_reason: None,
            records: 1,
        })
    }

    /// All that can be said of a run whose log cannot be read.
    pub fn damaged(run_id: impl Into<String>, started: Timestamp, updated: Timestamp) -> Self {
        Self {
            run_id: run_id.into(),
            status: RunStatus::Damaged,
            signature: String::new(),
            model: String::new(),
            started,
            updated,
            steps: 0,
            open_questions: 0,
            termination_reason: None,
            records: 0,
        }
    }

    /// The same as a list shows it: a run that nobody works on is not running. For stores, which alone
    /// know whether a run has a writer.
    #[must_use]
    pub fn with_writer(mut self, has_writer: bool) -> Self {
        if self.status == RunStatus::Running && !has_writer {
            self.status = RunStatus::Interrupted;
        }
        self
    }

    /// Takes the next record in.
    pub fn apply(&mut self, record: &Record) {
        self.records += 1;
        self.updated = record.at;
        match &record.event {
            Event::Replied(replied) if replied.stepped().is_some() => self.steps += 1,
            // Another one is open no more.
            Event::Asked(question) if question.replaces.is_some() => {}
            Event::Asked(_) | Event::Withdrawn { .. } => self.open_questions += 1,
            Event::Answered { .. } => self.open_questions = self.open_questions.saturating_sub(1),
            Event::Finished { reason } | Event::Failed { reason, .. } => {
                self.open_questions = 0;
                self.termination_reason = Some(*reason);
            }
            _ => {}
        }
        self.status = match &record.event {
            Event::Finished { .. } => RunStatus::Finished,
            Event::Failed {
                reason: TerminationReason::Cancelled,
                ..
            } => RunStatus::Cancelled,
            Event::Failed { .. } => RunStatus::Failed,
            _ if self.open_questions > 0 => RunStatus::Paused,
            _ => RunStatus::Running,
        };
    }
}

/// Which runs to list.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunFilter {
    /// Only those of this status.
    pub status: Option<RunStatus>,
    /// Only those whose id ends like this.
    pub id_ending: Option<String>,
    /// At most this many.
    pub limit: Option<u32>,
}

impl RunFilter {
    /// Every run.
    pub fn all() -> Self {
        Self::default()
    }

    /// The same, of one status only.
    #[must_use]
    pub fn with_status(mut self, status: RunStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// The same, only those whose id ends like this.
    #[must_use]
    pub fn with_id_ending(mut self, ending: impl Into<String>) -> Self {
        self.id_ending = Some(ending.into());
        self
    }

    /// The same, at most this many.
    #[must_use]
    pub fn with_limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Whether a run fits.
    pub fn fits(&self, summary: &RunSummary) -> bool {
        let ending = self.id_ending.as_deref().unwrap_or_default();
        self.status.is_none_or(|status| status == summary.status)
            && summary.run_id.ends_with(ending)
    }
}
