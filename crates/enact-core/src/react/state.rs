//! The state of a run: folded from its log, and what comes next.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::compact::{self, Overflow};
use super::identity::{Allowed, Seen, in_doubt};
use super::ids::CallIds;
use super::program::Program;
use super::progress::Progress;
use super::spending::Spent;
use super::wording::Wording;
use crate::adapter::Live;
use crate::model::{Prompt, Request};
use crate::run::{
    Answerer, Call, Decision, Entry, Event, Notice, Observation, PredictorName, Question,
    QuestionKind, Record, Run, RunError, Started, Step, TerminationReason,
};

/// What a driver has to do next.
#[derive(Debug)]
pub enum Next {
    /// Record this event, without an effect outside the log.
    Record(Event),
    /// Ask a model, and pass the result to [`RunState::read`].
    Model(ModelCall),
    /// Start these calls, each after recording its `ToolStarted`.
    Tools(Vec<ToolCall>),
    /// Wait for a call that is running.
    Wait,
    /// Check the custom condition for ending the loop after the last step.
    Condition,
    /// Wait for a person: these questions are open, and nothing else can be done.
    Human(Vec<Question>),
    /// Nothing: the run is over.
    Done,
}

/// A request to a model by a predictor.
#[derive(Debug, Clone)]
pub struct ModelCall {
    /// The predictor.
    pub predictor: PredictorName,
    /// The request.
    pub request: Request,
}

/// A tool call that can run.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The call.
    pub call: Arc<Call>,
    /// The same for every attempt at this call, in every process.
    pub idempotency_key: String,
    /// The record of the tools for which the call was approved.
    pub tools: usize,
    /// The answers to questions of this call: question, answer.
    pub answers: Vec<(String, String)>,
    /// The tokens that it can spend on models of its own, if they are limited.
    pub tokens_left: Option<u64>,
    /// The money that it can spend on them, if it is limited.
    pub money_left: Option<f64>,
    /// The time limit besides that of its tool, if any.
    pub time_left: Option<Duration>,
}

#[derive(Debug)]
pub(super) enum Phase {
    Step,
    /// An event to record.
    Record(Event),
    /// The same: the model of the steps lacks a capability.
    Adapt(Event),
    Act(Vec<CallState>),
    /// A model judges whether the task is done.
    Judge(Prompt),
    Summarise {
        covers: usize,
        /// Why the loop ended, if it has: the outputs are to be extracted.
        then: Option<TerminationReason>,
    },
    /// The loop ended, and the model is to submit its outputs with the same transcript.
    Demand(TerminationReason),
    Extract {
        reason: TerminationReason,
        prompt: Prompt,
        misreads: u32,
    },
    Ended,
}

/// The state of a current call that is not in the log.
#[derive(Debug)]
pub(super) struct CallState {
    /// What will run, or ran: the planned call, or a person's edit.
    pub(super) call: Arc<Call>,
    pub(super) status: CallStatus,
    /// The record of the tools that it was made for, or that a person was asked about.
    pub(super) tools: usize,
    /// How often a person was asked again because the tool has changed.
    pub(super) asked_again: usize,
    /// The questions about it.
    pub(super) asked: usize,
    /// The last of them, in case its answer is withdrawn before it is used.
    pub(super) answered: Option<usize>,
    /// The answers to the tool's own questions.
    pub(super) answers: Vec<(String, String)>,
    pub(super) was_started: bool,
    /// Its result is too large for a prompt, and is to be summarised.
    pub(super) is_large: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum CallStatus {
    /// Needs approval first.
    Unconfirmed,
    /// A person was asked this question of the run.
    Asked(usize),
    /// Its result is known without running it, and has to be recorded.
    Settled(Box<Event>),
    Ready,
    Started,
    /// It was started by a process that has ended: it is unknown whether it happened.
    InDoubt,
    Done,
}

/// The state of a run.
#[derive(Debug)]
pub struct RunState {
    pub(super) program: Arc<Program>,
    pub(super) wording: Wording,
    pub(super) run: Run,
    pub(super) phase: Phase,
    pub(super) step_prompt: Prompt,
    /// Whether the prompt has to be rebuilt, because older thoughts are removed from it.
    pub(super) prompt_is_stale: bool,
    /// The ids of calls in the conversation so far.
    pub(super) ids: CallIds,
    /// Consecutive replies that could not be read or called nothing that exists.
    pub(super) bad_in_row: u32,
    pub(super) was_nudged: bool,
    /// Consecutive replies without a call.
    pub(super) without_call: u32,
    /// Why the loop ended, if it has.
    pub(super) answering: Option<TerminationReason>,
    pub(super) overflow: Overflow,
    /// What a person allowed for the rest of the run, by the name of the tool.
    pub(super) allowed: HashMap<String, Allowed>,
    pub(super) seen: Seen,
    pub(super) spent: Spent,
    pub(super) progress: Progress,
    /// The notice for the model before the next step.
    pub(super) notices: VecDeque<(Notice, String)>,
    /// The notices so far.
    pub(super) told: HashSet<Notice>,
    /// Whether a model is to judge the task after the last step.
    pub(super) is_unjudged: bool,
    /// The steps after which the custom condition was checked.
    pub(super) conditioned: u32,
    /// Why the loop is to end after this step, other than by a limit.
    pub(super) ending: Option<TerminationReason>,
    /// The size in bytes of what a step's request contains besides its messages.
    pub(super) frame_bytes: usize,
}

impl RunState {
    /// The state after the first record of a run.
    pub fn begin(
        program: Arc<Program>,
        wording: Wording,
        record: Record,
    ) -> Result<Self, RunError> {
        let mut state = Self {
            program,
            wording,
            run: Run::try_from(vec![record])?,
            phase: Phase::Step,
            step_prompt: Prompt::new(),
            prompt_is_stale: false,
            ids: CallIds::default(),
            bad_in_row: 0,
            was_nudged: false,
            without_call: 0,
            answering: None,
            overflow: Overflow::default(),
            allowed: HashMap::new(),
            seen: Seen::default(),
            spent: Spent::default(),
            progress: Progress::default(),
            notices: VecDeque::new(),
            told: HashSet::new(),
            is_unjudged: false,
            conditioned: 0,
            ending: None,
            frame_bytes: 0,
        };
        state.ids = CallIds::of_entries(state.started().history.entries());
        state.seen.take(0, &state.run.started().agent.tools);
        if state.program.step.is_some() {
            state.rebuild_step_prompt();
            state.measure_frame();
            state.continue_loop();
        } else {
            state.enter_extract(TerminationReason::Success);
        }
        Ok(state)
    }

    /// The state of a run that an earlier process left, from its log. Calls that were started and didn't
    /// finish are in doubt.
    pub fn resume(program: Arc<Program>, wording: Wording, run: Run) -> Result<Self, RunError> {
        let mut records = Vec::from(run).into_iter();
        let first = records.next().ok_or(RunError::NotStarted)?;
        let mut state = Self::begin(program, wording, first)?;
        state.apply_all(records);
        for call in state.calls_mut() {
            if call.status == CallStatus::Started {
                call.status = CallStatus::InDoubt;
            }
        }
        Ok(state)
    }

    /// The run so far.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Converts to the run.
    pub fn into_run(self) -> Run {
        self.run
    }

    /// Whether the loop of steps is over, and only the answer is missing.
    pub fn is_answering(&self) -> bool {
        self.answering.is_some()
    }

    /// The number of calls in the current step.
    pub fn calls_under_way(&self) -> usize {
        self.calls().len()
    }

    /// Whether calls of a step are waiting or running.
    pub fn is_acting(&self) -> bool {
        matches!(self.phase, Phase::Act(_))
    }

    /// A live reader for a reply to this predictor.
    pub fn live(&self, predictor: PredictorName) -> Box<dyn Live> {
        let task = self.program.predictor(predictor).task();
        self.wording.adapter(predictor).live(task)
    }

    /// The number of steps.
    pub fn steps_taken(&self) -> u32 {
        u32::try_from(self.run.steps().len()).unwrap_or(u32::MAX)
    }

    /// The calls of the current step.
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

    /// The call with this id in the current step.
    pub(super) fn call_mut(&mut self, id: &str) -> Option<&mut CallState> {
        self.calls_mut()
            .iter_mut()
            .find(|state| state.call.id == id)
    }

    /// The current step as in the log, or the last one.
    pub(super) fn last_step(&self) -> Option<&Step> {
        self.run.steps().last()
    }

    /// Whether the custom condition is to be checked before the next step.
    fn is_unconditioned(&self) -> bool {
        self.program.has_condition && self.conditioned < self.steps_taken()
    }

    /// The start of the run.
    pub(super) fn started(&self) -> &Started {
        self.run.started()
    }

    /// What comes next. A function of the log.
    pub fn next(&self) -> Next {
        match &self.phase {
            Phase::Step if self.is_unconditioned() => Next::Condition,
            Phase::Step => self.ask(PredictorName::Step, self.step_prompt.clone()),
            Phase::Record(event) | Phase::Adapt(event) => Next::Record(event.clone()),
            Phase::Act(calls) => self.next_action(calls),
            Phase::Summarise { covers, .. } => {
                let entries = compact::summary_request(self, *covers, self.overflow);
                let prompt = self.render(PredictorName::Summarise, &entries);
                self.ask(PredictorName::Summarise, prompt)
            }
            Phase::Judge(prompt) => self.ask(PredictorName::Judge, prompt.clone()),
            Phase::Demand(_) => self.ask(PredictorName::Step, self.step_prompt.clone()),
            Phase::Extract { prompt, .. } => self.ask(PredictorName::Extract, prompt.clone()),
            Phase::Ended => Next::Done,
        }
    }

    pub(super) fn ask(&self, predictor: PredictorName, prompt: Prompt) -> Next {
        let asking = self.program.predictor(predictor);
        let capabilities = self.wording.capabilities(predictor);
        let adapter = self.wording.adapter(predictor);
        let mut request = asking.request(adapter, capabilities, prompt);
        if let Phase::Demand(_) = self.phase {
            request = adapter.demand(asking.task(), capabilities, request);
        }
        let request = self.confine(predictor, request);
        Next::Model(ModelCall { predictor, request })
    }

    /// A separate prompt for a predictor.
    pub(super) fn render(&self, predictor: PredictorName, entries: &[Entry]) -> Prompt {
        let asking = self.program.predictor(predictor);
        asking.render(self.wording.adapter(predictor), entries)
    }

    fn next_action(&self, calls: &[CallState]) -> Next {
        let mut ready = Vec::new();
        let mut questions = Vec::new();
        let mut is_running = false;
        for (index, state) in calls.iter().enumerate() {
            if let Some(event) = self.after_change(state) {
                return Next::Record(event);
            }
            match &state.status {
                CallStatus::Unconfirmed => {
                    return Next::Record(Event::asked(self.confirm(state)));
                }
                CallStatus::InDoubt if !self.may_repeat(&state.call) => {
                    return Next::Record(if self.started().is_unattended {
                        Event::tool_decided(&state.call.id, in_doubt(&state.call))
                    } else {
                        Event::asked(self.about(state, QuestionKind::InDoubt))
                    });
                }
                CallStatus::Settled(event) => return Next::Record((**event).clone()),
                CallStatus::Asked(question) => {
                    let question = self.question(*question);
                    if self.is_allowed(question) {
                        return Next::Record(Event::answered(
                            &question.confirmation_id,
                            Decision::Approve,
                            Answerer::Rule,
                        ));
                    }
                    questions.push(question.clone());
                }
                CallStatus::Ready | CallStatus::InDoubt => {
                    if !self.has_to_wait(calls, index) {
                        ready.push(self.tool_call(index, state));
                    }
                }
                CallStatus::Started => is_running = true,
                CallStatus::Done => {}
            }
        }
        if !ready.is_empty() {
            // Concurrent calls share what is left.
            let tokens = self.tokens_left().map(|left| left / ready.len() as u64);
            let money = self.money_left().map(|left| left / ready.len() as f64);
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

    /// The duration of the last step's finished calls, which ran concurrently.
    pub(super) fn longest_call(&self) -> Duration {
        let calls = self.last_step().map_or(&[][..], |step| &step.calls);
        let done = calls.iter().filter_map(|call| call.done.as_ref());
        done.map(|done| done.duration).max().unwrap_or_default()
    }

    fn tool_call(&self, index: usize, state: &CallState) -> ToolCall {
        let step = self.last_step().map_or(0, |step| step.record);
        ToolCall {
            call: state.call.clone(),
            tools: self.tools_of(state),
            idempotency_key: format!("{}:{step}:{index}", self.run.id()),
            answers: state.answers.clone(),
            tokens_left: None,
            money_left: None,
            time_left: None,
        }
    }

    /// The calls that were started and have no result.
    pub fn open_calls(&self) -> Vec<ToolCall> {
        let calls = self.calls().iter().enumerate();
        calls
            .filter(|(_, call)| call.was_started && call.status != CallStatus::Done)
            .map(|(index, call)| self.tool_call(index, call))
            .collect()
    }

    /// Whether a serial tool is still busy with an earlier call of this step.
    fn has_to_wait(&self, calls: &[CallState], index: usize) -> bool {
        let name = &calls[index].call.name;
        self.program.tool(name).is_some_and(|(spec, _)| spec.serial)
            && calls[..index]
                .iter()
                .any(|earlier| earlier.call.name == *name && earlier.status != CallStatus::Done)
    }
}

impl CallStatus {
    /// A call with this result, without running.
    pub(super) fn settled(call: &Call, observation: Observation) -> Self {
        Self::Settled(Box::new(Event::tool_decided(&call.id, observation)))
    }
}
