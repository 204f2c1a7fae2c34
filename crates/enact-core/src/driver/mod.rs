//! The in-process driver: does what the core says, and writes down what came of it.
//!
//! There is one loop. It asks models, runs tools side by side, hands questions to the caller and
//! reads the clock; every decision is the core's.

mod content;
mod journal;
mod redaction;
mod running;
mod spans;
mod toolboxes;
mod tools;
mod updates;
mod writing;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind};
use crate::model::{Delivery, LanguageModel, ModelError, ModelErrorKind, Reply, Secrets};
use crate::react::{ModelCall, Next, RunState, ToolCall};
use crate::run::{Event, PredictorName, Question, Record, TerminationReason};
use crate::tool::{Tool, Tools};

pub(crate) use journal::Journal;
use running::Running;
use toolboxes::{Toolboxes, has_other_tools};
pub(crate) use updates::{AfterCall, Condition};
pub use updates::{Listener, Update};
use writing::Writing;

/// The most events that may follow a reply before the next one, and for each of its calls beyond
/// that. A call is asked about, answered, started, answered by its tool, and asked about again.
const MOST_EVENTS: usize = 100;
const MOST_EVENTS_OF_CALL: usize = 20;

/// What a run needs from the outside.
pub(crate) struct World {
    pub(crate) models: HashMap<PredictorName, Arc<dyn LanguageModel>>,
    pub(crate) tools: RwLock<Tools>,
    pub(crate) cancellation: CancellationToken,
    /// Stops the loop without ending the run.
    pub(crate) interruption: CancellationToken,
    pub(crate) listener: Option<Listener>,
    /// None for a run that lives in memory alone.
    pub(crate) journal: Option<Journal>,
    pub(crate) condition: Option<Condition>,
    pub(crate) after_call: Option<AfterCall>,
    /// Whether spans hold prompts, arguments and observations, too.
    pub(crate) has_content_in_spans: bool,
    /// What must not be written down or told.
    pub(crate) secrets: Secrets,
}

/// Why the loop stopped without an error.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The run has its outputs.
    Finished,
    /// The run waits for a person.
    Paused(Vec<Question>),
}

/// Drives a run until it is over or has to wait for a person.
pub(crate) async fn drive(state: &mut RunState, world: &World) -> Result<Stop, Error> {
    let stop = spans::agent(state, world).await;
    let kept = world.keep_held().await;
    // What stopped the run says more than what came of it.
    stop.and_then(|stop| kept.map(|()| stop))
}

async fn work(state: &mut RunState, world: &World) -> Result<Stop, Error> {
    let mut running = Running::default();
    let mut last_failure: Option<ModelError> = None;
    let mut judged = 0;
    let mut toolboxes = Toolboxes::Unseen;
    let mut replied = state.run().records().len();
    if state.is_acting() {
        // An earlier process left calls behind, and the tools may have changed since.
        has_other_tools(state, world, &mut toolboxes).await?;
    }
    loop {
        let written = state.run().records().len() - replied;
        if written > MOST_EVENTS + MOST_EVENTS_OF_CALL * state.calls_under_way() {
            drop(running);
            return Err(run_away(state, world, written).await);
        }
        if world.cancellation.is_cancelled() && !matches!(state.next(), Next::Done) {
            drop(running);
            return Err(cancel(state, world).await);
        }
        let next = state.next();
        if world.interruption.is_cancelled() && !matches!(next, Next::Record(_) | Next::Done) {
            // What runs may finish, nothing new begins, and the log stays open.
            match running.next(world, state).await {
                Some(outcome) => take(state, world, outcome).await?,
                None => {
                    return Err(Error::new(
                        ErrorKind::Interrupted,
                        "the run was interrupted",
                    ));
                }
            }
            continue;
        }
        // A call and a question are about the tools as they are now.
        if matches!(next, Next::Tools(_) | Next::Human(_))
            && has_other_tools(state, world, &mut toolboxes).await?
        {
            continue;
        }
        match next {
            Next::Record(event) => record(state, world, [event]).await?,
            Next::Model(call) => {
                let is_step = call.predictor == PredictorName::Step && !state.is_answering();
                if is_step && judged < state.steps_taken() {
                    judged = state.steps_taken();
                    if ends(state, world) {
                        let reason = TerminationReason::Custom;
                        record(state, world, [Event::loop_ended(reason)]).await?;
                        continue;
                    }
                }
                if is_step && has_other_tools(state, world, &mut toolboxes).await? {
                    continue;
                }
                let predictor = call.predictor;
                let began = Instant::now();
                let mut writing = writing(state, world, call.predictor);
                let asked = spans::chat(world, state.run().id(), call, writing.as_mut());
                let asked = tokio::select! {
                    biased;
                    () = world.cancellation.cancelled() => continue,
                    () = world.interruption.cancelled() => continue,
                    asked = within(state.time_left(), asked) => asked,
                };
                match asked {
                    None => {
                        drop(writing);
                        record(state, world, [state.out_of_time()]).await?;
                    }
                    Some(Ok(reply)) => {
                        replied = state.run().records().len();
                        let event = world.redacted(state.read(Ok(reply), began.elapsed()))?;
                        writing.into_iter().for_each(|told| told.settle(&event));
                        record(state, world, [event]).await?;
                    }
                    Some(Err(error)) => {
                        drop(writing);
                        let event = state.read(Err(&error), began.elapsed());
                        let recovers = state.recovers_from(predictor, error.kind());
                        record(state, world, [event]).await?;
                        // What the core knows nothing to do about is the caller's to judge. The run can
                        // be resumed.
                        if !recovers {
                            return Err(error.into());
                        }
                        last_failure = Some(error);
                    }
                }
            }
            Next::Tools(calls) => {
                let started: Vec<_> = calls.iter().map(started).collect();
                if state.only_reads(calls.iter().map(|call| &*call.call.name)) {
                    note(state, world, started)?;
                } else {
                    // The intent is durable before the effect.
                    record(state, world, started).await?;
                }
                running.start(state, world, calls);
            }
            Next::Wait => {
                let finished = tokio::select! {
                    biased;
                    () = world.cancellation.cancelled() => continue,
                    finished = running.next(world, state) => finished,
                };
                match finished {
                    Some(outcome) => take(state, world, outcome).await?,
                    // The core waits for a call that nobody runs: it can only be a fault here.
                    None => return Err(Error::new(ErrorKind::Misuse, "a started call was lost")),
                }
            }
            Next::Human(questions) => {
                if !expire(state, world).await? {
                    return Ok(Stop::Paused(questions));
                }
            }
            Next::Done => return end(state, last_failure),
        }
    }
}

/// Ends a run that writes and writes without a new reply. No run should: whatever the reason, it must
/// not fill a disk or call a tool for ever.
async fn run_away(state: &mut RunState, world: &World, written: usize) -> Error {
    let message = format!(
        "the run wrote {written} events without a new reply of a model, and was ended: this is a \
         defect of enact, please report it"
    );
    let failed = Event::failed(TerminationReason::Failure, &message);
    match record(state, world, [failed]).await {
        Ok(()) => Error::new(ErrorKind::NoAnswer, message),
        Err(error) => error,
    }
}

/// Whether the user's own condition ends the loop after the last step.
fn ends(state: &RunState, world: &World) -> bool {
    let Some(condition) = &world.condition else {
        return false;
    };
    let step = state.run().last_step();
    step.is_some_and(|step| condition.holds(&step))
}

/// Does something in the time that is left; `None` when it takes longer.
async fn within<T>(time: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match time {
        Some(time) => tokio::time::timeout(time, work).await.ok(),
        None => Some(work.await),
    }
}

/// Writes down what came of a call.
async fn take(state: &mut RunState, world: &World, outcome: tools::Outcome) -> Result<(), Error> {
    let event = match outcome {
        tools::Outcome::Finished {
            call_id,
            observation,
            duration,
            usage,
            cost,
        } => Event::tool_finished(call_id, observation, duration, (usage, cost)),
        tools::Outcome::Asks { call_id, question } => state.tool_asks(&call_id, question),
    };
    record(state, world, [event]).await
}

/// Rejects the questions that nobody has answered in time, and tells whether there were any.
pub(crate) async fn expire(state: &mut RunState, world: &World) -> Result<bool, Error> {
    let expired = state.expire(Timestamp::now());
    let is_any = !expired.is_empty();
    record(state, world, expired).await?;
    Ok(is_any)
}

/// What an ended run is for its caller.
fn end(state: &RunState, last_failure: Option<ModelError>) -> Result<Stop, Error> {
    let (Some(reason), Some(message)) = (state.run().termination(), state.run().failure()) else {
        return Ok(Stop::Finished);
    };
    Err(match (reason, last_failure) {
        (TerminationReason::Cancelled, _) => Error::new(ErrorKind::Cancelled, message),
        (TerminationReason::TokenBudget, Some(cause)) => {
            Error::new(ErrorKind::Model(cause.kind()), message).with_source(cause)
        }
        (TerminationReason::TokenBudget, None) if state.run().has_overflowed() => {
            Error::new(ErrorKind::Model(ModelErrorKind::ContextLength), message)
        }
        _ => Error::new(ErrorKind::NoAnswer, message),
    })
}

async fn cancel(state: &mut RunState, world: &World) -> Error {
    let open = state.open_calls();
    let events = state.run().cancellation();
    if let Err(error) = record(state, world, events).await {
        return error;
    }
    for call in open {
        tools::abandon(world, state.run(), &call).await;
    }
    Error::new(ErrorKind::Cancelled, "the run was cancelled")
}

fn started(call: &ToolCall) -> Event {
    Event::tool_started(&call.call.id)
}

/// Writes events down, then takes them into the state.
pub(crate) async fn record(
    state: &mut RunState,
    world: &World,
    events: impl IntoIterator<Item = Event>,
) -> Result<(), Error> {
    let records = following(state, world, events)?;
    if !records.is_empty() {
        world.write(&records).await?;
        take_in(state, world, records);
    }
    Ok(())
}

/// Takes events into the state that are written down with the next ones: a process that never knew
/// of them does the same.
fn note(
    state: &mut RunState,
    world: &World,
    events: impl IntoIterator<Item = Event>,
) -> Result<(), Error> {
    let records = following(state, world, events)?;
    world.hold(&records);
    take_in(state, world, records);
    Ok(())
}

fn following(
    state: &RunState,
    world: &World,
    events: impl IntoIterator<Item = Event>,
) -> Result<Vec<Record>, Error> {
    let events = events.into_iter().map(|event| world.redacted(event));
    let events = events.collect::<Result<Vec<Event>, Error>>()?;
    Ok(state.run().following(events))
}

fn take_in(state: &mut RunState, world: &World, records: Vec<Record>) {
    for record in records {
        let (steps, was_acting) = (state.run().steps().len(), state.is_acting());
        state.apply(record);
        let is_step = state.run().steps().len() > steps;
        if let Some(listener) = &world.listener
            && (is_step || was_acting)
            && !state.is_acting()
            && let Some(step) = state.run().last_step()
        {
            let step = Box::new(step);
            listener.tell(&Update::StepFinished { step });
        }
    }
}

impl World {
    /// The tools as they are now.
    fn tools(&self) -> Tools {
        self.tools
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn take_tools(&self, tools: Tools) {
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools;
    }

    /// The tool of this name.
    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.get(name).cloned()
    }

    /// Makes records durable, then tells whoever watches.
    pub(crate) async fn write(&self, records: &[Record]) -> Result<(), Error> {
        if let Some(journal) = &self.journal {
            journal.append(records).await?;
        }
        self.tell_of(records);
        Ok(())
    }

    /// Tells whoever watches, and makes the records durable with the next ones.
    fn hold(&self, records: &[Record]) {
        if let Some(journal) = &self.journal {
            journal.hold(records);
        }
        self.tell_of(records);
    }

    /// Makes durable what is held.
    async fn keep_held(&self) -> Result<(), Error> {
        match &self.journal {
            Some(journal) => journal.keep_held().await,
            None => Ok(()),
        }
    }

    fn tell_of(&self, records: &[Record]) {
        if let Some(listener) = &self.listener {
            for record in records {
                let record = Box::new(record.clone());
                listener.tell(&Update::Recorded { record });
            }
        }
    }
}

/// Tells of a reply while it is written, if anybody listens and it holds what people read.
fn writing<'a>(
    state: &'a RunState,
    world: &'a World,
    predictor: PredictorName,
) -> Option<Writing<'a>> {
    let listener = world.listener.as_ref()?;
    let is_read = matches!(predictor, PredictorName::Step | PredictorName::Extract);
    is_read.then(|| Writing::new(listener, &world.secrets, move || state.live(predictor)))
}

async fn ask(
    world: &World,
    call: ModelCall,
    writing: Option<&mut Writing<'_>>,
) -> Result<Reply, ModelError> {
    let Some(model) = world.models.get(&call.predictor) else {
        return Err(ModelError::new(
            ModelErrorKind::NotFound,
            "no model is set for this predictor",
        ));
    };
    if let Some(listener) = &world.listener {
        listener.tell(&Update::Asking {
            predictor: call.predictor,
        });
    }
    let asked = match writing {
        Some(writing) => writing.ask(&**model, call.request).await,
        None => {
            let request = call.request.with_delivery(Delivery::Whole);
            model.complete(request).await
        }
    };
    // Servers quote keys back to whoever sent a wrong one. And what is said about a reply that cannot
    // be read quotes parts of it: half a secret would not be found afterwards.
    asked
        .map(|reply| reply.redacted(&world.secrets))
        .map_err(|error| error.redacted(&world.secrets))
}
