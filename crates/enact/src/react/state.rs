//! The state of a run: a fold of its log, and what comes next.

use std::sync::Arc;
use std::time::Duration;

use super::compact::{self, Overflow};
use super::program::Program;
use super::{check, read};
use crate::adapter::Adapter;
use crate::model::{Capabilities, ModelError, Prompt, Reply, Request};
use crate::run::{
    Call, Decision, Entry, Event, Observation, PlannedCall, PredictorName, Question, Record, Run,
    RunError, Started, StepOutcome, Stepped, TerminationReason, transcript,
};
use crate::signature::Values;
use crate::tool::{Confirmation, Effect};

/// How the predictors of a run are put into words, and what their models can do.
#[derive(Debug, Clone)]
pub struct Wording {
    /// For `step`.
    pub step: (Arc<dyn Adapter>, Capabilities),
    /// For `extract`.
    pub extract: (Arc<dyn Adapter>, Capabilities),
    /// For `summarise`.
    pub summarise: (Arc<dyn Adapter>, Capabilities),
}

/// What a driver has to do next.
#[derive(Debug)]
pub enum Next {
    /// Write this down; nothing has to happen in the world.
    Record(Event),
    /// Ask a model, and hand the outcome to [`RunState::read`].
    Model(ModelCall),
    /// Start these calls, each after its `ToolStarted` is written.
    Tools(Vec<ToolCall>),
    /// Wait for a call that is running.
    Wait,
    /// Wait for a person: these questions are open, and nothing else can be done.
    Human(Vec<Question>),
    /// Nothing: the run is over.
    Done,
}

/// A request to a model on behalf of a predictor.
#[derive(Debug, Clone)]
pub struct ModelCall {
    /// Who asks.
    pub predictor: PredictorName,
    /// What is asked.
    pub request: Request,
}

/// A tool call that is free to run.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The call.
    pub call: Call,
    /// The same for every attempt at this call, in every process.
    pub idempotency_key: String,
}

/// A decision that does not fit the question. The question stays open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// No open question has this id.
    #[error("no open question has the id `{0}`")]
    Unknown(String),
    /// The edited call cannot run.
    #[error("the edit cannot run: {0}")]
    InvalidEdit(String),
}

#[derive(Debug)]
enum Phase {
    Step,
    Act(Acting),
    Summarise {
        covers: usize,
        then: AfterSummary,
    },
    EndLoop(TerminationReason),
    Extract {
        reason: TerminationReason,
        prompt: Prompt,
        misreads: u32,
    },
    Commit {
        reason: TerminationReason,
        outputs: Values,
    },
    Fail {
        reason: TerminationReason,
        message: String,
    },
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum AfterSummary {
    Step,
    Extract(TerminationReason),
}

#[derive(Debug)]
struct Acting {
    /// The record of the step.
    record: usize,
    calls: Vec<CallState>,
}

#[derive(Debug)]
struct CallState {
    /// What will run, or ran: the planned call, or what a person made of it.
    call: Call,
    status: CallStatus,
}

#[derive(Debug, PartialEq)]
enum CallStatus {
    /// Has to be confirmed first.
    Unconfirmed,
    /// A person was asked.
    Asked(Box<Question>),
    /// A person decided that this is what it gives.
    Decided(Observation),
    Ready,
    Started,
    /// Was started by a process that is gone: nobody knows whether it happened.
    InDoubt,
    Done(Observation),
}

/// The state of a run.
#[derive(Debug)]
pub struct RunState {
    program: Arc<Program>,
    wording: Wording,
    run: Run,
    phase: Phase,
    step_prompt: Prompt,
    /// Steps taken, and steps in the conversation before.
    iterations: u32,
    steps_before: usize,
    /// Replies in a row that could not be read or called nothing that exists.
    bad_in_row: u32,
    was_nudged: bool,
    overflow: Overflow,
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
            iterations: 0,
            steps_before: 0,
            bad_in_row: 0,
            was_nudged: false,
            overflow: Overflow::default(),
        };
        state.steps_before = state.count_earlier_steps();
        if state.program.step.is_some() {
            state.rebuild_step_prompt();
            state.continue_loop();
        } else {
            state.enter_extract(TerminationReason::Success);
        }
        Ok(state)
    }

    /// The state of a run that an earlier process left: its log, read again. Calls that had
    /// started and did not finish are in doubt.
    pub fn resume(program: Arc<Program>, wording: Wording, run: Run) -> Result<Self, RunError> {
        let mut records = Vec::from(run).into_iter();
        let first = records.next().ok_or(RunError::NotStarted)?;
        let mut state = Self::begin(program, wording, first)?;
        for record in records {
            state.apply(record);
        }
        if let Phase::Act(acting) = &mut state.phase {
            for call in &mut acting.calls {
                if call.status == CallStatus::Started {
                    call.status = CallStatus::InDoubt;
                }
            }
        }
        Ok(state)
    }

    /// The log so far.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The log.
    pub fn into_run(self) -> Run {
        self.run
    }

    /// How the run began.
    pub(super) fn started(&self) -> &Started {
        self.run.started()
    }

    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    pub(super) fn wording(&self) -> &Wording {
        &self.wording
    }

    pub(super) fn was_nudged(&self) -> bool {
        self.was_nudged
    }

    /// The number of the next step, counted over the whole conversation.
    pub(super) fn step_number(&self) -> usize {
        self.steps_before + self.iterations as usize
    }

    /// What comes next. A function of the log alone.
    pub fn next(&self) -> Next {
        match &self.phase {
            Phase::Step => self.ask(PredictorName::Step, self.step_prompt.clone()),
            Phase::Act(acting) => self.next_action(acting),
            Phase::Summarise { covers, .. } => {
                let entries = compact::summary_request(self, *covers, self.overflow);
                let adapter = &*self.wording.summarise.0;
                self.ask(
                    PredictorName::Summarise,
                    self.program.summarise.render(adapter, &entries),
                )
            }
            Phase::EndLoop(reason) => Next::Record(Event::LoopEnded { reason: *reason }),
            Phase::Extract { prompt, .. } => self.ask(PredictorName::Extract, prompt.clone()),
            Phase::Commit { reason, outputs } => Next::Record(Event::Finished {
                reason: *reason,
                outputs: outputs.clone(),
            }),
            Phase::Fail { reason, message } => Next::Record(Event::Failed {
                reason: *reason,
                message: message.clone(),
            }),
            Phase::Ended => Next::Done,
        }
    }

    fn ask(&self, predictor: PredictorName, prompt: Prompt) -> Next {
        let (asking, (adapter, capabilities)) = match (predictor, &self.program.step) {
            (PredictorName::Step, Some(step)) => (step, &self.wording.step),
            (PredictorName::Summarise, _) => (&self.program.summarise, &self.wording.summarise),
            _ => (&self.program.extract, &self.wording.extract),
        };
        let request = asking.request(&**adapter, *capabilities, prompt);
        Next::Model(ModelCall { predictor, request })
    }

    fn next_action(&self, acting: &Acting) -> Next {
        let mut ready = Vec::new();
        let mut questions = Vec::new();
        let mut is_running = false;
        for (index, state) in acting.calls.iter().enumerate() {
            match &state.status {
                CallStatus::Unconfirmed => {
                    let question = Question::confirm(self.run.id(), state.call.clone());
                    return Next::Record(Event::Asked(Box::new(question)));
                }
                CallStatus::InDoubt if !self.may_repeat(&state.call) => {
                    return Next::Record(tool_finished(&state.call, in_doubt(&state.call)));
                }
                CallStatus::Decided(observation) => {
                    return Next::Record(tool_finished(&state.call, observation.clone()));
                }
                CallStatus::Asked(question) => questions.push((**question).clone()),
                CallStatus::Ready | CallStatus::InDoubt => {
                    if !self.has_to_wait(acting, index) {
                        ready.push(ToolCall {
                            call: state.call.clone(),
                            idempotency_key: format!("{}:{}:{index}", self.run.id(), acting.record),
                        });
                    }
                }
                CallStatus::Started => is_running = true,
                CallStatus::Done(_) => {}
            }
        }
        if !ready.is_empty() {
            Next::Tools(ready)
        } else if is_running {
            Next::Wait
        } else {
            Next::Human(questions)
        }
    }

    /// Whether a serial tool is still busy with an earlier call of this step.
    fn has_to_wait(&self, acting: &Acting, index: usize) -> bool {
        let name = &acting.calls[index].call.name;
        self.program.tool(name).is_some_and(|(spec, _)| spec.serial)
            && acting.calls[..index].iter().any(|earlier| {
                earlier.call.name == *name && !matches!(earlier.status, CallStatus::Done(_))
            })
    }

    fn may_repeat(&self, call: &Call) -> bool {
        self.program
            .tool(&call.name)
            .is_some_and(|(spec, _)| spec.effect != Effect::Effectful)
    }

    /// The event that follows from a model's answer to the request of [`RunState::next`].
    pub fn read(&self, outcome: Result<Reply, &ModelError>, duration: Duration) -> Event {
        let predictor = match self.phase {
            Phase::Step => PredictorName::Step,
            Phase::Summarise { .. } => PredictorName::Summarise,
            _ => PredictorName::Extract,
        };
        match outcome {
            Err(error) => Event::ModelFailed {
                predictor,
                kind: error.kind(),
                message: error.to_string(),
            },
            Ok(reply) => match (&self.phase, predictor) {
                (Phase::Summarise { covers, .. }, _) => {
                    read::summary(self, reply, *covers, duration)
                }
                (_, PredictorName::Step) => read::step(self, reply, duration),
                _ => read::outputs(self, reply, duration),
            },
        }
    }

    /// The event that follows from a person's decision, unless it does not fit.
    pub fn answer(&self, confirmation_id: &str, decision: Decision) -> Result<Event, AnswerError> {
        let is_open = matches!(&self.phase, Phase::Act(acting) if acting.calls.iter().any(|call| {
            matches!(&call.status, CallStatus::Asked(question)
                if question.confirmation_id == confirmation_id)
        }));
        if !is_open {
            return Err(AnswerError::Unknown(confirmation_id.to_owned()));
        }
        let decision = match decision {
            Decision::Edit { name, args } => {
                let (name, args) =
                    check::edit(&self.program, &name, args).map_err(AnswerError::InvalidEdit)?;
                Decision::Edit { name, args }
            }
            other => other,
        };
        Ok(Event::Answered {
            confirmation_id: confirmation_id.to_owned(),
            decision,
        })
    }

    /// Takes an event into the state. The record's position must be the next one.
    pub fn apply(&mut self, record: Record) {
        let index = self.run.records().len();
        let is_summary = matches!(record.event, Event::Summarised { .. });
        let extraction = self.fold(index, &record.event);
        self.run.push(record);
        if is_summary {
            self.take_summary();
        }
        if let Some(reason) = extraction {
            self.enter_extract(reason);
        }
        self.finish_step_if_done();
    }

    /// Takes what can be taken without the transcript. Returns the reason when the outputs are
    /// to be extracted next.
    fn fold(&mut self, index: usize, event: &Event) -> Option<TerminationReason> {
        match event {
            Event::Stepped(stepped) if stepped.outcome == StepOutcome::Extract => {
                self.iterations += 1;
                return Some(TerminationReason::Success);
            }
            Event::LoopEnded { reason } => return Some(*reason),
            Event::Stepped(stepped) => self.fold_step(index, stepped),
            Event::Misread {
                predictor,
                reply,
                problem,
                ..
            } => {
                self.fold_misread(*predictor, reply, problem);
            }
            Event::ModelFailed {
                predictor, kind, ..
            } => {
                if *kind == crate::model::ModelErrorKind::ContextLength {
                    self.fold_overflow(*predictor);
                }
            }
            Event::ToolStarted { call_id } => self.set_status(call_id, CallStatus::Started),
            Event::ToolFinished {
                call_id,
                observation,
                ..
            } => {
                self.set_status(call_id, CallStatus::Done(observation.clone()));
            }
            Event::Asked(question) => {
                self.set_status(&question.tool_call.id, CallStatus::Asked(question.clone()));
            }
            Event::Answered {
                confirmation_id,
                decision,
            } => {
                self.fold_answer(confirmation_id, decision);
            }
            Event::Summarised { .. } | Event::Started(_) => {}
            Event::Extracted { outputs, .. } => {
                if let Phase::Extract { reason, .. } = self.phase {
                    let names = self.program.declared.outputs();
                    let declared = names.iter().filter_map(|field| {
                        outputs
                            .get(&field.name)
                            .map(|value| (field.name.clone(), value.clone()))
                    });
                    self.phase = Phase::Commit {
                        reason,
                        outputs: declared.collect(),
                    };
                }
            }
            Event::Finished { .. } | Event::Failed { .. } => self.phase = Phase::Ended,
        }
        None
    }

    fn fold_step(&mut self, index: usize, stepped: &Stepped) {
        self.iterations += 1;
        self.overflow.reset();
        match &stepped.outcome {
            StepOutcome::Act => {
                self.was_nudged = false;
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
                self.phase = Phase::Act(Acting {
                    record: index,
                    calls,
                });
            }
            StepOutcome::Commit(outputs) => {
                let reason = TerminationReason::Success;
                self.phase = Phase::Commit {
                    reason,
                    outputs: outputs.clone(),
                };
            }
            StepOutcome::Extract => {}
            StepOutcome::Nudge(notice) => {
                self.was_nudged = true;
                self.extend_step_prompt(&transcript::nudged(stepped, notice));
                self.continue_loop();
            }
        }
    }

    fn plan(&self, planned: &PlannedCall) -> CallState {
        let call = planned.call.clone();
        let status = match (&planned.refusal, self.program.tool(&call.name)) {
            (Some(refusal), _) => CallStatus::Done(Observation::error(refusal.clone())),
            (None, Some((spec, _))) if spec.confirmation == Confirmation::Always => {
                CallStatus::Unconfirmed
            }
            (None, _) => CallStatus::Ready,
        };
        CallState { call, status }
    }

    fn set_status(&mut self, call_id: &str, status: CallStatus) {
        if let Phase::Act(acting) = &mut self.phase
            && let Some(call) = acting
                .calls
                .iter_mut()
                .find(|state| state.call.id == call_id)
        {
            call.status = status;
        }
    }

    fn fold_answer(&mut self, confirmation_id: &str, decision: &Decision) {
        let Phase::Act(acting) = &mut self.phase else {
            return;
        };
        let asked = acting.calls.iter_mut().find(|state| {
            matches!(&state.status, CallStatus::Asked(question)
                if question.confirmation_id == confirmation_id)
        });
        let Some(state) = asked else { return };
        state.status = match decision {
            Decision::Approve => CallStatus::Ready,
            Decision::Edit { name, args } => {
                state.call.name.clone_from(name);
                state.call.args.clone_from(args);
                CallStatus::Ready
            }
            Decision::Reject(message) => CallStatus::Decided(Observation::value(match message {
                Some(message) => format!("The user declined this call: {message}"),
                None => "The user declined this call. It was not executed.".to_owned(),
            })),
            Decision::Feedback(text) => {
                CallStatus::Decided(Observation::value(format!("User feedback: {text}")))
            }
        };
    }

    fn fold_misread(&mut self, predictor: PredictorName, reply: &Reply, problem: &str) {
        let added = transcript::misread(reply, problem);
        match predictor {
            PredictorName::Step => {
                self.bad_in_row += 1;
                self.extend_step_prompt(&added);
                self.continue_loop();
            }
            PredictorName::Summarise => self.fold_overflow(predictor),
            PredictorName::Extract => {
                let limit = self.started().limits.max_repairs;
                if let Phase::Extract {
                    prompt, misreads, ..
                } = &mut self.phase
                {
                    *misreads += 1;
                    if *misreads > limit {
                        let message = format!(
                            "no outputs: {misreads} replies could not be read; the last problem: {problem}"
                        );
                        let reason = TerminationReason::Failure;
                        self.phase = Phase::Fail { reason, message };
                    } else {
                        let adapter = &*self.wording.extract.0;
                        self.program.extract.render_onto(adapter, &added, prompt);
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
        if let Some(covers) = compact::plan(self, self.overflow) {
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
        let Event::Stepped(step) = &self.run.records()[acting.record].event else {
            return;
        };
        let entries = transcript::step_entries(step, |call| {
            let state = acting.calls.iter().find(|state| state.call.id == call.id);
            match state {
                Some(CallState {
                    call,
                    status: CallStatus::Done(observation),
                }) => (Some(call.clone()), Some(observation.clone())),
                _ => (None, None),
            }
        });
        if let Some(entries) = entries {
            self.extend_step_prompt(&entries);
            self.continue_loop();
        }
    }

    /// Goes on with the next step, unless a limit is reached.
    fn continue_loop(&mut self) {
        let limits = self.started().limits;
        self.phase = if self.bad_in_row > limits.max_repairs {
            Phase::EndLoop(TerminationReason::Failure)
        } else if self.iterations >= limits.max_iterations {
            Phase::EndLoop(TerminationReason::MaxIterations)
        } else {
            Phase::Step
        };
    }

    fn enter_extract(&mut self, reason: TerminationReason) {
        let entries = compact::extract_entries(self);
        let prompt = self
            .program
            .extract
            .render(&*self.wording.extract.0, &entries);
        self.phase = Phase::Extract {
            reason,
            prompt,
            misreads: 0,
        };
    }

    fn extend_step_prompt(&mut self, entries: &[Entry]) {
        if let Some(step) = &self.program.step {
            step.render_onto(&*self.wording.step.0, entries, &mut self.step_prompt);
        }
    }

    fn rebuild_step_prompt(&mut self) {
        if let Some(step) = &self.program.step {
            let entries = self.run.transcript();
            self.step_prompt = step.render(&*self.wording.step.0, crate::run::visible(&entries));
        }
    }

    fn count_earlier_steps(&self) -> usize {
        let entries = self.started().history.entries();
        entries
            .iter()
            .filter(|entry| matches!(entry, Entry::Assistant { .. }))
            .count()
    }
}

fn tool_finished(call: &Call, observation: Observation) -> Event {
    Event::ToolFinished {
        call_id: call.id.clone(),
        observation,
        duration: Duration::ZERO,
    }
}

fn in_doubt(call: &Call) -> Observation {
    Observation::error(format!(
        "`{}` was started, but it is not known whether it happened: the program ended before it \
         gave a result. It was not run again.",
        call.name
    ))
}
