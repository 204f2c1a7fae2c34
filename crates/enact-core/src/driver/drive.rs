//! The loop, which is the same for every engine.

use futures_util::StreamExt as _;
use futures_util::stream::SelectAll;

use super::effects::{Acted, Asking, Doing, Durability, Effects, Stopped};
use crate::error::{Error, ErrorKind};
use crate::model::ModelError;
use crate::react::{ModelCall, Next, RunState, ToolCall};
use crate::run::{Event, PredictorName, Question, Record, TerminationReason};

/// The most events that may follow a reply or a person's answer before the next one, and for each call of its step beyond
/// that. A call is asked about, answered, started, answered by its tool, and asked about again.
const MOST_EVENTS: usize = 100;
const MOST_EVENTS_OF_CALL: usize = 20;

/// Why the loop stopped without an error.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Stop {
    /// The run has its outputs.
    Finished,
    /// The run waits for a person.
    Paused(Vec<Question>),
}

/// Drives a run until it is over or has to wait for a person.
///
/// # Errors
/// If the run ends without outputs, or cannot continue for now. The state contains everything that
/// happened until then.
pub async fn drive(state: &mut RunState, effects: &dyn Effects) -> Result<Stop, Error> {
    let mut driver = Driver {
        answered: state.run().records().len(),
        most_calls: 0,
        state,
        effects,
        running: SelectAll::new(),
        listed: None,
        last_failure: None,
    };
    let stop = match driver.work().await {
        Ok(stop) => Ok(stop),
        Err(stopped) => Err(driver.halt(stopped).await),
    };
    let kept = effects.append(Vec::new(), Durability::Now).await;
    // The reason for stopping matters more than its consequence.
    match (stop, kept) {
        (Ok(_), Err(Stopped::Lost(error))) => Err(error),
        (stop, _) => stop,
    }
}

struct Driver<'s, 'e> {
    state: &'s mut RunState,
    effects: &'e dyn Effects,
    /// The running calls.
    running: SelectAll<Doing<'e>>,
    /// The number of records when the tools were last listed.
    listed: Option<usize>,
    /// How many records there were when a model or a person last answered.
    answered: usize,
    /// The most calls that were under way at a time since then.
    most_calls: usize,
    last_failure: Option<ModelError>,
}

impl Driver<'_, '_> {
    /// Does what the state requests next, and records the result.
    async fn work(&mut self) -> Result<Stop, Stopped> {
        if self.state.is_acting() {
            // An earlier process left calls unfinished, and the tools may have changed since.
            self.list_tools().await?;
        }
        loop {
            self.stop_running_away().await?;
            let next = self.state.decide();
            self.may_proceed(&next)?;
            if self.is_about_tools(&next) && self.list_tools().await? {
                continue;
            }
            match next {
                Next::Record(event) => self.record([event], Durability::Now).await?,
                Next::Model(call) => self.ask(call).await?,
                Next::Tools(calls) => self.start(calls).await?,
                Next::Wait => match self.running.next().await {
                    Some(done) => self.take(done?).await?,
                    // The core waits for a call that isn't running: this can only be a bug.
                    None => return Err(misuse("a started call was lost").into()),
                },
                Next::Condition => self.check_condition().await?,
                Next::Human(questions) => {
                    if !self.is_answered(&questions).await? {
                        return Ok(Stop::Paused(questions));
                    }
                }
                Next::Done => return self.end(),
            }
        }
    }

    fn may_proceed(&self, next: &Next) -> Result<(), Stopped> {
        match (self.effects.proceed(), next) {
            (Ok(()), _) | (_, Next::Done) => Ok(()),
            // Completed work is recorded first.
            (Err(Stopped::Interrupted), Next::Record(_)) => Ok(()),
            (Err(stopped), _) => Err(stopped),
        }
    }

    async fn ask(&mut self, call: ModelCall) -> Result<(), Stopped> {
        let predictor = call.predictor;
        let answered = self.effects.ask(Asking::new(self.state, call)).await;
        let answered = match answered {
            Err(Stopped::TimeUp) => return self.out_of_time().await,
            answered => answered?,
        };
        match answered.outcome {
            Ok(reply) => {
                self.heard_from_outside();
                let read = self.state.read(predictor, Ok(reply), answered.took);
                let unchecked = read.unchecked();
                let said = match unchecked.is_empty() {
                    true => Vec::new(),
                    false => self.effects.check(self.state.run(), unchecked).await?,
                };
                let event = read.event(self.state, said);
                self.record([event], Durability::Now).await
            }
            Err(error) => {
                let read = self.state.read(predictor, Err(&error), answered.took);
                let event = read.event(self.state, []);
                let recovers = self.state.recovers_from(predictor, error.kind());
                self.record([event], Durability::Now).await?;
                // An error that the core can't handle is returned to the caller. The run can be
                // resumed.
                if !recovers {
                    return Err(Error::from(error).into());
                }
                self.last_failure = Some(error);
                Ok(())
            }
        }
    }

    /// Records the intent durably before the effect.
    async fn start(&mut self, calls: Vec<ToolCall>) -> Result<(), Stopped> {
        let names = calls.iter().map(|call| &*call.call.name);
        let durability = match self.state.only_reads(names) {
            true => Durability::WithNext,
            false => Durability::Now,
        };
        let started: Vec<Event> = calls
            .iter()
            .map(|call| Event::tool_started(&call.call.id))
            .collect();
        self.record(started, durability).await?;
        self.running.push(self.effects.act(self.state.run(), calls));
        Ok(())
    }

    /// Writes down what came of a call.
    async fn take(&mut self, acted: Acted) -> Result<(), Stopped> {
        let event = match acted {
            Acted::Done { done, .. } => Event::tool_done(done),
            Acted::Asks { call_id, question } => self.state.tool_asks(&call_id, question),
        };
        self.record([event], Durability::Now).await
    }

    async fn check_condition(&mut self) -> Result<(), Stopped> {
        let ends = match self.state.run().last_step() {
            Some(step) => self.effects.ends(self.state.run(), &step).await?,
            None => false,
        };
        let durability = match ends {
            true => Durability::Now,
            false => Durability::WithNext,
        };
        self.record([Event::condition_checked(ends)], durability)
            .await
    }

    /// Settles the questions: because they expired, or by an answer.
    async fn is_answered(&mut self, questions: &[Question]) -> Result<bool, Stopped> {
        if expire(self.state, self.effects).await? {
            return Ok(true);
        }
        let waited = self.effects.wait(self.state.run(), questions).await?;
        let Some(answer) = waited else {
            return Ok(false);
        };
        let event = self
            .state
            .answer(&answer.confirmation_id, answer.decision)
            .map_err(Error::from)?;
        self.record([event], Durability::Now).await?;
        self.heard_from_outside();
        Ok(true)
    }

    /// A model or a person has answered: the run does not write on its own.
    fn heard_from_outside(&mut self) {
        self.answered = self.state.run().records().len();
        self.most_calls = 0;
    }

    /// Whether the next action is about the tools as they now are, and they were not listed since the
    /// log is what it is.
    fn is_about_tools(&self, next: &Next) -> bool {
        let is_about = match next {
            Next::Tools(_) | Next::Human(_) => true,
            Next::Model(call) => {
                call.predictor == PredictorName::Step && !self.state.is_answering()
            }
            _ => false,
        };
        is_about && self.listed != Some(self.state.run().records().len())
    }

    /// Updates tools that have changed, and returns whether any have.
    async fn list_tools(&mut self) -> Result<bool, Stopped> {
        self.listed = Some(self.state.run().records().len());
        let time = self.state.time_left();
        let listed = match self.effects.tools(self.state.run(), time).await {
            // Calls of removed tools fail when they are about to run.
            Err(Stopped::TimeUp) if self.state.is_acting() => None,
            Err(Stopped::TimeUp) => {
                self.out_of_time().await?;
                return Ok(true);
            }
            listed => listed?,
        };
        let Some(listed) = listed else {
            return Ok(false);
        };
        match self.state.tools_changed(listed).map_err(Error::from)? {
            Some(event) => {
                self.record([event], Durability::Now).await?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    async fn out_of_time(&mut self) -> Result<(), Stopped> {
        self.record([self.state.out_of_time()], Durability::Now)
            .await
    }

    async fn record(
        &mut self,
        events: impl IntoIterator<Item = Event>,
        durability: Durability,
    ) -> Result<(), Stopped> {
        record(self.state, self.effects, events, durability).await
    }

    /// Ends a run that keeps writing without a new reply. This should not happen: whatever the reason, the
    /// run must not fill a disk or call a tool forever.
    async fn stop_running_away(&mut self) -> Result<(), Stopped> {
        let written = self.state.run().records().len() - self.answered;
        self.most_calls = self.most_calls.max(self.state.calls_under_way());
        if written <= MOST_EVENTS + MOST_EVENTS_OF_CALL * self.most_calls {
            return Ok(());
        }
        self.running.clear();
        let message = format!(
            "the run wrote {written} events without a new reply of a model, and was ended: this is \
             a defect of enact, please report it"
        );
        let failed = Event::failed(TerminationReason::Failure, &message);
        self.record([failed], Durability::Now).await?;
        Err(Error::new(ErrorKind::NoAnswer, message).into())
    }

    /// The result of an ended run for its caller.
    fn end(&mut self) -> Result<Stop, Stopped> {
        let run = self.state.run();
        let Some(error) = Error::ended(run) else {
            return Ok(Stop::Finished);
        };
        let error = match (run.termination(), self.last_failure.take()) {
            (Some(TerminationReason::TokenBudget), Some(cause)) => {
                Error::new(ErrorKind::Model(cause.kind()), error.to_string()).with_source(cause)
            }
            _ => error,
        };
        Err(error.into())
    }

    /// Stops the run as requested.
    async fn halt(&mut self, stopped: Stopped) -> Error {
        match stopped {
            Stopped::Cancelled => self.cancel().await,
            Stopped::Interrupted => match self.finish_running().await {
                Ok(()) => Error::new(ErrorKind::Interrupted, "the run was interrupted"),
                Err(Stopped::Cancelled) => self.cancel().await,
                Err(stopped) => error_of(stopped),
            },
            stopped => error_of(stopped),
        }
    }

    async fn cancel(&mut self) -> Error {
        self.running.clear();
        let open = self.state.open_calls();
        let events = self.state.run().cancellation();
        if let Err(stopped) = self.record(events, Durability::Now).await {
            return error_of(stopped);
        }
        match self.effects.abandon(self.state.run(), open).await {
            Ok(()) => Error::new(ErrorKind::Cancelled, "the run was cancelled"),
            Err(stopped) => error_of(stopped),
        }
    }

    /// Running calls can finish, nothing new starts, and the log stays open.
    async fn finish_running(&mut self) -> Result<(), Stopped> {
        loop {
            if let Err(Stopped::Cancelled) = self.effects.proceed() {
                return Err(Stopped::Cancelled);
            }
            match self.state.decide() {
                Next::Record(event) => self.record([event], Durability::Now).await?,
                _ => match self.running.next().await {
                    Some(done) => self.take(done?).await?,
                    None => return Ok(()),
                },
            }
        }
    }
}

/// Writes events, then applies them to the state.
pub(crate) async fn record(
    state: &mut RunState,
    effects: &dyn Effects,
    events: impl IntoIterator<Item = Event>,
    durability: Durability,
) -> Result<(), Stopped> {
    let records = state.run().following(events, effects.now());
    if records.is_empty() {
        return Ok(());
    }
    for record in effects.append(records, durability).await? {
        take_in(state, effects, record);
    }
    Ok(())
}

fn take_in(state: &mut RunState, effects: &dyn Effects, record: Record) {
    let (steps, was_acting) = (state.run().steps().len(), state.is_acting());
    state.apply(record);
    let is_step = state.run().steps().len() > steps;
    if (is_step || was_acting) && !state.is_acting() {
        effects.stepped(state.run());
    }
}

/// Rejects expired questions, and returns whether there were any.
pub(crate) async fn expire(state: &mut RunState, effects: &dyn Effects) -> Result<bool, Stopped> {
    let expired = state.expire(effects.now());
    let is_any = !expired.is_empty();
    record(state, effects, expired, Durability::Now).await?;
    Ok(is_any)
}

/// The error of a stop for the caller.
pub(crate) fn error_of(stopped: Stopped) -> Error {
    match stopped {
        Stopped::Lost(error) => error,
        Stopped::Cancelled => Error::new(ErrorKind::Cancelled, "the run was cancelled"),
        Stopped::Interrupted => Error::new(ErrorKind::Interrupted, "the run was interrupted"),
        Stopped::Unwind => Error::new(ErrorKind::Interrupted, "the engine took the run back"),
        Stopped::TimeUp => misuse("an effect that has no limit ran out of time"),
    }
}

fn misuse(message: &str) -> Error {
    Error::new(ErrorKind::Misuse, message)
}
