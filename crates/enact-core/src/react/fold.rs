//! Taking events into the state of a run.

use std::sync::Arc;
use std::time::Duration;

use super::compact;
use super::ending::Answer;
use super::refusal::Recovery;
use super::spending::Room;
use super::state::{Acting, AfterSummary, CallState, CallStatus, Phase, RunState};
use crate::model::{ModelErrorKind, Usage};
use crate::run::{
    Call, Change, Observation, PlannedCall, PredictorName, Reading, Record, Replied, StepOutcome,
    TerminationReason, transcript,
};
use crate::signature::Values;

impl RunState {
    /// Takes an event into the state. The record's position must be the next one.
    pub fn apply(&mut self, record: Record) {
        self.take(record);
        self.refresh_step_prompt();
    }

    /// Takes the events of an earlier process into the state.
    pub(super) fn apply_all(&mut self, records: impl IntoIterator<Item = Record>) {
        for record in records {
            self.take(record);
            // Only budgets look at the prompts of past steps.
            if self.is_measured() {
                self.refresh_step_prompt();
            }
        }
        self.refresh_step_prompt();
    }

    fn take(&mut self, record: Record) {
        let change = self.run.push(record);
        match self.fold(change) {
            Some(Answer::Demand(reason)) => self.enter_answer(reason),
            Some(Answer::Extract(reason)) => self.enter_extract(reason),
            None => {}
        }
        self.finish_step_if_done();
    }

    /// Takes in what a record changed. Says how the outputs are to be had, when that comes next.
    fn fold(&mut self, change: Change) -> Option<Answer> {
        match change {
            Change::Step => return self.fold_step(),
            Change::Reply(replied) => return self.fold_reply(&replied),
            Change::ConditionChecked { ends } => {
                self.conditioned = self.iterations;
                if ends && matches!(self.phase, Phase::Step) {
                    self.phase = Phase::EndLoop(TerminationReason::Custom);
                }
            }
            Change::LoopEnded { reason } => {
                if reason == TerminationReason::Timeout {
                    self.spend_step_time();
                }
                return Some(Answer::Demand(reason));
            }
            Change::Failure {
                predictor,
                kind,
                message,
            } => return self.fold_failure(predictor, kind, message),
            Change::AdapterChanged {
                predictor,
                capabilities,
                ..
            } => self.fold_adapter(predictor, capabilities),
            Change::CallStarted { call } => self.fold_start(call),
            Change::CallDone { call, usage, cost } => self.fold_done(call, usage, cost),
            Change::Noticed { about, text } => {
                self.notices.retain(|(waiting, _)| *waiting != about);
                self.told.insert(about);
                self.extend_step_prompt(&[transcript::noticed(&text)]);
                match self.answering {
                    // The notice itself may have taken the room.
                    Some(reason) if !self.can_demand() => return Some(Answer::Extract(reason)),
                    Some(reason) => self.phase = Phase::Demand(reason),
                    None => self.continue_loop(),
                }
            }
            Change::ToolsChanged => self.fold_tools(),
            Change::Asked { question } => self.fold_question(question),
            Change::Answered { question } => self.fold_answer(question),
            Change::Withdrawn { question } => self.fold_withdrawal(question),
            Change::Ended => self.phase = Phase::Ended,
            Change::Began | Change::Nothing => {}
        }
        None
    }

    /// Takes in a reply that is no step.
    fn fold_reply(&mut self, replied: &Replied) -> Option<Answer> {
        self.spend(replied);
        match &replied.read {
            Reading::Outputs(outputs) => {
                if let Phase::Extract { reason, .. } | Phase::Demand(reason) = self.phase {
                    self.phase = Phase::Commit(match reason {
                        TerminationReason::Success => self.reason_of(&replied.reply.text, outputs),
                        other => other,
                    });
                }
            }
            Reading::Unreadable { problem } => {
                if let (Phase::Demand(reason), PredictorName::Step) =
                    (&self.phase, replied.predictor)
                {
                    return Some(Answer::Extract(*reason));
                }
                self.fold_misread(replied, problem);
            }
            Reading::Condensed { call_id, summary } => self.fold_condensed(call_id, summary),
            Reading::Judged { standing, .. } => self.fold_judgement(*standing),
            Reading::Summary { .. } => self.take_summary(),
            Reading::Step(_) => {}
        }
        None
    }

    fn fold_failure(
        &mut self,
        predictor: PredictorName,
        kind: ModelErrorKind,
        why: String,
    ) -> Option<Answer> {
        match self.recovery(predictor, kind)? {
            Recovery::Shorten => match predictor {
                PredictorName::Judge | PredictorName::Condense => self.do_without(predictor),
                _ => self.fold_overflow(predictor),
            },
            Recovery::Adapt(capabilities) => self.phase = Phase::Adapt { capabilities, why },
            Recovery::Plainer => self.wording.drop_schema(predictor),
            Recovery::Extract(reason) => {
                if kind == ModelErrorKind::Timeout {
                    self.spend_demand_time();
                }
                return Some(Answer::Extract(reason));
            }
        }
        None
    }

    fn fold_done(&mut self, call: usize, usage: Usage, cost: f64) {
        self.spent.usage += usage;
        self.spent.cost += cost;
        let step = self.run.steps().last();
        let Some(done) = step.and_then(|step| step.calls[call].done.as_ref()) else {
            return;
        };
        let (duration, record, is_from_record) = (done.duration, done.record, done.from_record);
        let observation = done.observation.clone();
        let is_large = !is_from_record && self.is_to_condense(&observation);
        if let Some(call) = self.acting_call(call) {
            call.is_large = is_large;
            call.duration = duration;
            call.is_from_record = is_from_record;
            call.ran = call.was_started.then_some(record);
            call.set_status(CallStatus::Done(observation));
        }
    }

    fn fold_start(&mut self, call: usize) {
        let Some(call) = self.acting_call(call) else {
            return;
        };
        call.set_status(CallStatus::Started);
        if !std::mem::replace(&mut call.was_started, true) {
            self.spent.tool_calls += 1;
        }
    }

    fn fold_step(&mut self) -> Option<Answer> {
        let step = self.run.steps().last()?;
        let (record, replied) = (step.record, step.replied.clone());
        let stepped = replied.stepped()?;
        self.spend(&replied);
        self.iterations += 1;
        for planned in &stepped.calls {
            self.ids.take(&planned.call.id);
        }
        let thought = replied.thought();
        if stepped.outcome == StepOutcome::Extract {
            return Some(Answer::Extract(self.reason_of(thought, &Values::new())));
        }
        self.overflow.reset();
        self.ending = self.started().rules.ending(thought);
        match &stepped.outcome {
            StepOutcome::Act => {
                self.was_nudged = false;
                self.without_call = 0;
                let is_bad = stepped
                    .calls
                    .iter()
                    .all(|planned| planned.refusal.is_some());
                self.bad_in_row = if is_bad { self.bad_in_row + 1 } else { 0 };
                let calls = stepped
                    .calls
                    .iter()
                    .map(|planned| self.plan(planned))
                    .collect();
                self.phase = Phase::Act(Acting { record, calls });
            }
            StepOutcome::Submit | StepOutcome::Answer(_) => {
                let none = Values::new();
                let outputs = self.run.steps().last().and_then(|step| step.outputs());
                self.phase = Phase::Commit(self.reason_of(thought, outputs.unwrap_or(&none)));
            }
            StepOutcome::Extract => {}
            StepOutcome::Nudge(_) => {
                self.was_nudged = true;
                self.without_call += 1;
                self.show_last_step();
                self.continue_loop();
            }
        }
        None
    }

    /// The last step joins the prompt.
    fn show_last_step(&mut self) {
        let step = self.run.steps().last();
        let entries = step.map(transcript::stepped).unwrap_or_default();
        self.extend_step_prompt(&entries);
    }

    /// Why a run ends that came to its outputs by itself: to say that the task failed is no success.
    fn reason_of(&self, thought: &str, outputs: &Values) -> TerminationReason {
        let rules = &self.started().rules;
        let said = outputs.values().filter_map(serde_json::Value::as_str);
        if rules.admits_failure([thought].into_iter().chain(said)) {
            TerminationReason::Failure
        } else {
            TerminationReason::Success
        }
    }

    fn plan(&self, planned: &PlannedCall) -> CallState {
        let status = match &planned.refusal {
            Some(refusal) => CallStatus::Done(Arc::new(Observation::error(refusal.clone()))),
            None if planned.confirm || self.always_needs_approval(&planned.call) => {
                CallStatus::Unconfirmed
            }
            None if self.is_reader(&planned.call) => {
                CallStatus::Decided(self.read_record(&planned.call))
            }
            None if self.is_memory(&planned.call) => {
                CallStatus::Decided(self.remember(&planned.call))
            }
            None => match self.progress.known(&planned.call) {
                Some(record) if !self.reads_again(&planned.call) => CallStatus::Known(record),
                _ => CallStatus::Ready,
            },
        };
        CallState {
            call: planned.call.clone(),
            status,
            tools: self.seen.at,
            asked_again: 0,
            asked: 0,
            answered: None,
            answers: Vec::new(),
            duration: Duration::ZERO,
            was_started: false,
            ran: None,
            is_from_record: false,
            is_refused: planned.refusal.is_some(),
            is_large: false,
        }
    }

    fn is_reader(&self, call: &Call) -> bool {
        let tool = self.program.tool(&call.name);
        tool.is_some_and(|(spec, _)| spec.reads_record)
    }

    fn is_memory(&self, call: &Call) -> bool {
        let tool = self.program.tool(&call.name);
        tool.is_some_and(|(spec, _)| spec.keeps_notes)
    }

    /// Whether a call runs although its answer is known.
    fn reads_again(&self, call: &Call) -> bool {
        let tool = self.program.tool(&call.name);
        self.started().rules.reads_again || tool.is_some_and(|(spec, _)| spec.volatile)
    }

    pub(super) fn acting_call(&mut self, call: usize) -> Option<&mut CallState> {
        match &mut self.phase {
            Phase::Act(acting) => acting.calls.get_mut(call),
            _ => None,
        }
    }

    fn fold_misread(&mut self, replied: &Replied, problem: &str) {
        let added = transcript::unreadable(replied, problem);
        let predictor = replied.predictor;
        match predictor {
            PredictorName::Step => {
                self.bad_in_row += 1;
                self.without_call = match replied.reply.calls.is_empty() {
                    true => self.without_call + 1,
                    false => 0,
                };
                self.extend_step_prompt(&added);
                self.continue_loop();
            }
            PredictorName::Summarise => self.fold_overflow(predictor),
            PredictorName::Judge | PredictorName::Condense => self.do_without(predictor),
            PredictorName::Extract => {
                let limit = self.started().limits.max_repairs;
                if let Phase::Extract {
                    reason,
                    prompt,
                    misreads,
                } = &mut self.phase
                {
                    let (reason, misreads) = (*reason, *misreads + 1);
                    if misreads > limit {
                        let message = format!(
                            "no outputs: {misreads} replies could not be read; the last problem: {problem}"
                        );
                        let reason = match reason {
                            TerminationReason::Success => TerminationReason::Failure,
                            other => other,
                        };
                        self.phase = Phase::Fail { reason, message };
                    } else {
                        let mut prompt = std::mem::take(prompt);
                        let adapter = self.wording.adapter(predictor);
                        self.program
                            .extract
                            .render_onto(adapter, &added, &mut prompt);
                        self.ask_for_outputs(reason, prompt, misreads);
                    }
                }
            }
        }
    }

    /// The prompt of a predictor did not fit: shorten the transcript, or give up.
    fn fold_overflow(&mut self, predictor: PredictorName) {
        let then = match (&self.phase, predictor) {
            (Phase::Summarise { then, .. }, _) => *then,
            (Phase::Extract { reason, .. }, _) => AfterSummary::Extract(*reason),
            _ => AfterSummary::Step,
        };
        self.overflow.count();
        // A summary is a request, too.
        let room = self.room(PredictorName::Summarise, &self.step_prompt);
        if let (Some(covers), false) = (
            compact::plan(self, self.overflow),
            matches!(room, Room::None(_)),
        ) {
            self.phase = Phase::Summarise { covers, then };
            return;
        }
        self.phase = match then {
            AfterSummary::Step => Phase::EndLoop(TerminationReason::TokenBudget),
            AfterSummary::Extract(_) => Phase::Fail {
                reason: TerminationReason::TokenBudget,
                message: format!(
                    "the prompt does not fit into the model's context, even after {} attempts to \
                     shorten it: use a model with a larger context or shorter inputs",
                    self.overflow.attempts()
                ),
            },
        };
    }

    /// A summary takes the place of what it covers.
    fn take_summary(&mut self) {
        let Phase::Summarise { then, .. } = self.phase else {
            return;
        };
        self.rebuild_step_prompt();
        self.forget_prompt_size();
        match then {
            AfterSummary::Step => self.phase = Phase::Step,
            AfterSummary::Extract(reason) => self.enter_extract(reason),
        }
    }

    /// A step whose calls are all done joins the transcript.
    fn finish_step_if_done(&mut self) {
        let Phase::Act(acting) = &self.phase else {
            return;
        };
        let is_done = |state: &CallState| matches!(state.status, CallStatus::Done(_));
        if !acting.calls.iter().all(is_done) || self.condensing(acting).is_some() {
            return;
        }
        let Phase::Act(acting) = std::mem::replace(&mut self.phase, Phase::Step) else {
            return;
        };
        let longest = acting.calls.iter().map(|call| call.duration).max();
        self.is_unjudged =
            self.started().rules.judges && acting.calls.iter().any(|call| call.was_started);
        let threshold = self.run.started().limits.stall_threshold;
        let finding = self.progress.take(acting, threshold, &self.program);
        if finding.is_stalled {
            self.ending = self.ending.or(Some(TerminationReason::Stalled));
        }
        self.notices.extend(finding.notices);
        self.spent.time = self.spent.time.saturating_add(longest.unwrap_or_default());
        self.show_last_step();
        self.continue_loop();
    }

    /// Goes on with the next step, unless a limit is reached.
    pub(super) fn continue_loop(&mut self) {
        let limits = self.started().limits;
        let ending = if self.bad_in_row > limits.max_repairs {
            Some(TerminationReason::Failure)
        } else if self.ending.is_some() {
            self.ending
        } else if let Some(prompt) = self.judging() {
            self.phase = Phase::Judge(prompt);
            return;
        } else if self.iterations >= limits.max_iterations {
            Some(TerminationReason::MaxIterations)
        } else {
            self.used_up()
        };
        if let Some(reason) = ending {
            self.phase = Phase::EndLoop(reason);
            return;
        }
        if let Some((capabilities, why)) = self.lesser_model() {
            self.phase = Phase::Adapt { capabilities, why };
            return;
        }
        let notice = self.notices.pop_front().or_else(|| self.near_limit());
        self.phase = match notice {
            Some((about, text)) => Phase::Notice(about, text),
            None => Phase::Step,
        };
    }
}

impl CallState {
    fn set_status(&mut self, status: CallStatus) {
        self.status = status;
        // The answer has been used.
        self.answered = None;
    }
}
