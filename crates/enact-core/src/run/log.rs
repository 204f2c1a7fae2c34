//! A run: its log, and the views of it.

use std::fmt;
use std::sync::Arc;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::asked::AskedQuestion;
use super::event::{Event, FORMAT, Record, TerminationReason};
use super::fold::Folded;
use super::history::{Entry, History, Observation};
use super::question::{ConfirmationStatus, Question};
use super::scratchpad;
use super::started::Started;
use super::step::{Change, Remark, Step};
use super::step_call::StepCall;
use super::trace::{self, Trace, TraceStep};
use super::trajectory::Trajectory;
use super::transcript;
use crate::model::{ModelErrorKind, Usage};
use crate::signature::Values;
use crate::time::Timestamp;
use crate::tool::ToolSpec;

/// The log of one run, folded into [steps](Step). Every other view of a run is computed from them.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{ScriptedModel, say};
/// use enact::{Predict, Run, TerminationReason, values};
///
/// let qa = Predict::builder("question -> answer")
///     .model(ScriptedModel::new([say("Paris")]))
///     .build()?;
/// let done = qa.call(values! { question: "Capital of France?" }).await?.finished()?;
/// let run = done.run();
/// assert_eq!(run.termination(), Some(TerminationReason::Success));
///
///
/// // A run goes through JSON and back unchanged.
/// let copy: Run = serde_json::from_str(&serde_json::to_string(run)?)?;
/// assert_eq!(&copy, run);
/// # Ok::<_, Box<dyn std::error::Error>>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Run {
    /// The contents of the first record.
    started: Arc<Started>,
    records: Vec<Record>,
    folded: Folded,
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.records.serialize(to)
    }
}

/// Deserialises record by record, so that a log with an unknown format is rejected before any other
/// event is parsed.
impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Log;

        impl<'de> Visitor<'de> for Log {
            type Value = Run;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the records of a run")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut records: A) -> Result<Run, A::Error> {
                let first = records.next_element::<Record>()?;
                let mut run = Run::begin(first).map_err(A::Error::custom)?;
                while let Some(record) = records.next_element()? {
                    run.follow(record).map_err(A::Error::custom)?;
                }
                Ok(run)
            }
        }

        from.deserialize_seq(Log)
    }
}

/// Runs are equal when their logs are.
impl PartialEq for Run {
    fn eq(&self, other: &Self) -> bool {
        self.records == other.records
    }
}

/// A log that is not valid for a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The first event is not the start of a run.
    #[error("the log does not begin with the start of a run")]
    NotStarted,
    /// The log was written by a newer enact.
    #[error("{}", unknown_format(*found, *supported))]
    UnknownFormat {
        /// The format of the log.
        found: u32,
        /// The newest format that this release supports.
        supported: u32,
    },
    /// A record is missing or repeated.
    #[error("record {found} stands where record {expected} should be")]
    OutOfOrder {
        /// The expected position.
        expected: u64,
        /// The actual position.
        found: u64,
    },
    /// A store has the log of one run under the id of another.
    #[error("the log that is kept as the run `{asked}` is that of the run `{found}`")]
    OtherRun {
        /// The id that the store was asked for.
        asked: String,
        /// The id in the log.
        found: String,
    },
}

/// Checks that this is the log of a run, in a format that this release supports.
impl TryFrom<Vec<Record>> for Run {
    type Error = RunError;

    fn try_from(records: Vec<Record>) -> Result<Self, RunError> {
        let mut records = records.into_iter();
        let mut run = Self::begin(records.next())?;
        for record in records {
            run.follow(record)?;
        }
        Ok(run)
    }
}

fn unknown_format(found: u32, supported: u32) -> String {
    let what = format!("the log has format {found}; this enact reads format {supported}");
    match found > supported {
        true => format!("{what}: use a newer one"),
        false => format!("{what}, and no log of a build before the first release"),
    }
}

impl From<Run> for Vec<Record> {
    fn from(run: Run) -> Self {
        run.records
    }
}

impl Run {
    /// A run with only its first record.
    fn begin(first: Option<Record>) -> Result<Self, RunError> {
        let first = first.ok_or(RunError::NotStarted)?;
        let Event::Started(started) = &first.event else {
            return Err(RunError::NotStarted);
        };
        let started = started.clone();
        if started.format != FORMAT {
            return Err(RunError::UnknownFormat {
                found: started.format,
                supported: FORMAT,
            });
        }
        let mut run = Self {
            started,
            records: Vec::new(),
            folded: Folded::new(),
        };
        run.follow(first)?;
        Ok(run)
    }

    /// Whether the steps use another adapter than the one that the run started with.
    pub fn has_changed_adapter(&self) -> bool {
        self.remarks()
            .any(|remark| matches!(remark, Remark::Adapter { .. }))
    }

    /// Adds the next record, and returns what it changed.
    pub(crate) fn push(&mut self, record: Record) -> Change {
        let index = self.records.len();
        let change = self.folded.take(&self.started, index, &record);
        self.records.push(record);
        change
    }

    /// Adds the next record, for code that follows a run while it is made.
    ///
    /// # Errors
    /// If it is not the next record.
    pub fn follow(&mut self, record: Record) -> Result<Change, RunError> {
        let expected = self.records.len() as u64;
        if record.position != expected {
            return Err(RunError::OutOfOrder {
                expected,
                found: record.position,
            });
        }
        Ok(self.push(record))
    }

    /// The steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.folded.steps
    }

    /// A call of the last step, which has it.
    pub(crate) fn call(&self, index: usize) -> &StepCall {
        &self.folded.steps[self.folded.steps.len() - 1].calls[index]
    }

    /// The indices of the records from a step up to the next one.
    pub fn records_of(&self, step: &Step) -> std::ops::Range<usize> {
        let next = self.steps().get(step.number);
        step.record..next.map_or(self.records.len(), |next| next.record)
    }

    /// Events before the first step.
    pub fn before_steps(&self) -> &[Remark] {
        &self.folded.before
    }

    /// What happened after so many steps, and before the next one.
    pub(crate) fn remarks_after(&self, steps: usize) -> &[Remark] {
        let step = steps.checked_sub(1).and_then(|step| self.steps().get(step));
        step.map_or(&self.folded.before, |step| &step.after)
    }

    /// All that happened beside the calls of steps, in order.
    pub fn remarks(&self) -> impl DoubleEndedIterator<Item = &Remark> {
        let after = self.folded.steps.iter().flat_map(|step| &step.after);
        self.folded.before.iter().chain(after)
    }

    /// The records in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Turns events into the next records, at this time.
    pub fn following(&self, events: impl IntoIterator<Item = Event>, at: Timestamp) -> Vec<Record> {
        let first = self.records.len() as u64;
        let events = (first..).zip(events);
        let records = events.map(|(position, event)| Record {
            position,
            at,
            event,
        });
        records.collect()
    }

    /// The events in order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.records.iter().map(|record| &record.event)
    }

    /// How the run started.
    pub fn started(&self) -> &Started {
        &self.started
    }

    /// The current tools, without the completing one.
    pub fn tools(&self) -> &[ToolSpec] {
        self.tools_at(self.folded.tools)
    }

    /// The index of the record that contains them.
    pub(crate) fn tools_record(&self) -> usize {
        self.folded.tools
    }

    /// The tool with this name in the record with the tools: the first one, or a change.
    pub(crate) fn tool_at(&self, record: usize, name: &str) -> Option<&ToolSpec> {
        let mut tools = self.tools_at(record).iter();
        tools.find(|tool| tool.name == name)
    }

    /// Whether the tool with this name was another agent at the time of this record.
    pub(super) fn is_agent(&self, record: usize, name: &str) -> bool {
        let is_list = |record: &usize| !self.tools_at(*record).is_empty();
        let list = match self.folded.tools <= record {
            true => Some(self.folded.tools),
            // They have changed since.
            false => (0..record).rev().find(is_list),
        };
        let tool = list.and_then(|list| self.tool_at(list, name));
        tool.is_some_and(|tool| tool.source.as_deref() == Some(ToolSpec::AGENT))
    }

    /// The tools in the record that contains them.
    pub(crate) fn tools_at(&self, record: usize) -> &[ToolSpec] {
        match self.records.get(record).map(|record| &record.event) {
            Some(Event::Started(started)) => &started.agent.tools,
            Some(Event::ToolsChanged { tools }) => tools,
            _ => &[],
        }
    }

    /// The run's id.
    pub fn id(&self) -> &str {
        &self.started.run_id
    }

    /// The transcript: the earlier conversation, and everything that this run added. A step that waits is
    /// at the end, with [pending](Observation::is_pending) results.
    pub fn history(&self) -> History {
        History::from(transcript::of(self, self.steps().len()))
    }

    /// The transcript without an incomplete step.
    pub(crate) fn transcript(&self) -> Vec<Entry> {
        let is_open = self.steps().last().is_some_and(Step::is_open);
        transcript::of(self, self.steps().len() - usize::from(is_open))
    }

    /// Thought, tool, arguments and observation of each call, including pending ones.
    pub fn trajectory(&self) -> Trajectory {
        Trajectory::of(self)
    }

    /// The reasoning as plain text: a block of `Thought:`, `Action:` and `Observation:` for each step,
    /// and `Final Answer:` at the end, if there is one. Errors start with `(error)`, and further lines of
    /// a text are indented.
    pub fn scratchpad(&self) -> String {
        scratchpad::of(self)
    }

    /// The steps with times, tokens, attempts and cost.
    pub fn trace(&self) -> Trace {
        trace::of(self)
    }

    /// The last step, if it is complete.
    pub(crate) fn last_step(&self) -> Option<TraceStep> {
        trace::last_step(self)
    }

    /// The events that end a run before it has outputs. Calls without a result are marked as
    /// abandoned.
    pub fn cancellation(&self) -> Vec<Event> {
        let open = self.steps().last().filter(|step| step.is_open());
        let calls = open.into_iter().flat_map(|step| &step.calls);
        let mut events: Vec<Event> = calls
            .filter(|call| call.is_open())
            .map(|call| {
                let name = &call.call.name;
                let what = match call.attempts {
                    0 => "it was not executed",
                    _ => "it is not known whether it happened",
                };
                let text = format!("Error executing {name}: the run was cancelled, and {what}");
                let id = call.call.id.clone();
                Event::tool_decided(id, Observation::error(text))
            })
            .collect();
        events.push(Event::Failed {
            reason: TerminationReason::Cancelled,
            message: "the run was cancelled".to_owned(),
        });
        events
    }

    /// Tokens and requests spent so far.
    pub fn usage(&self) -> Usage {
        self.folded.usage
    }

    /// Their cost; `None` if a price is unknown.
    pub fn cost(&self) -> Option<f64> {
        self.folded.cost()
    }

    /// All questions of the run, with their status.
    pub fn questions(&self) -> &[AskedQuestion] {
        &self.folded.questions
    }

    /// The open questions; none once the run is over.
    pub fn open_questions(&self) -> Vec<Question> {
        let asked = self.questions().iter();
        asked
            .filter(|asked| asked.status == ConfirmationStatus::Pending)
            .map(|asked| asked.question.clone())
            .collect()
    }

    /// Whether a prompt was too long for its model.
    pub(crate) fn has_overflowed(&self) -> bool {
        let too_long = ModelErrorKind::ContextLength;
        self.remarks()
            .any(|remark| matches!(remark, Remark::Failure { kind, .. } if *kind == too_long))
    }

    /// Why the loop of steps ended, if it ended without outputs.
    pub fn loop_ended(&self) -> Option<TerminationReason> {
        self.folded.loop_ended
    }

    /// Why the run ended, if it has.
    pub fn termination(&self) -> Option<TerminationReason> {
        self.folded.ended.as_ref().map(|ended| ended.reason)
    }

    /// The failure, if the run ended without outputs.
    pub fn failure(&self) -> Option<&str> {
        self.folded.ended.as_ref()?.failure.as_deref()
    }

    /// The declared outputs, if there are any.
    pub fn outputs(&self) -> Option<&Values> {
        let ended = self.folded.ended.as_ref()?;
        let outputs = self.folded.outputs.as_ref();
        outputs.filter(|_| ended.failure.is_none())
    }

    /// The model's reasoning before the outputs after the loop, if it was asked for.
    pub fn reasoning(&self) -> Option<&str> {
        let replies = self.remarks().rev().filter_map(Remark::replied);
        let outputs = replies.filter_map(|replied| replied.outputs()).next()?;
        outputs.get("reasoning")?.as_str()
    }

    /// The time from the first to the last record.
    pub fn execution_time(&self) -> std::time::Duration {
        match (self.records.first(), self.records.last()) {
            (Some(first), Some(last)) => last.at.since(first.at),
            _ => std::time::Duration::default(),
        }
    }
}
