//! The state of a run: folded from its log, and what comes next.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::budget::{Budget, Room};
use super::calls::{CallState, CallStatus};
use super::compact::{self, Overflow};
use super::identity::Seen;
use super::ids::CallIds;
use super::program::Program;
use super::progress::Progress;
use super::prompt::StepPrompt;
use super::refusal::change_to;
use super::wording::Wording;
use crate::adapter::{Adapter as _, Json, Live};
use crate::model::{ModelErrorKind, Prompt, Request};
use crate::run::{
    Call, Entry, Event, Notice, PredictorName, Question, Reading, Record, Remark, Replied, Run,
    RunError, Started, Step, TerminationReason,
};
use crate::signature::Values;

/// What a driver has to do next.
#[derive(Debug)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct ModelCall {
    /// The predictor.
    pub predictor: PredictorName,
    /// The request.
    pub request: Request,
}

/// A tool call that can run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
    /// Between two steps.
    Step,
    /// An event to record.
    Record(Event),
    Act(Vec<CallState>),
    Summarise {
        covers: usize,
        /// Why the loop ended, if it has: the outputs are to be extracted.
        then: Option<TerminationReason>,
    },
    /// The loop ended, and the model is to submit its outputs with the same transcript.
    Demand(TerminationReason),
    Extract {
        reason: TerminationReason,
        /// As far as it was rendered.
        prompt: Prompt,
        /// What comes to it.
        added: Vec<Entry>,
        misreads: u32,
    },
    Ended,
}

impl Phase {
    /// The outputs are to be extracted.
    pub(super) fn extract(reason: TerminationReason) -> Self {
        Self::Extract {
            reason,
            prompt: Prompt::new(),
            added: Vec::new(),
            misreads: 0,
        }
    }
}

/// How often a model may still be put right.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// Replies in a row that could not be read or called nothing that exists.
    pub(super) bad_in_row: u32,
    pub(super) was_nudged: bool,
    /// Replies in a row without a call.
    pub(super) without_call: u32,
}

/// What a model is told about its work.
#[derive(Debug, Default)]
pub(super) struct Notices {
    /// What it is to be told before the next step.
    pub(super) waiting: Vec<(Notice, String)>,
    told: HashSet<Notice>,
}

impl Notices {
    /// The model is told about this.
    pub(super) fn tell(&mut self, about: Notice) {
        self.waiting.retain(|(waiting, _)| *waiting != about);
        self.told.insert(about);
    }

    /// Whether it was told about this.
    pub(super) fn were_told(&self, about: Notice) -> bool {
        self.told.contains(&about)
    }
}

/// The state of a run.
#[derive(Debug)]
pub struct RunState {
    pub(super) program: Arc<Program>,
    pub(super) wording: Wording,
    pub(super) run: Run,
    pub(super) phase: Phase,
    pub(super) steps: StepPrompt,
    /// The ids of calls in the conversation so far.
    pub(super) ids: CallIds,
    pub(super) patience: Patience,
    pub(super) overflow: Overflow,
    pub(super) seen: Seen,
    pub(super) budget: Budget,
    pub(super) progress: Progress,
    pub(super) notices: Notices,
    /// Whether a model is to say how the task stands after the last step.
    pub(super) is_unjudged: bool,
    /// The steps after which the custom condition was checked.
    pub(super) conditioned: u32,
    /// Why the loop is to end after this step, other than by a limit.
    pub(super) ending: Option<TerminationReason>,
}

impl RunState {
    /// The state after the first record of a run.
    pub fn begin(
        program: Arc<Program>,
        wording: Wording,
        record: Record,
    ) -> Result<Self, RunError> {
        let run = Run::try_from(vec![record])?;
        let started = run.started();
        let mut state = Self {
            ids: CallIds::of_entries(started.history.entries()),
            budget: Budget::new(started),
            seen: Seen::default(),
            program,
            wording,
            phase: Phase::Step,
            steps: StepPrompt::default(),
            patience: Patience::default(),
            overflow: Overflow::default(),
            progress: Progress::default(),
            notices: Notices::default(),
            is_unjudged: false,
            conditioned: 0,
            ending: None,
            run,
        };
        state.seen.take(0, state.run.tools());
        if state.program.step.is_none() {
            state.phase = Phase::extract(TerminationReason::Success);
        }
        if state.budget.is_measured() {
            state.render();
        }
        Ok(state)
    }

    /// The state of a run that an earlier process left, from its log. Calls that were started and didn't
    /// finish are in doubt.
    pub fn resume(program: Arc<Program>, wording: Wording, run: Run) -> Result<Self, RunError> {
        let mut records = Vec::from(run).into_iter();
        let first = records.next().ok_or(RunError::NotStarted)?;
        let mut state = Self::begin(program, wording, first)?;
        for record in records {
            state.apply(record);
        }
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
        self.run.loop_ended().is_some()
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

    /// The step under way as the log tells it, or the last one.
    pub(super) fn last_step(&self) -> Option<&Step> {
        self.run.steps().last()
    }

    /// What the model said last, if that was no call and no answer.
    pub(super) fn said_before(&self) -> Option<&str> {
        let step = self.last_step();
        let after = step.map_or(self.run.before_steps(), |step| &step.after);
        let replies = after.iter().rev().filter_map(Remark::replied);
        let is_unreadable =
            |replied: &&Arc<Replied>| matches!(replied.read, Reading::Unreadable { .. });
        let unreadable = replies
            .filter(is_unreadable)
            .map(|replied| &*replied.reply.text);
        let talk = step.filter(|step| step.calls.is_empty()).map(Step::thought);
        unreadable.chain(talk).next()
    }

    /// Whether the next reply is the last that is read.
    pub(super) fn is_last_try(&self) -> bool {
        let limit = self.started().limits.max_repairs;
        matches!(self.phase, Phase::Extract { misreads, .. } if misreads >= limit)
    }

    /// The start of the run.
    pub(super) fn started(&self) -> &Started {
        self.run.started()
    }

    /// What comes next. A function of the log alone: what is kept from one time to the next are
    /// prompts, of which only what is new is rendered.
    pub fn decide(&mut self) -> Next {
        self.render();
        match &self.phase {
            Phase::Step => self.between_steps(),
            Phase::Record(event) => Next::Record(event.clone()),
            Phase::Act(calls) => self.next_action(calls),
            Phase::Summarise { covers, .. } => {
                let entries = compact::summary_request(self, *covers, self.overflow);
                let prompt = self.render_alone(PredictorName::Summarise, &entries);
                self.ask(PredictorName::Summarise, prompt)
            }
            Phase::Demand(reason) => self.demand(*reason),
            Phase::Extract { prompt, .. } => self.extract(prompt),
            Phase::Ended => Next::Done,
        }
    }

    /// Brings the prompts up to date that what comes next depends on. What there is no room for does
    /// not come next.
    pub(super) fn render(&mut self) {
        if let Phase::Step | Phase::Act(_) | Phase::Demand(_) = self.phase {
            self.render_steps();
            if !self.budget.has_frame()
                && let Next::Model(call) = self.ask(PredictorName::Step, Prompt::new())
            {
                self.budget.measure_frame(&call.request);
            }
        }
        if self.budget.is_measured() && self.condensing().is_none() {
            self.finish_step_if_done();
        }
        if let Phase::Demand(reason) = self.phase
            && !self.can_demand()
        {
            self.phase = Phase::extract(reason);
        }
        self.render_extraction();
    }

    /// Another step, unless a limit is reached or something else comes first.
    fn between_steps(&self) -> Next {
        let limits = self.started().limits;
        let ending = if self.patience.bad_in_row > limits.max_repairs {
            Some(TerminationReason::Failure)
        } else if self.ending.is_some() {
            self.ending
        } else if let Some(prompt) = self.judging() {
            return self.ask(PredictorName::Judge, prompt);
        } else if self.steps_taken() >= limits.max_iterations {
            Some(TerminationReason::MaxIterations)
        } else {
            self.budget.used_up(&self.steps.prompt)
        };
        if let Some(reason) = ending {
            return Next::Record(Event::loop_ended(reason));
        }
        if let Some((capabilities, why)) = self.lesser_model() {
            // What it writes into text is JSON, with a schema or without.
            return Next::Record(change_to(Json.name(), capabilities, &why));
        }
        let waiting = self.notices.waiting.first().cloned();
        if let Some((about, text)) = waiting.or_else(|| self.near_limit()) {
            return Next::Record(Event::noticed(about, text));
        }
        // The user's condition is asked after each step.
        match self.program.has_condition && self.conditioned < self.steps_taken() {
            true => Next::Condition,
            false => self.ask(PredictorName::Step, self.steps.prompt.clone()),
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

    /// What a predictor is asked about, by name: for a program that does its work.
    pub(crate) fn inputs_of(&self, predictor: PredictorName) -> Values {
        let entries = match (&self.phase, predictor) {
            (Phase::Summarise { covers, .. }, PredictorName::Summarise) => {
                compact::summary_request(self, *covers, self.overflow)
            }
            _ => compact::extract_entries(self, usize::MAX),
        };
        let inputs = entries.into_iter().rev().find_map(|entry| match entry {
            Entry::Inputs { values } => Some(values),
            _ => None,
        });
        inputs.unwrap_or_default()
    }

    /// A prompt of its own for a predictor.
    pub(super) fn render_alone(&self, predictor: PredictorName, entries: &[Entry]) -> Prompt {
        let asking = self.program.predictor(predictor);
        asking.render(self.wording.adapter(predictor), entries)
    }

    /// Whether there is room for a request, and how long its reply may be.
    pub(super) fn room(&self, predictor: PredictorName, prompt: &Prompt) -> Room {
        let (steps, is_answering) = (&self.steps.prompt, self.is_answering());
        self.budget.room(predictor, prompt, steps, is_answering)
    }

    /// Keeps a reply within the room that there is.
    fn confine(&self, predictor: PredictorName, mut request: Request) -> Request {
        if let Ok(Some(room)) = self.room(predictor, &request.prompt) {
            let room = u32::try_from(room).unwrap_or(u32::MAX);
            let wanted = request.options.max_tokens.unwrap_or(u32::MAX);
            request.options.max_tokens = Some(wanted.min(room)).filter(|most| *most < u32::MAX);
        }
        request
    }

    /// What the model is told of a limit that is near, once for each.
    fn near_limit(&self) -> Option<(Notice, String)> {
        let (about, left) = self
            .budget
            .near_limits(self.steps_taken())
            .find(|(about, _)| !self.notices.were_told(*about))?;
        let text =
            format!("A limit is near: at most {left} left. Come to the answer with what you know.");
        Some((about, text))
    }

    /// How long what comes next may take; `None` without a time budget.
    pub fn time_left(&self) -> Option<Duration> {
        match self.phase {
            Phase::Step | Phase::Act(_) => self.budget.step_time_left(),
            // The rest is for the extraction.
            Phase::Demand(_) => Some(self.budget.rest_of_time()? / 2),
            _ => self.budget.rest_of_time(),
        }
    }

    /// The event for a model that did not answer in the time that was left.
    pub fn out_of_time(&self) -> Event {
        let reason = TerminationReason::Timeout;
        match self.phase {
            Phase::Step | Phase::Act(_) => Event::loop_ended(reason),
            Phase::Demand(_) => Event::failed_request_of(
                PredictorName::Step,
                ModelErrorKind::Timeout,
                "the outputs were not submitted in the time that was left",
            ),
            _ => Event::failed(reason, "the time budget is used up, and there is no answer"),
        }
    }
}
