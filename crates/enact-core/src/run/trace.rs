//! The trace view: what a run did, step by step, with time, tokens, attempts and cost.

use std::time::Duration;

use serde::Serialize;

use super::event::{PredictorName, Reading, Replied, Standing, StepOutcome, TerminationReason};
use super::history::{Call, Observation};
use super::log::Run;
use super::repair::Repair;
use super::step::{Remark, Step};
use super::step_call::StepCall;
use super::trajectory::COMPLETED;
use crate::model::Usage;
use crate::signature::Values;
use crate::time::Timestamp;

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
    /// The work was handed to another agent.
    Delegate,
}

fn seconds<S: serde::Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(duration.as_secs_f64())
}

pub(super) fn of(run: &Run) -> Trace {
    let reason = run.termination();
    let outputs = run.outputs();
    let steps = run.steps().iter().enumerate();
    let steps: Vec<TraceStep> = steps
        .map(|(index, step)| traced(run, step, run.remarks_after(index)))
        .collect();
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

/// The last step of a run, if its actions are all over.
pub(super) fn last_step(run: &Run) -> Option<TraceStep> {
    let (index, step) = run.steps().iter().enumerate().next_back()?;
    (!step.is_open()).then(|| traced(run, step, run.remarks_after(index)))
}

/// A step with the attempts at it, and what was asked beside it.
fn traced(run: &Run, step: &Step, before: &[Remark]) -> TraceStep {
    let replied = &step.replied;
    let mut traced = TraceStep {
        iteration: step.number,
        thought: step.thought().to_owned(),
        actions: step
            .calls
            .iter()
            .map(|call| action(run, step, call))
            .collect(),
        timestamp: step.at,
        token_usage: Usage::default(),
        duration: Duration::ZERO,
        attempts: 0,
        repairs: replied.repairs.clone(),
        notices: Vec::new(),
        standing: None,
    };
    for remark in before {
        match remark {
            Remark::Reply { replied, .. } if is_attempt(replied) => traced.take(replied),
            Remark::Failure {
                predictor: PredictorName::Step,
                ..
            } => traced.attempts += 1,
            _ => {}
        }
    }
    traced.take(replied);
    if let StepOutcome::Nudge(notice) = step.outcome() {
        traced.notices.push(notice.clone());
    }
    for remark in &step.after {
        match remark {
            Remark::Reply { replied, .. } => {
                if let Reading::Judged { standing, .. } = &replied.read {
                    traced.standing = Some(*standing);
                }
                if let Reading::Judged { .. } | Reading::Condensed { .. } = &replied.read {
                    traced.token_usage += replied.reply.usage;
                    traced.duration += replied.duration;
                }
            }
            Remark::Notice { text, .. } => traced.notices.push(text.clone()),
            Remark::Failure { .. } | Remark::Adapter { .. } => {}
        }
    }
    traced
}

/// Whether a reply was an attempt at the next step.
fn is_attempt(replied: &Replied) -> bool {
    replied.predictor == PredictorName::Step && replied.problem().is_some()
}

impl TraceStep {
    /// Takes in a reply that was asked for as this step.
    fn take(&mut self, replied: &Replied) {
        self.token_usage += replied.reply.usage;
        self.duration += replied.duration;
        self.attempts += replied.reply.attempts as usize;
    }
}

fn action(run: &Run, step: &Step, call: &StepCall) -> Action {
    let is_final = *step.outcome() != StepOutcome::Act;
    let done = call.done.as_ref();
    Action {
        kind: match call.has_asked {
            _ if is_final => ActionKind::FinalAnswer,
            _ if run.is_agent(step.record, &call.call.name) => ActionKind::Delegate,
            true => ActionKind::RequestClarification,
            false => ActionKind::ToolCall,
        },
        call: (*call.call).clone(),
        observation: match is_final && call.refusal.is_none() {
            true => Some(Observation::value(COMPLETED)),
            false => call.observation(),
        },
        duration: done.map(|done| done.duration).unwrap_or_default(),
        attempts: call.attempts,
        from_record: call.from_record,
    }
}
