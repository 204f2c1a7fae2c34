//! The calls of the step under way: what comes next of each.

use std::time::Duration;

use super::from_log;
use super::identity::in_doubt;
use super::state::{Next, Phase, RunState, ToolCall};
use crate::run::{
    Answerer, Call, Decision, Event, Observation, PredictorName, QuestionKind, StepCall,
};

/// What a run knows of a call under way, beside what its [step](StepCall) says.
#[derive(Debug)]
pub(super) struct CallState {
    /// Its place in the step.
    pub(super) index: usize,
    pub(super) status: CallStatus,
    /// The record of the tools that it was made for, or that a person was asked about.
    pub(super) tools: usize,
    /// How often a person was asked again because the tool has changed.
    pub(super) asked_again: usize,
    /// The questions that were asked about it.
    pub(super) asked: usize,
    /// The last of them, for when its answer is taken back before it was used.
    pub(super) answered: Option<usize>,
    /// What a person answered to the tool's own questions.
    pub(super) answers: Vec<(String, String)>,
    /// What it gave is too large for a prompt, and is to be summarised.
    pub(super) is_large: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum CallStatus {
    /// Has to be confirmed first.
    Unconfirmed,
    /// A person was asked this question of the run.
    Asked(usize),
    /// What it gives is known without running it, and is to be written down.
    Settled(Box<Event>),
    Ready,
    Started,
    /// Was started by a process that is gone: nobody knows whether it happened.
    InDoubt,
    Done,
}

impl CallState {
    fn set_status(&mut self, status: CallStatus) {
        self.status = status;
        // The answer has been used.
        self.answered = None;
    }
}

impl CallStatus {
    /// A call that gives this without running.
    pub(super) fn settled(call_id: &str, observation: Observation) -> Self {
        Self::Settled(Box::new(Event::tool_decided(call_id, observation)))
    }
}

impl RunState {
    /// What comes next about these calls.
    pub(super) fn next_action(&self, calls: &[CallState]) -> Next {
        let mut ready = Vec::new();
        let mut questions = Vec::new();
        let mut is_running = false;
        for state in calls {
            if let Some(event) = self.after_change(state) {
                return Next::Record(event);
            }
            match &state.status {
                CallStatus::Unconfirmed => {
                    return Next::Record(Event::asked(self.confirm(state)));
                }
                CallStatus::InDoubt if !self.may_repeat(self.call(state)) => {
                    return Next::Record(if self.started().is_unattended {
                        let call = self.call(state);
                        Event::tool_decided(&call.id, in_doubt(call))
                    } else {
                        Event::asked(self.about(state, QuestionKind::InDoubt))
                    });
                }
                CallStatus::Settled(event) => return Next::Record((**event).clone()),
                CallStatus::Asked(question) => {
                    let question = self.question(*question);
                    let is_confirmed = question.kind == QuestionKind::Confirm;
                    if is_confirmed && self.is_tool_allowed(&question.tool_call.name) {
                        return Next::Record(Event::answered(
                            &question.confirmation_id,
                            Decision::Approve,
                            Answerer::Rule,
                        ));
                    }
                    questions.push(question.clone());
                }
                CallStatus::Ready | CallStatus::InDoubt => {
                    if !self.has_to_wait(calls, state.index) {
                        ready.push(self.tool_call(state));
                    }
                }
                CallStatus::Started => is_running = true,
                CallStatus::Done => {}
            }
        }
        if !ready.is_empty() {
            // Those that run side by side share what is left.
            let tokens = self
                .budget
                .tokens_left(&self.steps.prompt)
                .map(|left| left / ready.len() as u64);
            let money = self
                .budget
                .money_left(&self.steps.prompt)
                .map(|left| left / ready.len() as f64);
            let time = self
                .time_left()
                .map(|left| left.saturating_sub(self.longest_call()));
            for call in &mut ready {
                call.tokens_left = tokens;
                call.money_left = money;
                call.time_left = time;
            }
            Next::Tools(ready)
        } else if is_running {
            Next::Wait
        } else if let Some((_, prompt)) = self.condensing() {
            self.ask(PredictorName::Condense, prompt)
        } else {
            Next::Human(questions)
        }
    }

    /// How long the calls of the last step took that gave something, side by side.
    pub(super) fn longest_call(&self) -> Duration {
        let calls = self.last_step().map_or(&[][..], |step| &step.calls);
        let done = calls.iter().filter_map(|call| call.done.as_ref());
        done.map(|done| done.duration).max().unwrap_or_default()
    }

    fn tool_call(&self, state: &CallState) -> ToolCall {
        let (run, step) = (&self.run, self.last_step().map_or(0, |step| step.record));
        ToolCall {
            call: self.step_call(state).call.clone(),
            tools: self.tools_of(state),
            idempotency_key: format!("{}:{step}:{}", run.id(), state.index),
            answers: state.answers.clone(),
            tokens_left: None,
            money_left: None,
            time_left: None,
        }
    }

    /// The calls that were started and have given nothing.
    pub fn open_calls(&self) -> Vec<ToolCall> {
        let calls = self.calls().iter();
        calls
            .filter(|state| self.was_started(state) && state.status != CallStatus::Done)
            .map(|state| self.tool_call(state))
            .collect()
    }

    /// Whether a serial tool is still busy with an earlier call of this step.
    fn has_to_wait(&self, calls: &[CallState], index: usize) -> bool {
        let name = &self.call(&calls[index]).name;
        self.program.tool(name).is_some_and(|(spec, _)| spec.serial)
            && calls[..index].iter().any(|earlier| {
                self.call(earlier).name == *name && earlier.status != CallStatus::Done
            })
    }

    /// The calls of the step under way.
    pub(super) fn calls(&self) -> &[CallState] {
        match &self.phase {
            Phase::Act(calls) => calls,
            _ => &[],
        }
    }

    pub(super) fn calls_mut(&mut self) -> &mut [CallState] {
        match &mut self.phase {
            Phase::Act(calls) => calls,
            _ => &mut [],
        }
    }

    /// What the log says of a call under way.
    pub(super) fn step_call(&self, state: &CallState) -> &StepCall {
        self.run.call(state.index)
    }

    /// What will run, or ran.
    pub(super) fn call(&self, state: &CallState) -> &Call {
        &self.step_call(state).call
    }

    pub(super) fn was_started(&self, state: &CallState) -> bool {
        self.step_call(state).attempts > 0
    }

    /// The call of this id in the step under way.
    pub(super) fn find_call(&self, id: &str) -> Option<&CallState> {
        self.calls().get(self.last_step()?.find(id)?)
    }

    pub(super) fn call_mut(&mut self, id: &str) -> Option<&mut CallState> {
        let index = self.last_step()?.find(id)?;
        self.calls_mut().get_mut(index)
    }

    pub(super) fn fold_start(&mut self, call: usize) {
        if let Some(state) = self.calls_mut().get_mut(call) {
            state.set_status(CallStatus::Started);
            if self.run.call(call).attempts == 1 {
                self.budget.count_call();
            }
        }
    }

    pub(super) fn fold_done(&mut self, call: usize) {
        let given = self.run.call(call);
        let Some(done) = &given.done else {
            return;
        };
        let is_large = !given.from_record && self.is_to_condense(&done.observation);
        self.budget.spend_on_call(done);
        if let Some(state) = self.calls_mut().get_mut(call) {
            state.is_large = is_large;
            state.set_status(CallStatus::Done);
        }
    }

    /// What becomes of the calls of the last step.
    pub(super) fn plan_calls(&self) -> Vec<CallState> {
        let calls = self.last_step().map_or(&[][..], |step| &step.calls);
        let calls = calls.iter().enumerate();
        calls
            .map(|(index, planned)| CallState {
                index,
                status: self.plan(planned),
                tools: self.seen.at,
                asked_again: 0,
                asked: 0,
                answered: None,
                answers: Vec::new(),
                is_large: false,
            })
            .collect()
    }

    fn plan(&self, planned: &StepCall) -> CallStatus {
        match &planned.refusal {
            Some(_) => CallStatus::Done,
            None if planned.confirm || self.always_needs_approval(&planned.call) => {
                CallStatus::Unconfirmed
            }
            None => self.plan_unasked(&planned.call),
        }
    }

    /// What becomes of a call that nobody has to agree to: some are answered from the log.
    fn plan_unasked(&self, call: &Call) -> CallStatus {
        let spec = self.program.tool(&call.name).map(|(spec, _)| spec);
        if spec.is_some_and(|spec| spec.reads_record) {
            let limit = self.started().limits.max_observation_tokens;
            return CallStatus::settled(&call.id, from_log::page(&self.run, limit, call));
        }
        if spec.is_some_and(|spec| spec.keeps_notes) {
            return CallStatus::settled(&call.id, from_log::notes(&self.run, &self.program, call));
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
}
