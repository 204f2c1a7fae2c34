//! Folds a log into steps, record by record.

use std::sync::Arc;

use super::asked::AskedQuestion;
use super::event::{Asked, Event, Reading, Record, Replied, TerminationReason};
use super::history::{Call, Observation};
use super::question::{ConfirmationStatus, Decision, Question, QuestionKind};
use super::started::Started;
use super::step::{Change, Remark, Step};
use super::step_call::Done;
use crate::model::Usage;
use crate::signature::Values;

/// The state that results from the records of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Folded {
    pub(super) steps: Vec<Step>,
    /// Events before the first step.
    pub(super) before: Vec<Remark>,
    pub(super) questions: Vec<AskedQuestion>,
    /// The index of the first question of the last step: earlier ones are settled.
    current: usize,
    /// The last record that contains the tools.
    pub(super) tools: usize,
    pub(super) usage: Usage,
    /// The cost of models, if all prices are known.
    models_cost: Option<f64>,
    tools_cost: f64,
    /// The declared outputs that were committed last.
    pub(super) outputs: Option<Values>,
    /// The reasoning before the outputs after the loop.
    pub(super) ended: Option<Ended>,
    pub(super) loop_ended: Option<TerminationReason>,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) reason: TerminationReason,
    /// The failure, if there are no outputs.
    pub(super) failure: Option<String>,
}

impl Folded {
    pub(super) fn new() -> Self {
        Self {
            models_cost: Some(0.0),
            ..Self::default()
        }
    }

    /// Adds the record at this index.
    pub(super) fn take(&mut self, started: &Started, index: usize, record: &Record) -> Change {
        match &record.event {
            Event::Started(_) => Change::Began,
            Event::Replied(replied) => self.replied(started, index, record, replied),
            Event::ModelFailed {
                predictor,
                kind,
                message,
            } => self.remark(Remark::Failure {
                predictor: *predictor,
                kind: *kind,
                message: message.clone(),
            }),
            Event::ToolStarted { call_id } => {
                self.use_answers(call_id);
                match self.call(call_id) {
                    Some((call, step)) => {
                        step.calls[call].attempts += 1;
                        Change::CallStarted { call }
                    }
                    None => Change::Nothing,
                }
            }
            Event::ToolFinished(done) => {
                self.usage += done.usage;
                self.tools_cost += done.cost;
                self.done(index, done.clone(), false)
            }
            Event::Recalled { call_id, answer } => {
                let done = Done::new(call_id, self.answer(*answer));
                self.done(index, done, true)
            }
            Event::Noticed { about, text } => self.remark(Remark::Notice {
                about: *about,
                text: text.clone(),
            }),
            Event::ToolsChanged { .. } => {
                self.tools = index;
                Change::ToolsChanged
            }
            Event::AdapterChanged {
                predictor,
                adapter,
                capabilities,
                why,
            } => self.remark(Remark::Adapter {
                predictor: *predictor,
                adapter: adapter.clone(),
                capabilities: *capabilities,
                why: why.clone(),
            }),
            Event::Asked(asked) => self.asked(started, record, asked),
            Event::Answered {
                confirmation_id,
                decision,
                by,
            } => match self.question(confirmation_id) {
                Some(question) => {
                    self.questions[question].answer(decision, *by);
                    if let Decision::Edit { name, args } = decision {
                        self.decide(question, |call| {
                            call.name.clone_from(name);
                            call.args.clone_from(args);
                            call.raw = None;
                        });
                    }
                    Change::Answered { question }
                }
                None => Change::Nothing,
            },
            Event::Withdrawn { confirmation_id } => match self.question(confirmation_id) {
                Some(question) => {
                    self.questions[question].reopen();
                    // The call is restored to what it was when the question was asked.
                    let before = self.questions[question].question.tool_call.clone();
                    self.decide(question, |call| *call = before);
                    Change::Withdrawn { question }
                }
                None => Change::Nothing,
            },
            Event::ConditionChecked { ends } => Change::ConditionChecked { ends: *ends },
            Event::LoopEnded { reason } => {
                self.loop_ended = Some(*reason);
                Change::LoopEnded { reason: *reason }
            }
            Event::Finished { reason } => self.end(*reason, None),
            Event::Failed { reason, message } => self.end(*reason, Some(message.clone())),
        }
    }

    fn replied(
        &mut self,
        started: &Started,
        index: usize,
        record: &Record,
        replied: &Arc<Replied>,
    ) -> Change {
        self.pay(started, replied);
        if let Reading::Step(stepped) = &replied.read {
            let number = self.steps.len() + 1;
            let step = Step::new(number, record.at, replied.clone(), stepped, index);
            self.outputs = step.outputs().cloned();
            self.steps.push(step);
            self.current = self.questions.len();
            return Change::Step;
        }
        match &replied.read {
            Reading::Outputs(outputs) => {
                let declared = started.agent.signature.outputs().iter();
                let declared = declared.filter_map(|field| {
                    let value = outputs.get(&field.name)?;
                    Some((field.name.clone(), value.clone()))
                });
                self.outputs = Some(declared.collect());
            }
            Reading::Condensed { call_id, summary } => {
                if let Some((call, step)) = self.call(call_id) {
                    step.calls[call].summary = Some(summary.clone());
                }
            }
            _ => {}
        }
        self.remark(Remark::Reply {
            at: record.at,
            replied: replied.clone(),
        })
    }

    /// The record at this index says what a call gave.
    fn done(&mut self, index: usize, done: Done, from_record: bool) -> Change {
        self.use_answers(&done.call_id);
        match self.call(&done.call_id) {
            Some((call, step)) => {
                let given = &mut step.calls[call];
                given.give(done, index);
                given.from_record = from_record;
                Change::CallDone { call }
            }
            None => Change::Nothing,
        }
    }

    fn asked(&mut self, started: &Started, record: &Record, asked: &Asked) -> Change {
        let Some((index, step)) = self.call(&asked.call_id) else {
            return Change::Nothing;
        };
        if asked.kind == QuestionKind::Clarify {
            step.calls[index].has_asked = true;
        }
        let thought = step.thought().trim().to_owned();
        let call = (*step.calls[index].call).clone();
        let expires_at = started.limits.expiry(record.at);
        // A changed tool is asked about again: earlier answers no longer apply.
        for known in &mut self.questions[self.current..] {
            if !known.is_used && known.question.tool_call.id == asked.call_id {
                known.is_used = true;
                known.status = ConfirmationStatus::Superseded;
            }
        }
        let question = Question::of(asked, call, thought, expires_at);
        self.questions.push(AskedQuestion::new(question));
        Change::Asked {
            question: self.questions.len() - 1,
        }
    }

    fn end(&mut self, reason: TerminationReason, failure: Option<String>) -> Change {
        for known in &mut self.questions {
            known.is_used = true;
            if known.status == ConfirmationStatus::Pending {
                known.status = ConfirmationStatus::Rejected;
            }
        }
        self.ended = Some(Ended { reason, failure });
        Change::Ended
    }

    /// Marks the answers about a call as used: they can't be withdrawn any more.
    fn use_answers(&mut self, call_id: &str) {
        for known in &mut self.questions[self.current..] {
            known.is_used |= known.decision.is_some() && known.question.tool_call.id == *call_id;
        }
    }

    fn question(&self, confirmation_id: &str) -> Option<usize> {
        let mut current = self.questions[self.current..].iter();
        let at = current.position(|known| known.question.confirmation_id == confirmation_id)?;
        Some(self.current + at)
    }

    fn decide(&mut self, question: usize, change: impl FnOnce(&mut Call)) {
        let id = self.questions[question].question.tool_call.id.clone();
        if let Some((call, step)) = self.call(&id) {
            change(Arc::make_mut(&mut step.calls[call].call));
        }
    }

    /// The call of the last step.
    fn call(&mut self, call_id: &str) -> Option<(usize, &mut Step)> {
        let step = self.steps.last_mut()?;
        Some((step.find(call_id)?, step))
    }

    /// The result in a record.
    fn answer(&self, position: u64) -> Arc<Observation> {
        let mut calls = self.steps.iter().rev().flat_map(|step| &step.calls);
        let known = calls.find(|call| call.done.is_some() && call.record as u64 == position);
        match known.and_then(|call| call.done.as_ref()) {
            Some(done) => done.observation.clone(),
            None => Arc::new(Observation::error("the answer is lost")),
        }
    }

    fn remark(&mut self, remark: Remark) -> Change {
        let step = self.steps.last_mut();
        let remarks = step.map_or(&mut self.before, |step| &mut step.after);
        remarks.push(remark.clone());
        Change::Remark(remark)
    }

    fn pay(&mut self, started: &Started, replied: &Replied) {
        self.usage += replied.reply.usage;
        let cost = started.agent.cost_of(replied);
        self.models_cost = self.models_cost.and_then(|known| Some(known + cost?));
    }

    /// The cost of the run; none if a price is unknown.
    pub(super) fn cost(&self) -> Option<f64> {
        Some(self.models_cost? + self.tools_cost)
    }
}
