//! Summaries of runs, for lists.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::run::event::{Event, Record, TerminationReason};
use crate::time::Timestamp;

/// The status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// A writer is working on it.
    Running,
    /// Neither over nor paused, and without a writer: its process has ended.
    Interrupted,
    /// Waits for a person.
    Paused,
    /// Over, with outputs.
    Finished,
    /// Over, without outputs.
    Failed,
    /// Over, because it was cancelled.
    Cancelled,
    /// The start of its log cannot be read.
    Damaged,
}

impl RunStatus {
    /// All statuses.
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

/// The summary of a run, for lists. Stores keep it up to date, with constant effort per record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunSummary {
    /// The run.
    pub run_id: String,
    /// The status.
    pub status: RunStatus,
    /// Its signature as an arrow string.
    pub signature: String,
    /// The model of its steps.
    pub model: String,
    /// When it started.
    pub started: Timestamp,
    /// When it was last written to.
    pub updated: Timestamp,
    /// Steps taken.
    pub steps: u64,
    /// Questions that wait for an answer.
    pub open_questions: u64,
    /// Why it ended, if it has.
    pub termination_reason: Option<TerminationReason>,
    /// The number of records.
    pub records: u64,
}

impl RunSummary {
    /// The summary of a run that starts with this record, if it is a valid start.
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

    /// The summary of a run whose log cannot be read.
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

    /// The summary as shown in a list: a run without a writer is not running. For stores, since only they
    /// know whether a run has a writer.
    #[must_use]
    pub fn with_writer(mut self, has_writer: bool) -> Self {
        if self.status == RunStatus::Running && !has_writer {
            self.status = RunStatus::Interrupted;
        }
        self
    }

    /// Adds the next record.
    pub fn apply(&mut self, record: &Record) {
        self.records += 1;
        self.updated = record.at;
        match &record.event {
            Event::Replied(replied) if replied.stepped().is_some() => self.steps += 1,
            // There is no other open question any more.
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

/// A filter for lists of runs.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{ScriptedModel, say};
/// use enact::run::store::{MemoryStore, RunFilter, RunStatus, Store as _};
/// use enact::{Predict, values};
///
/// let store = MemoryStore::new();
/// let qa = Predict::builder("question -> answer")
///     .model(ScriptedModel::new([say("Paris")]))
///     .build()?;
/// let call = qa.call(values! { question: "Capital of France?" }).store(store.clone());
/// let _ = call.await?.finished()?;
///
/// let newest = RunFilter::all().with_limit(10);
/// let runs = store.list(&newest).await?;
/// assert_eq!(runs[0].status, RunStatus::Finished);
/// let run = store.load(&runs[0].run_id).await?.run;
/// assert!(run.outputs().is_some());
/// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunFilter {
    /// Only runs with this status.
    pub status: Option<RunStatus>,
    /// Only runs whose id ends with this.
    pub id_ending: Option<String>,
    /// The maximum number of runs.
    pub limit: Option<u32>,
}

impl RunFilter {
    /// All runs.
    pub fn all() -> Self {
        Self::default()
    }

    /// Keeps only runs with this status.
    #[must_use]
    pub fn with_status(mut self, status: RunStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// Keeps only runs whose id ends with this.
    #[must_use]
    pub fn with_id_ending(mut self, ending: impl Into<String>) -> Self {
        self.id_ending = Some(ending.into());
        self
    }

    /// Sets the maximum number of runs.
    #[must_use]
    pub fn with_limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Whether a run matches.
    pub fn fits(&self, summary: &RunSummary) -> bool {
        let ending = self.id_ending.as_deref().unwrap_or_default();
        self.status.is_none_or(|status| status == summary.status)
            && summary.run_id.ends_with(ending)
    }
}
