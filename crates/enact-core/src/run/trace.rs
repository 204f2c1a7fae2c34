//! The trace view: what a run did, step by step, with time, tokens, attempts and cost.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::event::{
    Event, PredictorName, Record, Standing, StepOutcome, Stepped, TerminationReason,
};
use super::history::{Call, Observation};
use super::log::Run;
use super::question::{Decision, QuestionKind};
use super::repair::Repair;
use super::trajectory::COMPLETED;
use crate::model::Usage;
use crate::signature::Values;

/// What a run did, step by step. A view of its log: it can be taken at any time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Trace {
    /// The steps in order.
    pub steps: Vec<TraceStep>,
    /// The outputs, once there are some.
    pub final_result: Option<Values>,
    /// Whether the agent came to them by itself.
    pub success: bool,
    /// Why the run ended, if it did.
    pub termination_reason: Option<TerminationReason>,
    /// How many steps there are.
    pub total_iterations: usize,
    /// Tokens and requests of the whole run, those beside the steps included.
    pub total_tokens: Usage,
    /// What they cost, if all prices are known.
    pub total_cost: Option<f64>,
    /// From the first to the last event.
    #[serde(rename = "execution_time", serialize_with = "seconds")]
    pub execution_time: Duration,
}

/// One step: a thought, the actions that it led to, and what they gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TraceStep {
    /// Its number, counted from 1.
    pub iteration: usize,
    /// What the model thought.
    pub thought: String,
    /// What it did, in order; nothing if it only spoke.
    pub actions: Vec<Action>,
    /// When its reply was there.
    pub timestamp: Timestamp,
    /// Tokens of its replies, unreadable ones included.
    pub token_usage: Usage,
    /// How long its replies took.
    #[serde(serialize_with = "seconds")]
    pub duration: Duration,
    /// How many requests it took, those for unreadable replies and failed ones included.
    pub attempts: usize,
    /// What was mended in its reply.
    pub repairs: Vec<Repair>,
    /// What the model was told after it, beside the observations.
    pub notices: Vec<String>,
    /// How the task stood after it, if a model was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
}

/// What a step did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Action {
    /// Which kind.
    pub kind: ActionKind,
    /// The call, as it ran.
    pub call: Call,
    /// What it gave; `None` while it has given nothing.
    pub observation: Option<Observation>,
    /// How long it took.
    #[serde(serialize_with = "seconds")]
    pub duration: Duration,
    /// How often it was started.
    pub attempts: usize,
    /// Whether it was not run, because the answer was known.
    pub from_record: bool,
}

/// What an [`Action`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ActionKind {
    /// A tool was called.
    ToolCall,
    /// The outputs were handed in, or the work declared done.
    FinalAnswer,
    /// A person was asked for something.
    RequestClarification,
}

fn seconds<S: serde::Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(duration.as_secs_f64())
}

/// Reads records into steps.
#[derive(Default)]
struct Reader<'a> {
    steps: Vec<TraceStep>,
    /// What happened since the last step, and belongs to the next.
    usage: Usage,
    duration: Duration,
    failed_attempts: usize,
    /// The calls that questions are about, as they were when it was asked.
    asked: HashMap<&'a str, &'a Call>,
}

pub(super) fn of(run: &Run) -> Trace {
    let mut reader = Reader::default();
    for record in run.records() {
        reader.take(record);
    }
    let steps = reader.steps;
    let reason = run.termination();
    let outputs = run.outputs();
    Trace {
        total_iterations: steps.len(),
        steps,
        final_result: outputs.cloned(),
        success: outputs.is_some() && reason == Some(TerminationReason::Success),
        termination_reason: reason,
        total_tokens: run.usage(),
        total_cost: run.cost(),
        execution_time: run.execution_time(),
    }
}

/// The last step of a run, if its actions are all over. Looks at no more records than it has to.
pub(super) fn last_step(run: &Run) -> Option<TraceStep> {
    let is_step = |record: &&Record| matches!(record.event, Event::Stepped(_));
    let records = run.records();
    let last = records.iter().rposition(|record| is_step(&record))?;
    let (before, after) = records.split_at(last);
    let own = before.iter().rposition(|record| is_step(&record));
    let mut reader = Reader::default();
    for record in &before[own.map_or(0, |earlier| earlier + 1)..] {
        reader.take(record);
    }
    for record in after {
        reader.take(record);
    }
    let mut step = reader.steps.pop()?;
    step.iteration = before.iter().filter(is_step).count() + 1;
    let is_over = |action: &Action| action.observation.is_some();
    step.actions.iter().all(is_over).then_some(step)
}

impl<'a> Reader<'a> {
    fn take(&mut self, record: &'a Record) {
        match &record.event {
            Event::Stepped(stepped) => self.step(record.at, stepped),
            Event::Misread {
                predictor: PredictorName::Step,
                reply,
                duration,
                ..
            } => {
                self.usage += reply.usage;
                self.duration += *duration;
                self.failed_attempts += reply.attempts as usize;
            }
            Event::ModelFailed {
                predictor: PredictorName::Step,
                ..
            } => self.failed_attempts += 1,
            Event::ToolStarted { call_id } => {
                if let Some(action) = self.action(call_id) {
                    action.attempts += 1;
                }
            }
            Event::ToolFinished {
                call_id,
                observation,
                duration,
                from_record,
                ..
            } => {
                if let Some(action) = self.action(call_id) {
                    action.observation = Some(observation.clone());
                    action.duration = *duration;
                    action.from_record = *from_record;
                }
            }
            Event::Asked(question) => {
                self.asked
                    .insert(&question.confirmation_id, &question.tool_call);
                if question.kind == QuestionKind::Clarify
                    && let Some(action) = self.action(&question.tool_call.id)
                {
                    action.kind = ActionKind::RequestClarification;
                }
            }
            Event::Answered {
                confirmation_id,
                decision: Decision::Edit { name, args },
                ..
            } => {
                if let Some(call) = self.asked.get(confirmation_id.as_str()).copied()
                    && let Some(action) = self.action(&call.id)
                {
                    action.call.name.clone_from(name);
                    action.call.args.clone_from(args);
                }
            }
            Event::Withdrawn { confirmation_id } => {
                if let Some(call) = self.asked.get(confirmation_id.as_str()).copied()
                    && let Some(action) = self.action(&call.id)
                {
                    action.call.clone_from(call);
                }
            }
            Event::Condensed {
                reply, duration, ..
            } => self.aside(reply.usage, *duration),
            Event::Judged {
                reply,
                standing,
                duration,
                ..
            } => {
                self.aside(reply.usage, *duration);
                if let Some(step) = self.steps.last_mut() {
                    step.standing = Some(*standing);
                }
            }
            Event::Noticed { text, .. } => {
                if let Some(step) = self.steps.last_mut() {
                    step.notices.push(text.clone());
                }
            }
            _ => {}
        }
    }

    /// A request beside the last step.
    fn aside(&mut self, usage: Usage, duration: Duration) {
        if let Some(step) = self.steps.last_mut() {
            step.token_usage += usage;
            step.duration += duration;
        }
    }

    fn step(&mut self, at: Timestamp, stepped: &Stepped) {
        let is_final = matches!(
            stepped.outcome,
            StepOutcome::Commit(_) | StepOutcome::Extract
        );
        let actions = stepped.calls.iter().map(|planned| Action {
            kind: if is_final {
                ActionKind::FinalAnswer
            } else {
                ActionKind::ToolCall
            },
            call: planned.call.clone(),
            observation: match &planned.refusal {
                Some(refusal) => Some(Observation::error(refusal.clone())),
                None if is_final => Some(Observation::value(COMPLETED)),
                None => None,
            },
            duration: Duration::ZERO,
            attempts: 0,
            from_record: false,
        });
        let mut token_usage = std::mem::take(&mut self.usage);
        token_usage += stepped.reply.usage;
        self.steps.push(TraceStep {
            iteration: self.steps.len() + 1,
            thought: stepped.thought().to_owned(),
            actions: actions.collect(),
            timestamp: at,
            token_usage,
            duration: std::mem::take(&mut self.duration) + stepped.duration,
            attempts: std::mem::take(&mut self.failed_attempts) + stepped.reply.attempts as usize,
            repairs: stepped.repairs.clone(),
            notices: match &stepped.outcome {
                StepOutcome::Nudge(notice) => vec![notice.clone()],
                _ => Vec::new(),
            },
            standing: None,
        });
    }

    fn action(&mut self, call_id: &str) -> Option<&mut Action> {
        let actions = &mut self.steps.last_mut()?.actions;
        actions.iter_mut().find(|action| action.call.id == call_id)
    }
}
