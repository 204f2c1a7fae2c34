//! One call of a module: what it starts from, and what it may do.

use std::pin::Pin;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::core::Core;
use super::prediction::{Outcome, Paused, Prediction};
use crate::driver::{self, Listener, Stop, Update};
use crate::error::{Error, ErrorKind};
use crate::react::RunState;
use crate::run::{Decision, Event, FORMAT, History, Limits, Record, Run, Started};
use crate::signature::{Shape, Values};

/// A call that has not begun. Set what it needs, then await it.
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<'a, S: Shape> {
    core: &'a Core,
    start: Start<S>,
    limits: Limits,
    cancellation: CancellationToken,
    listener: Option<Listener>,
    /// What was set that this sort of call does not take.
    misuse: Option<&'static str>,
}

enum Start<S: Shape> {
    New {
        input: S::Input,
        history: History,
        run_id: Option<String>,
    },
    Resume {
        run: Run,
        decisions: Vec<(String, Decision)>,
    },
}

impl<'a, S: Shape> Call<'a, S> {
    pub(super) fn new(core: &'a Core, input: S::Input) -> Self {
        Self::of(
            core,
            Start::New {
                input,
                history: History::new(),
                run_id: None,
            },
        )
    }

    pub(super) fn resume(core: &'a Core, run: Run) -> Self {
        Self::of(
            core,
            Start::Resume {
                run,
                decisions: Vec::new(),
            },
        )
    }

    fn of(core: &'a Core, start: Start<S>) -> Self {
        let limits = core.program().limits;
        Self {
            core,
            start,
            limits,
            cancellation: CancellationToken::new(),
            listener: None,
            misuse: None,
        }
    }

    /// Goes on from an earlier conversation, which is not changed. A resumed run has its own.
    pub fn history(mut self, earlier: &History) -> Self {
        match &mut self.start {
            Start::New { history, .. } => history.clone_from(earlier),
            Start::Resume { .. } => self.misuse = Some("a resumed run has its own history"),
        }
        self
    }

    /// Gives the run this id instead of a new one. A resumed run keeps its own.
    pub fn run_id(mut self, id: impl Into<String>) -> Self {
        match &mut self.start {
            Start::New { run_id, .. } => *run_id = Some(id.into()),
            Start::Resume { .. } => self.misuse = Some("a resumed run keeps its id"),
        }
        self
    }

    /// Allows this many steps in this call. A resumed run keeps its limits.
    pub fn max_iterations(mut self, max_iterations: u32) -> Self {
        match &self.start {
            Start::New { .. } => self.limits.max_iterations = max_iterations,
            Start::Resume { .. } => self.misuse = Some("a resumed run keeps its limits"),
        }
        self
    }

    /// Answers an open question of a resumed run.
    pub fn answer(mut self, confirmation_id: impl Into<String>, decision: Decision) -> Self {
        match &mut self.start {
            Start::Resume { decisions, .. } => decisions.push((confirmation_id.into(), decision)),
            Start::New { .. } => self.misuse = Some("a new run has no question to answer"),
        }
        self
    }

    /// Ends the run when this token is cancelled.
    pub fn cancel_with(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Tells this function what happens while it happens.
    pub fn on_update(mut self, listener: impl Fn(&Update<'_>) + Send + Sync + 'static) -> Self {
        self.listener = Some(Listener::new(listener));
        self
    }

    /// Runs the call to its end on this thread.
    ///
    /// Fails inside an asynchronous runtime, where it would block the thread that has to make
    /// progress: await the call there.
    pub fn blocking(self) -> Result<Outcome<S::Output>, Error> {
        if tokio::runtime::Handle::try_current().is_ok() {
            return Err(Error::new(
                ErrorKind::Misuse,
                "`blocking` was called inside an asynchronous runtime: await the call instead",
            ));
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| {
            Error::new(ErrorKind::Misuse, "no runtime could be started").with_source(error)
        })?;
        runtime.block_on(self.into_future())
    }

    async fn run(self) -> Result<Outcome<S::Output>, Error> {
        if let Some(misuse) = self.misuse {
            return Err(Error::new(ErrorKind::Misuse, misuse));
        }
        let program = self.core.program().clone();
        let (world, mut state) = match self.start {
            Start::New {
                input,
                history,
                run_id,
            } => {
                let inputs = program.check_inputs(values_of(&input)?)?;
                let (world, wording, agent) =
                    self.core.prepare(self.cancellation, self.listener)?;
                let started = Started {
                    format: FORMAT,
                    run_id: run_id.unwrap_or_else(|| uuid::Uuid::now_v7().to_string()),
                    agent,
                    inputs,
                    history,
                    limits: self.limits,
                };
                let event = Event::Started(Arc::new(started));
                let record = Record {
                    position: 0,
                    at: Timestamp::now(),
                    event,
                };
                if let Some(listener) = &world.listener {
                    listener.tell(&Update::Recorded(&record));
                }
                (world, RunState::begin(program, wording, record)?)
            }
            Start::Resume { run, decisions } => {
                let (world, wording, agent) =
                    self.core.prepare(self.cancellation, self.listener)?;
                if let Some(difference) = run.started().agent.difference(&agent) {
                    let message = format!("the run was made by another agent: {difference}");
                    return Err(Error::new(ErrorKind::Log, message).with_run(run));
                }
                let mut state = RunState::resume(program, wording, run)?;
                for (confirmation_id, decision) in decisions {
                    match state.answer(&confirmation_id, decision) {
                        Ok(event) => driver::record(&mut state, &world, event),
                        Err(error) => return Err(Error::from(error).with_run(state.into_run())),
                    }
                }
                (world, state)
            }
        };
        match driver::drive(&mut state, &world).await {
            Ok(Stop::Finished) => Prediction::of(state.into_run()).map(Outcome::Finished),
            Ok(Stop::Paused(questions)) => {
                Ok(Outcome::Paused(Paused::new(state.into_run(), questions)))
            }
            Err(error) => Err(error.with_run(state.into_run())),
        }
    }
}

fn values_of(input: &impl serde::Serialize) -> Result<Values, Error> {
    match serde_json::to_value(input) {
        Ok(Value::Object(values)) => Ok(values),
        Ok(_) => Err(Error::new(
            ErrorKind::Input,
            "the inputs are not a map of fields",
        )),
        Err(error) => {
            let message = format!("the inputs cannot be written as JSON: {error}");
            Err(Error::new(ErrorKind::Input, message).with_source(error))
        }
    }
}

impl<'a, S: Shape> IntoFuture for Call<'a, S> {
    type Output = Result<Outcome<S::Output>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}
