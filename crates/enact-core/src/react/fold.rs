//! Applies events to the state of a run.

use serde_json::Value;

use super::calls::CallStatus;
use super::compact;
use super::refusal::Recovery;
use super::state::{Phase, RunState};
use crate::model::ModelErrorKind;
use crate::run::{
    Change, Event, PredictorName, Reading, Record, Remark, Replied, StepOutcome, TerminationReason,
    transcript,
};
use crate::signature::Values;

impl RunState {
    /// Applies an event. The position of the record must be the next one.
    pub fn apply(&mut self, record: Record) {
        let change = self.run.push(record);
        self.fold(change);
        if self.calls().iter().all(|state| !state.is_large) {
            self.finish_step_if_done();
        }
        // Budgets look at the prompts of past steps.
        if self.budget.is_measured() {
            self.render();
        }
    }

    /// Applies a change in the run.
    fn fold(&mut self, change: Change) {
        match change {
            Change::Step => self.fold_step(),
            Change::Remark(remark) => self.fold_remark(remark),
            Change::ConditionChecked { ends } => {
                self.conditioned = self.steps_taken();
                if ends && matches!(self.phase, Phase::Step) {
                    self.ending = Some(TerminationReason::Custom);
                }
            }
            Change::LoopEnded { reason } => {
                if reason == TerminationReason::Timeout {
                    // The time of the steps is spent.
                    let left = self.budget.step_time_left();
                    self.budget.spend_time(left.unwrap_or_default());
                }
                self.phase = Phase::Demand(reason);
            }
            Change::CallStarted { call } => self.fold_start(call),
            Change::CallDone { call } => self.fold_done(call),
            Change::ToolsChanged => self.fold_tools(),
            Change::Asked { question } => self.fold_question(question),
            Change::Answered { question } => self.fold_answer(question),
            Change::Withdrawn { question } => self.fold_withdrawal(question),
            Change::Ended => self.phase = Phase::Ended,
            Change::Began | Change::Nothing => {}
        }
    }

    fn fold_remark(&mut self, remark: Remark) {
        match remark {
            Remark::Reply { replied, .. } => self.fold_reply(&replied),
            Remark::Failure {
                predictor,
                kind,
                message,
            } => self.fold_failure(predictor, kind, &message),
            Remark::Notice { about, .. } => self.notices.tell(about),
            Remark::Adapter {
                predictor,
                adapter,
                capabilities,
                ..
            } => self.fold_adapter(predictor, &adapter, capabilities),
        }
    }

    /// Takes in a reply that is no step.
    fn fold_reply(&mut self, replied: &Replied) {
        let cost = self.started().agent.cost_of(replied);
        self.budget.spend(replied, cost, &self.steps.prompt);
        self.extracts(replied.predictor);
        match &replied.read {
            Reading::Outputs(outputs) => {
                if let Phase::Extract { reason, .. } | Phase::Demand(reason) = self.phase {
                    let reason = match reason {
                        TerminationReason::Success => self.reason_of(&replied.reply.text, outputs),
                        other => other,
                    };
                    self.phase = Phase::Record(Event::finished(reason));
                }
            }
            Reading::Unreadable { problem } => match (&self.phase, replied.predictor) {
                (Phase::Demand(reason) | Phase::Extract { reason, .. }, PredictorName::Step) => {
                    self.phase = Phase::extract(*reason)
                }
                _ => self.fold_misread(replied, problem),
            },
            Reading::Condensed { call_id, .. } => {
                if let Some(state) = self.call_mut(call_id) {
                    state.is_large = false;
                }
            }
            Reading::Judged { standing, .. } => self.fold_judgement(*standing),
            Reading::Summary { .. } => self.take_summary(),
            Reading::Step(_) => {}
        }
    }

    fn fold_failure(&mut self, predictor: PredictorName, kind: ModelErrorKind, why: &str) {
        self.extracts(predictor);
        let Some(recovery) = self.recovery(predictor, kind) else {
            return;
        };
        match recovery {
            Recovery::Shorten => match predictor {
                PredictorName::Judge | PredictorName::Condense => self.do_without(predictor),
                _ => self.fold_overflow(predictor),
            },
            Recovery::Adapt(capabilities) => {
                self.phase = Phase::Record(self.change(capabilities, why));
            }
            Recovery::Plainer => self.wording.drop_schema(predictor),
            Recovery::Extract(reason) => {
                if kind == ModelErrorKind::Timeout {
                    // The time that the model had to submit is spent.
                    self.budget.spend_time(self.time_left().unwrap_or_default());
                }
                self.phase = Phase::extract(reason);
            }
        }
    }

    /// Who was asked says whether the outputs were demanded or extracted.
    fn extracts(&mut self, asked: PredictorName) {
        if let (PredictorName::Extract, Phase::Demand(reason)) = (asked, &self.phase) {
            self.phase = Phase::extract(*reason);
        }
    }

    fn fold_step(&mut self) {
        let Some(replied) = self.last_step().map(|step| step.replied.clone()) else {
            return;
        };
        let Some(stepped) = replied.stepped() else {
            return;
        };
        let cost = self.started().agent.cost_of(&replied);
        self.budget.spend(&replied, cost, &self.steps.prompt);
        for planned in &stepped.calls {
            self.ids.take(&planned.call.id);
        }
        let thought = replied.thought();
        if stepped.outcome == StepOutcome::Extract {
            self.phase = Phase::extract(self.reason_of(thought, &Values::new()));
            return;
        }
        self.overflow.reset();
        self.ending = self.started().rules.ending(thought);
        match &stepped.outcome {
            StepOutcome::Act => {
                self.patience.was_nudged = false;
                self.patience.without_call = 0;
                let is_bad = stepped
                    .calls
                    .iter()
                    .all(|planned| planned.refusal.is_some());
                self.patience.bad_in_row = if is_bad {
                    self.patience.bad_in_row + 1
                } else {
                    0
                };
                self.phase = Phase::Act(self.plan_calls());
            }
            StepOutcome::Submit | StepOutcome::Answer(_) => {
                let none = Values::new();
                let reason = self.reason_of(thought, replied.committed().unwrap_or(&none));
                self.phase = Phase::Record(Event::finished(reason));
            }
            StepOutcome::Extract => {}
            StepOutcome::Nudge(_) => {
                self.patience.was_nudged = true;
                self.patience.without_call += 1;
                self.phase = Phase::Step;
            }
        }
    }

    /// Why a run ends that came to its outputs by itself: to say that the task failed is no success.
    fn reason_of(&self, thought: &str, outputs: &Values) -> TerminationReason {
        let rules = &self.started().rules;
        let mut said = vec![thought];
        outputs
            .values()
            .for_each(|value| add_texts(value, &mut said));
        if rules.admits_failure(said) {
            TerminationReason::Failure
        } else {
            TerminationReason::Success
        }
    }

    fn fold_misread(&mut self, replied: &Replied, problem: &str) {
        let predictor = replied.predictor;
        match predictor {
            PredictorName::Step => {
                self.patience.bad_in_row += 1;
                self.patience.without_call = match replied.reply.calls.is_empty() {
                    true => self.patience.without_call + 1,
                    false => 0,
                };
            }
            PredictorName::Summarise => self.fold_overflow(predictor),
            PredictorName::Judge | PredictorName::Condense => self.do_without(predictor),
            PredictorName::Extract => {
                let limit = self.started().limits.max_repairs;
                let Phase::Extract {
                    reason,
                    added,
                    misreads,
                    ..
                } = &mut self.phase
                else {
                    return;
                };
                *misreads += 1;
                let (reason, misreads) = (*reason, *misreads);
                if misreads <= limit {
                    added.extend(transcript::unreadable(replied, problem));
                    return;
                }
                let message = format!(
                    "no outputs: {misreads} replies could not be read; the last problem: {problem}"
                );
                let reason = match reason {
                    TerminationReason::Success => TerminationReason::Failure,
                    other => other,
                };
                self.phase = Phase::Record(Event::failed(reason, message));
            }
        }
    }

    /// The prompt of a predictor did not fit: shorten the transcript, or give up.
    fn fold_overflow(&mut self, predictor: PredictorName) {
        let then = match (&self.phase, predictor) {
            (Phase::Summarise { then, .. }, _) => *then,
            (Phase::Extract { reason, .. }, _) => Some(*reason),
            _ => None,
        };
        self.overflow.count();
        // A summary is a request, too.
        let room = self.room(PredictorName::Summarise, &self.steps.prompt);
        if let (Some(covers), Ok(_)) = (compact::plan(self, self.overflow), room) {
            self.phase = Phase::Summarise { covers, then };
            return;
        }
        if then.is_none() {
            self.phase = Phase::Record(Event::loop_ended(TerminationReason::TokenBudget));
            return;
        }
        let message = format!(
            "the prompt does not fit into the model's context, even after {} attempts to shorten \
             it: use a model with a larger context or shorter inputs",
            self.overflow.attempts()
        );
        self.phase = Phase::Record(Event::failed(TerminationReason::TokenBudget, message));
    }

    /// A summary replaces what it covers.
    fn take_summary(&mut self) {
        self.steps.forget();
        self.budget.forget_prompt_size();
        if let Phase::Summarise { then, .. } = self.phase {
            self.phase = then.map_or(Phase::Step, Phase::extract);
        }
    }

    /// A step whose calls are all done joins the transcript.
    pub(super) fn finish_step_if_done(&mut self) {
        let Phase::Act(calls) = &self.phase else {
            return;
        };
        let is_open = calls.iter().any(|state| state.status != CallStatus::Done);
        let Some(step) = self.run.steps().last().filter(|_| !is_open) else {
            return;
        };
        let rules = &self.started().rules;
        self.is_unjudged = rules.judges && step.calls.iter().any(|call| call.attempts > 0);
        let threshold = self.started().limits.stall_threshold;
        let finding = self.progress.take(step, threshold, &self.program);
        self.phase = Phase::Step;
        if finding.is_stalled {
            self.ending = self.ending.or(Some(TerminationReason::Stalled));
        }
        self.notices.waiting.extend(finding.notices);
        self.budget.spend_time(self.longest_call());
    }
}

/// Adds the texts in a value, however deep.
fn add_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|value| add_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
