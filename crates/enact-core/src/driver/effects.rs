//! The interface between the loop and the outside world.

use std::pin::Pin;
use std::time::Duration;

use futures_util::Stream;
use strum::IntoStaticStr;

use crate::adapter::Live;
use crate::error::Error;
use crate::model::{ModelError, Reply, Request};
use crate::react::{CallCheck, ModelCall, RunState, ToolCall};
use crate::run::{Call, Decision, Done, PredictorName, Question, Record, Run, TraceStep};
use crate::signature::Values;
use crate::time::Timestamp;
use crate::tool::ToolSpec;

/// The future result of an effect.
pub type Effect<'a, T> = Pin<Box<dyn Future<Output = Result<T, Stopped>> + Send + 'a>>;

/// What calls give, in the order in which they end.
pub type Doing<'a> = Pin<Box<dyn Stream<Item = Result<Acted, Stopped>> + Send + 'a>>;

/// Everything a run needs from the outside world: one implementation for each engine.
///
/// [`drive`](super::drive) calls it, and decides nothing itself: what happens next is a function of the
/// log. Each effect has a position in the run, the number of records before it, so that an engine can
/// journal it under a key that is the same in every process.
///
/// [`Local`](super::Local) does the work in this process. [`Stored`](super::Stored),
/// [`Redacted`](super::Redacted) and [`Traced`](super::Traced) wrap other effects. To add an engine,
/// implement this trait in a crate of your own: around the effects of a call, which
/// [`Call::through`](crate::Call::through) hands over, or from scratch. Methods of later versions will have
/// defaults.
pub trait Effects: Send + Sync {
    /// The current time, for records and for the expiry of questions.
    fn now(&self) -> Timestamp;

    /// Whether the run can continue. Checked before each action; [`Stopped::Interrupted`] lets running
    /// calls finish, [`Stopped::Cancelled`] ends the run.
    fn proceed(&self) -> Result<(), Stopped> {
        Ok(())
    }

    /// Appends records to the log, and returns them as they were stored: the run applies what this
    /// returns. With [`Durability::Now`], these and all earlier records are durable before this
    /// returns.
    fn append<'a>(
        &'a self,
        records: Vec<Record>,
        durability: Durability,
    ) -> Effect<'a, Vec<Record>>;

    /// Asks a model. A failure is also an answer.
    fn ask<'a>(&'a self, question: Asking<'a>) -> Effect<'a, Answered>;

    /// Runs calls concurrently, each once. Their intent is durable, unless they are read-only. A failure
    /// of a tool is an observation.
    fn act<'a>(&'a self, run: &Run, calls: Vec<ToolCall>) -> Doing<'a>;

    /// Releases calls that were started and won't be resumed.
    fn abandon<'a>(&'a self, run: &'a Run, calls: Vec<ToolCall>) -> Effect<'a, ()>;

    /// Applies rules and custom checks to calls before they are logged, in order.
    fn check<'a>(&'a self, run: &'a Run, calls: Vec<&'a Call>) -> Effect<'a, Vec<CallCheck>>;

    /// Whether a custom condition ends the loop after this step.
    fn ends<'a>(&'a self, run: &'a Run, step: &'a TraceStep) -> Effect<'a, bool>;

    /// The tools, if they may have changed since the last call.
    fn tools<'a>(
        &'a self,
        run: &'a Run,
        time: Option<Duration>,
    ) -> Effect<'a, Option<Vec<ToolSpec>>>;

    /// Waits for an answer to one of these questions. `None` if this engine doesn't wait: the run pauses,
    /// and can be resumed with an answer.
    fn wait<'a>(&'a self, run: &'a Run, questions: &'a [Question]) -> Effect<'a, Option<Answer>> {
        let _ = (run, questions);
        Box::pin(std::future::ready(Ok(None)))
    }

    /// A step is complete. For observers: nothing depends on it.
    fn stepped(&self, run: &Run) {
        let _ = run;
    }
}

/// When records have to be durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Before anything else happens.
    Now,
    /// Together with the next records: a process that doesn't see them does the same again.
    WithNext,
}

/// Why an effect did not happen.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stopped {
    /// The run is cancelled.
    Cancelled,
    /// The run stops here, and can be resumed.
    Interrupted,
    /// The time budget is exhausted.
    TimeUp,
    /// The effect is not possible, for example because the store is unavailable. The run can be resumed
    /// from what is durable.
    Lost(Error),
    /// The engine takes the run back, and will drive it again: nothing is recorded.
    Unwind,
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Lost(error)
    }
}

/// A request to a model by a predictor.
#[derive(Debug)]
pub struct Asking<'a> {
    state: &'a RunState,
    /// The predictor.
    pub predictor: PredictorName,
    /// The request.
    pub request: Request,
    /// The time limit for the model, if there is one.
    pub time_left: Option<Duration>,
}

impl<'a> Asking<'a> {
    pub(super) fn new(state: &'a RunState, call: ModelCall) -> Self {
        Self {
            state,
            predictor: call.predictor,
            request: call.request,
            time_left: state.time_left(),
        }
    }

    /// The run so far.
    pub fn run(&self) -> &'a Run {
        self.state.run()
    }

    /// The inputs of the predictor by name, for a program that replaces it.
    pub(super) fn inputs(&self) -> Values {
        self.state.inputs_of(self.predictor)
    }

    /// The request, and the live reader of its reply.
    pub(super) fn with_reader(self) -> (Request, impl Fn() -> Box<dyn Live>) {
        let (state, predictor) = (self.state, self.predictor);
        (self.request, move || state.live(predictor))
    }

    /// The live reader of the reply.
    pub fn live(&self) -> Box<dyn Live> {
        self.state.live(self.predictor)
    }
}

/// The answer of a model.
#[derive(Debug)]
pub struct Answered {
    /// The reply, or the error.
    pub outcome: Result<Reply, ModelError>,
    /// How long it took.
    pub took: Duration,
}

/// The result of a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Acted {
    /// It is over.
    Done {
        /// What it gave.
        done: Done,
        /// How it failed, if it did.
        failure: Option<Failure>,
    },
    /// It wants to know something from a person first.
    Asks {
        /// Which call.
        call_id: String,
        /// What it asks.
        question: String,
    },
}

/// The kind of failure of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Failure {
    /// The tool no longer exists.
    NotFound,
    /// The tool has been replaced by another.
    ToolChanged,
    /// The tool returned an error.
    ToolError,
    /// The tool panicked.
    Panic,
    /// It took too long.
    Timeout,
}

impl Failure {
    /// The failure as one word, such as `tool_error`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// An answer to a question of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The question.
    pub confirmation_id: String,
    /// The decision.
    pub decision: Decision,
}

impl<E: Effects + ?Sized> Effects for Box<E> {
    crate::forward_effects!(self => (**self):
        now, proceed, append, ask, act, abandon, check, ends, tools, wait, stepped);
}
