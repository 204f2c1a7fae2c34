//! The door between the loop and the outside world.

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

/// What an effect gives once it is over.
pub type Effect<'a, T> = Pin<Box<dyn Future<Output = Result<T, Stopped>> + Send + 'a>>;

/// What calls give, in the order in which they end.
pub type Doing<'a> = Pin<Box<dyn Stream<Item = Result<Acted, Stopped>> + Send + 'a>>;

/// Everything a run needs from the outside world: one implementation for each engine.
///
/// [`drive`](super::drive) calls it, and decides nothing itself: what happens next is a function of the
/// log. Each effect has a place in the run, the number of records before it, so that an engine can
/// journal it under a key that is the same in every process.
///
/// [`Local`](super::Local) does the work in this process. [`Stored`](super::Stored),
/// [`Redacted`](super::Redacted) and [`Traced`](super::Traced) wrap other effects. To add an engine,
/// implement this trait in a crate of your own: around the effects of a call, which
/// [`Call::through`](crate::Call::through) hands over, or from scratch. Methods of later versions will have
/// defaults.
pub trait Effects: Send + Sync {
    /// The time. A log is written by this clock, and questions expire by it.
    fn now(&self) -> Timestamp;

    /// Whether the run may continue. Asked before each action; [`Stopped::Interrupted`] lets the calls
    /// that are running finish, [`Stopped::Cancelled`] ends the run.
    fn proceed(&self) -> Result<(), Stopped> {
        Ok(())
    }

    /// Appends records to the log, and gives them as they were kept: the run takes in what this
    /// returns. With [`Durability::Now`] they are durable before this returns, and so is all that was
    /// appended before.
    fn append<'a>(
        &'a self,
        records: Vec<Record>,
        durability: Durability,
    ) -> Effect<'a, Vec<Record>>;

    /// Asks a model. That it fails is an answer, too.
    fn ask<'a>(&'a self, question: Asking<'a>) -> Effect<'a, Answered>;

    /// Runs calls side by side, each once. Their intent is durable, unless they only read. That a tool
    /// fails is an observation.
    fn act<'a>(&'a self, run: &Run, calls: Vec<ToolCall>) -> Doing<'a>;

    /// Lets go of calls that were started and will not be resumed.
    fn abandon<'a>(&'a self, run: &'a Run, calls: Vec<ToolCall>) -> Effect<'a, ()>;

    /// Applies rules and checks of the user's to calls that are about to be written down, in order.
    fn check<'a>(&'a self, run: &'a Run, calls: Vec<&'a Call>) -> Effect<'a, Vec<CallCheck>>;

    /// Whether a condition of the user's ends the loop after this step.
    fn ends<'a>(&'a self, run: &'a Run, step: &'a TraceStep) -> Effect<'a, bool>;

    /// The tools, if they may have changed since this was last asked.
    fn tools<'a>(
        &'a self,
        run: &'a Run,
        time: Option<Duration>,
    ) -> Effect<'a, Option<Vec<ToolSpec>>>;

    /// Waits for an answer to one of these questions. `None` if nobody is to be waited for here: the
    /// run pauses, and can be resumed with an answer.
    fn wait<'a>(&'a self, run: &'a Run, questions: &'a [Question]) -> Effect<'a, Option<Answer>> {
        let _ = (run, questions);
        Box::pin(std::future::ready(Ok(None)))
    }

    /// A step is over. For those who watch: nothing depends on it.
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
    /// With the records that come next: a process that never knew of them does the same.
    WithNext,
}

/// Why an effect did not take place.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stopped {
    /// The run is to end for good.
    Cancelled,
    /// The run is to stop here, and can be resumed.
    Interrupted,
    /// The time that it was given is over.
    TimeUp,
    /// The effect is not possible: the store is gone, for example. The run can be resumed from what is
    /// durable.
    Lost(Error),
    /// The engine takes the run back, and will drive it again: nothing is recorded.
    Unwind,
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Lost(error)
    }
}

/// A request to a model on behalf of a predictor.
#[derive(Debug)]
pub struct Asking<'a> {
    state: &'a RunState,
    /// Who asks.
    pub predictor: PredictorName,
    /// What is asked.
    pub request: Request,
    /// How long the model may take, if that is limited.
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

    /// The inputs of the predictor by name, for a program that does its work.
    pub(super) fn inputs(&self) -> Values {
        self.state.inputs_of(self.predictor)
    }

    /// What is asked, and what reads along while the reply is written.
    pub(super) fn with_reader(self) -> (Request, impl Fn() -> Box<dyn Live>) {
        let (state, predictor) = (self.state, self.predictor);
        (self.request, move || state.live(predictor))
    }

    /// Reads along while a reply is written.
    pub fn live(&self) -> Box<dyn Live> {
        self.state.live(self.predictor)
    }
}

/// What a model answered.
#[derive(Debug)]
pub struct Answered {
    /// The reply, or why there is none.
    pub outcome: Result<Reply, ModelError>,
    /// How long it took.
    pub took: Duration,
}

/// What came of a call.
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

/// How a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Failure {
    /// The tool is not there any more.
    NotFound,
    /// The tool is another one by now.
    ToolChanged,
    /// The tool says so.
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
    /// Which question.
    pub confirmation_id: String,
    /// What was decided.
    pub decision: Decision,
}

impl<E: Effects + ?Sized> Effects for Box<E> {
    crate::forward_effects!(self => (**self):
        now, proceed, append, ask, act, abandon, check, ends, tools, wait, stepped);
}
