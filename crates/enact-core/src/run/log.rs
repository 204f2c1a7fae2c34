//! A run: its log, and what can be told from it.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::asked::{self, AskedQuestion};
use super::event::{Event, FORMAT, PredictorName, Record, TerminationReason};
use super::history::{Entry, History, Observation};
use super::question::{ConfirmationStatus, Question};
use super::scratchpad;
use super::started::Started;
use super::trace::{self, Trace, TraceStep};
use super::trajectory::Trajectory;
use super::transcript::{self, OpenStep};
use crate::model::{ModelErrorKind, Usage};
use crate::signature::Values;
use crate::tool::ToolSpec;

/// The log of one run. Everything else that is told of a run is computed from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Record>", into = "Vec<Record>")]
pub struct Run {
    /// The same as in the first record.
    started: Arc<Started>,
    records: Vec<Record>,
}

/// A log that cannot be a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The first event is not the start of a run.
    #[error("the log does not begin with the start of a run")]
    NotStarted,
    /// The log was written by a newer enact.
    #[error("the log has format {found}; this enact reads up to {supported}: use a newer one")]
    UnknownFormat {
        /// The log's format.
        found: u32,
        /// The newest format that this release reads.
        supported: u32,
    },
    /// A record is missing or repeated.
    #[error("record {found} stands where record {expected} should be")]
    OutOfOrder {
        /// The position that should come.
        expected: u64,
        /// The position that came.
        found: u64,
    },
}

/// Checks that the log is the log of a run that this release can read.
impl TryFrom<Vec<Record>> for Run {
    type Error = RunError;

    fn try_from(records: Vec<Record>) -> Result<Self, RunError> {
        let Some(Event::Started(started)) = records.first().map(|record| &record.event) else {
            return Err(RunError::NotStarted);
        };
        if started.format > FORMAT {
            return Err(RunError::UnknownFormat {
                found: started.format,
                supported: FORMAT,
            });
        }
        for (expected, record) in (0..).zip(&records) {
            if record.position != expected {
                return Err(RunError::OutOfOrder {
                    expected,
                    found: record.position,
                });
            }
        }
        Ok(Self {
            started: started.clone(),
            records,
        })
    }
}

impl From<Run> for Vec<Record> {
    fn from(run: Run) -> Self {
        run.records
    }
}

impl Run {
    pub(crate) fn push(&mut self, record: Record) {
        self.records.push(record);
    }

    /// The records in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// These events as the records that come next, happening now.
    pub fn following(&self, events: impl IntoIterator<Item = Event>) -> Vec<Record> {
        let first = self.records.len() as u64;
        let events = (first..).zip(events);
        events
            .map(|(position, event)| Record::now(position, event))
            .collect()
    }

    /// The events in order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.records.iter().map(|record| &record.event)
    }

    /// How the run began.
    pub fn started(&self) -> &Started {
        &self.started
    }

    /// The tools that it has by now, without the completing one.
    pub fn tools(&self) -> &[ToolSpec] {
        let changed = self.events().rev().find_map(|event| match event {
            Event::ToolsChanged { tools } => Some(tools),
            _ => None,
        });
        changed.unwrap_or(&self.started.agent.tools)
    }

    /// The tool of this name in the record that lists the tools: the first one, or a change.
    pub(crate) fn tool_at(&self, record: usize, name: &str) -> Option<&ToolSpec> {
        let mut tools = self.tools_at(record).iter();
        tools.find(|tool| tool.name == name)
    }

    /// The tools in the record that lists them.
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

    /// The transcript: the conversation before, and all that this run added. A step that waits
    /// stands at its end, with [pending](Observation::is_pending) results.
    pub fn history(&self) -> History {
        History::from(transcript::of(self, OpenStep::Shown))
    }

    /// The transcript without a step that is not over.
    pub(crate) fn transcript(&self) -> Vec<Entry> {
        transcript::of(self, OpenStep::Hidden)
    }

    /// Thought, tool, arguments and observation of every call, those that wait included.
    pub fn trajectory(&self) -> Trajectory {
        Trajectory::of(self)
    }

    /// The reasoning as plain text: a block of `Thought:`, `Action:` and `Observation:` for each
    /// step, and `Final Answer:` at the end, if there is one. An observation that is an error
    /// begins with `(error)`, and later lines of a text stand to the right.
    pub fn scratchpad(&self) -> String {
        scratchpad::of(self)
    }

    /// What was done, step by step, with time, tokens, attempts and cost.
    pub fn trace(&self) -> Trace {
        trace::of(self)
    }

    /// The last step, if all that it did is over.
    pub(crate) fn last_step(&self) -> Option<TraceStep> {
        trace::last_step(self)
    }

    /// The events that end a run for good before it has outputs. Calls that gave nothing are said to
    /// have been given up.
    pub fn cancellation(&self) -> Vec<Event> {
        let last = self.trace().steps.pop();
        let actions = last.into_iter().flat_map(|step| step.actions);
        let given_up = actions.filter(|action| action.observation.is_none());
        let mut events: Vec<Event> = given_up
            .map(|action| {
                let name = &action.call.name;
                let what = match action.attempts {
                    0 => "it was not executed",
                    _ => "it is not known whether it happened",
                };
                Event::ToolFinished {
                    observation: Observation::error(format!(
                        "Error executing {name}: the run was cancelled, and {what}"
                    )),
                    call_id: action.call.id,
                    duration: Duration::ZERO,
                    from_record: false,
                    usage: Usage::default(),
                    cost: 0.0,
                }
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
        let mut usage = Usage::default();
        for (_, spent) in self.spending() {
            usage += spent;
        }
        for event in self.events() {
            if let Event::ToolFinished { usage: spent, .. } = event {
                usage += *spent;
            }
        }
        usage
    }

    /// What they cost; `None` if a price is not known.
    pub fn cost(&self) -> Option<f64> {
        let prices = &self.started.agent.prices;
        let costs = self
            .spending()
            .map(|(predictor, usage)| prices.get(&predictor).map(|price| price.of(usage)));
        let costs: Option<f64> = costs.sum();
        let of_tools = self.events().filter_map(|event| match event {
            Event::ToolFinished { cost, .. } => Some(*cost),
            _ => None,
        });
        Some(costs? + of_tools.sum::<f64>())
    }

    fn spending(&self) -> impl Iterator<Item = (PredictorName, Usage)> {
        self.events().filter_map(|event| match event {
            Event::Stepped(stepped) => Some((PredictorName::Step, stepped.reply.usage)),
            Event::Misread {
                predictor, reply, ..
            } => Some((*predictor, reply.usage)),
            Event::Summarised { reply, .. } => Some((PredictorName::Summarise, reply.usage)),
            Event::Condensed { reply, .. } => Some((PredictorName::Condense, reply.usage)),
            Event::Judged { reply, .. } => Some((PredictorName::Judge, reply.usage)),
            Event::Extracted {
                predictor, reply, ..
            } => Some((*predictor, reply.usage)),
            _ => None,
        })
    }

    /// Every question that the run asked, with what became of it.
    pub fn questions(&self) -> Vec<AskedQuestion> {
        asked::of(self)
    }

    /// The questions that wait for an answer; none once the run is over.
    pub fn open_questions(&self) -> Vec<Question> {
        let asked = self.questions().into_iter();
        asked
            .filter(|asked| asked.status == ConfirmationStatus::Pending)
            .map(|asked| asked.question)
            .collect()
    }

    /// Whether a prompt was too long for its model.
    pub(crate) fn has_overflowed(&self) -> bool {
        let kind = ModelErrorKind::ContextLength;
        self.events().any(
            |event| matches!(event, Event::ModelFailed { kind: failed, .. } if *failed == kind),
        )
    }

    /// Why the run ended, if it did.
    pub fn termination(&self) -> Option<TerminationReason> {
        match self.events().next_back() {
            Some(Event::Finished { reason, .. } | Event::Failed { reason, .. }) => Some(*reason),
            _ => None,
        }
    }

    /// The declared outputs, once there are some.
    pub fn outputs(&self) -> Option<&Values> {
        match self.events().next_back() {
            Some(Event::Finished { outputs, .. }) => Some(outputs),
            _ => None,
        }
    }

    /// The time from the first to the last record.
    pub fn execution_time(&self) -> std::time::Duration {
        match (self.records.first(), self.records.last()) {
            (Some(first), Some(last)) => last
                .at
                .duration_since(first.at)
                .try_into()
                .unwrap_or_default(),
            _ => std::time::Duration::default(),
        }
    }
}
