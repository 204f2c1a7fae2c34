//! The trace view: the steps of a run with times, tokens, attempts and cost.

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

/// The steps of a run in detail. A view of its log, available at any time.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{ScriptedModel, call};
/// use enact::{ReAct, tool, tools, values};
/// use serde_json::json;
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let agent = ReAct::builder("question -> answer: int")
///     .tools(tools![add])
///     .model(ScriptedModel::new([
///         call("add", json!({"a": 2, "b": 40})).thinking("I add them."),
///         call("submit", json!({"answer": 42})),
///     ]))
///     .build()?;
/// let done = agent.call(values! { question: "2 + 40?" }).await?.finished()?;
/// let trace = done.run().trace();
/// assert_eq!(trace.steps[0].thought, "I add them.");
/// assert_eq!(trace.steps[0].actions[0].call.name, "add");
/// assert_eq!(trace.total_tokens.requests, 2);
/// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Trace {
    /// The steps in order.
    pub steps: Vec<TraceStep>,
    /// The outputs, if there are any.
    pub final_result: Option<Values>,
    /// Whether the agent finished by itself.
    pub success: bool,
    /// Why the run ended, if it has.
    pub termination_reason: Option<TerminationReason>,
    /// The number of steps.
    pub total_iterations: usize,
    /// Tokens and requests of the whole run, including those besides the steps.
    pub total_tokens: Usage,
    /// Their cost, if all prices are known.
    pub total_cost: Option<f64>,
    /// The time from the first to the last event.
    #[serde(rename = "execution_time", serialize_with = "seconds")]
    pub execution_time: Duration,
}

/// A step: a thought, its actions, and their results.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TraceStep {
    /// The number, from 1.
    pub iteration: usize,
    /// The model's thought.
    pub thought: String,
    /// The actions, in order; empty if the model only wrote text.
    pub actions: Vec<Action>,
    /// When the reply arrived.
    pub timestamp: Timestamp,
    /// Tokens of its replies, including unreadable ones.
    pub token_usage: Usage,
    /// How long its replies took.
    #[serde(serialize_with = "seconds")]
    pub duration: Duration,
    /// The number of requests, including unreadable replies and failures.
    pub attempts: usize,
    /// Repairs of its reply.
    pub repairs: Vec<Repair>,
    /// Notices to the model after it, besides the observations.
    pub notices: Vec<String>,
    /// The state of the task after it, if a model judged it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
}

/// An action of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Action {
    /// The kind of action.
    pub kind: ActionKind,
    /// The call as it ran.
    pub call: Call,
    /// The result; `None` if there is none yet.
    pub observation: Option<Observation>,
    /// How long it took.
    #[serde(serialize_with = "seconds")]
    pub duration: Duration,
    /// How often it was started.
    pub attempts: usize,
    /// Whether it was not run, because the result was known.
    pub from_record: bool,
}

/// The kind of an [`Action`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ActionKind {
    /// A tool was called.
    ToolCall,
    /// The outputs were submitted, or the task was declared finished.
    FinalAnswer,
    /// A person was asked a question.
    RequestClarification,
    /// The task was delegated to another agent.
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

/// The last step of a run, if all of its actions are complete.
pub(super) fn last_step(run: &Run) -> Option<TraceStep> {
    let (index, step) = run.steps().iter().enumerate().next_back()?;
    (!step.is_open()).then(|| traced(run, step, run.remarks_after(index)))
}

/// A step with its attempts and further requests.
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
    /// Adds a reply to a request for this step.
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
