//! Applies events to the state of a run.

use super::compact;
use super::refusal::Recovery;
use super::state::{CallState, CallStatus, Phase, RunState};
use crate::model::ModelErrorKind;
use crate::run::{
    Call, Change, Event, PlannedCall, PredictorName, Reading, Record, Replied, StepOutcome,
    TerminationReason, transcript,
};
use crate::signature::Values;

impl RunState {
    /// Applies an event. The position of the record must be the next one.
    pub fn apply(&mut self, record: Record) {
        self.take(record);
        self.refresh_step_prompt();
    }

    /// Applies the events of an earlier process.
    pub(super) fn apply_all(&mut self, records: impl IntoIterator<Item = Record>) {
        for record in records {
            self.take(record);
            // Only budgets depend on the prompts of past steps.
            if self.is_measured() {
                self.refresh_step_prompt();
            }
        }
        self.refresh_step_prompt();
    }

    fn take(&mut self, record: Record) {
        let change = self.run.push(record);
        self.fold(change);
        self.finish_step_if_done();
    }

    /// Applies a change in the run.
    fn fold(&mut self, change: Change) {
        match change {
            Change::Step => self.fold_step(),
            Change::Reply(replied) => self.fold_reply(&replied),
            Change::ConditionChecked { ends } => {
                self.conditioned = self.steps_taken();
                if ends && matches!(self.phase, Phase::Step) {
                    self.end_loop(TerminationReason::Custom);
                }
            }
            Change::LoopEnded { reason } => {
                if reason == TerminationReason::Timeout {
                    self.spend_step_time();
                }
                self.enter_answer(reason);
            }
            Change::Failure {
                predictor,
                kind,
                message,
            } => self.fold_failure(predictor, kind, message),
            Change::AdapterChanged {
                predictor,
                capabilities,
                ..
            } => self.fold_adapter(predictor, capabilities),
            Change::CallStarted { call } => self.fold_start(call),
            Change::CallDone { call, cost, .. } => self.fold_done(call, cost),
            Change::Noticed { about, text } => {
                self.notices.retain(|(waiting, _)| *waiting != about);
                self.told.insert(about);
                self.extend_step_prompt(&[transcript::noticed(&text)]);
                match self.answering {
                    // The notice itself may have used up the room.
                    Some(reason) if !self.can_demand() => self.enter_extract(reason),
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
    }

    /// Applies a reply that is not a step.
    fn fold_reply(&mut self, replied: &Replied) {
        self.spend(replied);
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
                (Phase::Demand(reason), PredictorName::Step) => self.enter_extract(*reason),
                _ => self.fold_misread(replied, problem),
            },
            Reading::Condensed { call_id, .. } => {
                if let Some(call) = self.call_mut(call_id) {
                    call.is_large = false;
                }
            }
            Reading::Judged { standing, .. } => self.fold_judgement(*standing),
            Reading::Summary { .. } => self.take_summary(),
            Reading::Step(_) => {}
        }
    }

    fn fold_failure(&mut self, predictor: PredictorName, kind: ModelErrorKind, why: String) {
        let Some(recovery) = self.recovery(predictor, kind) else {
            return;
        };
        match recovery {
            Recovery::Shorten => match predictor {
                PredictorName::Judge | PredictorName::Condense => self.do_without(predictor),
                _ => self.fold_overflow(predictor),
            },
            Recovery::Adapt(capabilities) => self.phase = self.change(capabilities, &why),
            Recovery::Plainer => self.wording.drop_schema(predictor),
            Recovery::Extract(reason) => {
                if kind == ModelErrorKind::Timeout {
                    self.spend_demand_time();
                }
                self.enter_extract(reason);
            }
        }
    }

    fn fold_done(&mut self, call: usize, cost: f64) {
        self.spent.cost += cost;
        let step = self.last_step();
        let done = step.and_then(|step| step.calls[call].done.as_ref());
        let is_large =
            done.is_some_and(|done| !done.from_record && self.is_to_condense(&done.observation));
        if let Some(call) = self.calls_mut().get_mut(call) {
            call.is_large = is_large;
            call.set_status(CallStatus::Done);
        }
    }

    fn fold_start(&mut self, call: usize) {
        let Some(call) = self.calls_mut().get_mut(call) else {
            return;
        };
        call.set_status(CallStatus::Started);
        if !std::mem::replace(&mut call.was_started, true) {
            self.spent.tool_calls += 1;
        }
    }

    fn fold_step(&mut self) {
        let Some(replied) = self.last_step().map(|step| step.replied.clone()) else {
            return;
        };
        let Some(stepped) = replied.stepped() else {
            return;
        };
        self.spend(&replied);
        for planned in &stepped.calls {
            self.ids.take(&planned.call.id);
        }
        let thought = replied.thought();
        if stepped.outcome == StepOutcome::Extract {
            return self.enter_extract(self.reason_of(thought, &Values::new()));
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
                self.phase = Phase::Act(calls);
            }
            StepOutcome::Submit | StepOutcome::Answer(_) => {
                let none = Values::new();
                let outputs = self.last_step().and_then(|step| step.outputs());
                let reason = self.reason_of(thought, outputs.unwrap_or(&none));
                self.phase = Phase::Record(Event::finished(reason));
            }
            StepOutcome::Extract => {}
            StepOutcome::Nudge(_) => {
                self.was_nudged = true;
                self.without_call += 1;
                self.show_last_step();
                self.continue_loop();
            }
        }
    }

    /// Adds the last step to the prompt.
    fn show_last_step(&mut self) {
        let entries = self
            .last_step()
            .map(transcript::stepped)
            .unwrap_or_default();
        self.extend_step_prompt(&entries);
    }

    /// Why a run with outputs ended: an announced failure is not a success.
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
            Some(_) => CallStatus::Done,
            None if planned.confirm || self.always_needs_approval(&planned.call) => {
                CallStatus::Unconfirmed
            }
            None => self.plan_unasked(&planned.call),
        };
        CallState {
            call: planned.call.clone(),
            status,
            tools: self.seen.at,
            asked_again: 0,
            asked: 0,
            answered: None,
            answers: Vec::new(),
            was_started: false,
            is_large: false,
        }
    }

    /// The state of a call that needs no approval: some are answered from the log.
    fn plan_unasked(&self, call: &Call) -> CallStatus {
        let spec = self.program.tool(&call.name).map(|(spec, _)| spec);
        if spec.is_some_and(|spec| spec.reads_record) {
            return CallStatus::settled(call, self.read_record(call));
        }
        if spec.is_some_and(|spec| spec.keeps_notes) {
            return CallStatus::settled(call, self.remember(call));
        }
        let reads_again =
            self.started().rules.reads_again || spec.is_some_and(|spec| spec.volatile);
        match self.progress.known(call) {
            Some(record) if !reads_again => {
                CallStatus::Settled(Box::new(Event::recalled(&call.id, record)))
            }
            _ => CallStatus::Ready,
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
                let Phase::Extract {
                    reason,
                    prompt,
                    misreads,
                } = &mut self.phase
                else {
                    return;
                };
                let (reason, misreads) = (*reason, *misreads + 1);
                if misreads <= limit {
                    let mut prompt = std::mem::take(prompt);
                    let (asked, adapter) = (&self.program.extract, self.wording.adapter(predictor));
                    asked.render_onto(adapter, &added, &mut prompt);
                    return self.ask_for_outputs(reason, prompt, misreads);
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
        // A summary is also a request.
        let room = self.room(PredictorName::Summarise, &self.step_prompt);
        if let (Some(covers), Ok(_)) = (compact::plan(self, self.overflow), room) {
            self.phase = Phase::Summarise { covers, then };
            return;
        }
        if then.is_none() {
            return self.end_loop(TerminationReason::TokenBudget);
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
        let Phase::Summarise { then, .. } = self.phase else {
            return;
        };
        self.rebuild_step_prompt();
        self.forget_prompt_size();
        match then {
            None => self.phase = Phase::Step,
            Some(reason) => self.enter_extract(reason),
        }
    }

    /// Adds a step whose calls are complete to the transcript.
    fn finish_step_if_done(&mut self) {
        let Phase::Act(calls) = &self.phase else {
            return;
        };
        let is_open = calls.iter().any(|state| state.status != CallStatus::Done);
        let Some(step) = self.run.steps().last().filter(|_| !is_open) else {
            return;
        };
        if self.condensing().is_some() {
            return;
        }
        let rules = &self.started().rules;
        self.is_unjudged = rules.judges && calls.iter().any(|call| call.was_started);
        let threshold = self.started().limits.stall_threshold;
        let finding = self.progress.take(step, threshold, &self.program);
        self.phase = Phase::Step;
        if finding.is_stalled {
            self.ending = self.ending.or(Some(TerminationReason::Stalled));
        }
        self.notices.extend(finding.notices);
        self.spent.time = self.spent.time.saturating_add(self.longest_call());
        self.show_last_step();
        self.continue_loop();
    }

    fn end_loop(&mut self, reason: TerminationReason) {
        self.phase = Phase::Record(Event::loop_ended(reason));
    }

    /// Continues with the next step, unless a limit is reached.
    pub(super) fn continue_loop(&mut self) {
        let limits = self.started().limits;
        let ending = if self.bad_in_row > limits.max_repairs {
            Some(TerminationReason::Failure)
        } else if self.ending.is_some() {
            self.ending
        } else if let Some(prompt) = self.judging() {
            self.phase = Phase::Judge(prompt);
            return;
        } else if self.steps_taken() >= limits.max_iterations {
            Some(TerminationReason::MaxIterations)
        } else {
            self.used_up()
        };
        if let Some(reason) = ending {
            return self.end_loop(reason);
        }
        if let Some((capabilities, why)) = self.lesser_model() {
            self.phase = self.change(capabilities, &why);
            return;
        }
        let notice = self.notices.pop_front().or_else(|| self.near_limit());
        self.phase = match notice {
            Some((about, text)) => Phase::Record(Event::noticed(about, text)),
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
