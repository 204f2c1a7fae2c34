//! A call of a module: what it starts from, and its settings.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use sealed::Beginning;
use tokio_util::sync::CancellationToken;

use super::core::{Core, Stops, Through};
use super::prediction::{Outcome, Paused, Prediction};
use super::start::{Given, Opening, adopt, answer, begin, checked, resume, values_of};
use crate::driver::{self, Effects, Listener, Stop, Update};
use crate::error::{Error, ErrorKind};
use crate::run::store::{Store, StoredRun};
use crate::run::{Decision, History, Limits, Parent, PredictorName, Run};
use crate::settings;
use crate::signature::{Shape, Values};

/// A call that has not started. Configure it, then await it.
///
/// Its type includes what it starts from: a new run takes a history, notes and limits, a resumed
/// run takes answers. Each kind has only the methods that apply to it.
///
/// A resumed run already has its history:
///
/// ```compile_fail,E0599
/// fn resumed(agent: &enact::ReAct, run: enact::Run, history: &enact::History) {
///     let _ = agent.resume(run).history(history);
/// }
/// ```
///
/// A new run has no questions yet:
///
/// ```compile_fail,E0599
/// fn begun(agent: &enact::ReAct, inputs: enact::Values) {
///     let _ = agent.call(inputs).answer("id", enact::Decision::Approve);
/// }
/// ```
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<'a, S: Shape, B = New<S>> {
    core: Cow<'a, Core>,
    from: B,
    given: Vec<Given>,
    pub(super) stops: Stops,
    pub(super) listener: Option<Listener>,
    /// Receives the run in its initial state, for those who follow it.
    pub(super) begun: Option<Arc<OnceLock<Run>>>,
    through: Option<Box<Through>>,
    shape: std::marker::PhantomData<fn() -> S>,
}

/// A call that resumes a run from its log.
pub type ResumeCall<'a, S> = Call<'a, S, Resumed>;

/// A call that resumes a run from a store.
pub type ResumeStoredCall<'a, S> = Call<'a, S, ResumedStored>;

/// Starts a new run.
pub struct New<S: Shape> {
    input: S::Input,
    opening: Opening,
}

/// Resumes a run from its log.
#[derive(Debug)]
pub struct Resumed {
    run: Run,
    store: Option<Arc<dyn Store>>,
}

/// Resumes a run from a store.
#[derive(Debug)]
pub struct ResumedStored {
    run_id: String,
    store: Arc<dyn Store>,
    despite_damage: bool,
}

/// What a call can start from: a new run, or one that is resumed. Sealed.
pub trait StartFrom<S: Shape>: sealed::Start<S> {}

impl<S: Shape, B: sealed::Start<S>> StartFrom<S> for B {}

/// A run that can be resumed, and its questions answered. Sealed.
///
/// ```compile_fail,E0277
/// struct Mine;
/// impl enact::module::Answerable for Mine {}
/// ```
pub trait Answerable: sealed::Answers {}

impl<B: sealed::Answers> Answerable for B {}

mod sealed {
    use super::{New, Resumed, ResumedStored};
    use crate::signature::Shape;

    pub trait Start<S: Shape>: Send {
        fn start(self) -> Beginning<S>;
    }

    pub trait Answers {}

    impl Answers for Resumed {}
    impl Answers for ResumedStored {}

    pub enum Beginning<S: Shape> {
        New(Box<New<S>>),
        Resumed(Box<Resumed>),
        ResumedStored(ResumedStored),
    }

    impl<S: Shape> Start<S> for New<S> {
        fn start(self) -> Beginning<S> {
            Beginning::New(Box::new(self))
        }
    }

    impl<S: Shape> Start<S> for Resumed {
        fn start(self) -> Beginning<S> {
            Beginning::Resumed(Box::new(self))
        }
    }

    impl<S: Shape> Start<S> for ResumedStored {
        fn start(self) -> Beginning<S> {
            Beginning::ResumedStored(self)
        }
    }
}

impl<'a, S: Shape> Call<'a, S> {
    pub(super) fn new(core: &'a Core, input: S::Input) -> Self {
        let opening = Opening {
            limits: core.program().limits,
            ..Opening::default()
        };
        Self::of(core, New { input, opening })
    }

    /// Continues an earlier conversation, which is not modified.
    pub fn history(mut self, earlier: &History) -> Self {
        self.from.opening.history.clone_from(earlier);
        self
    }

    /// Sets the id of the run. Default: a new id.
    pub fn run_id(mut self, id: impl Into<String>) -> Self {
        self.from.opening.run_id = Some(id.into());
        self
    }

    /// Stores notes with the run, in its log: what the program needs to rebuild the agent.
    /// Don't store secrets there.
    pub fn notes(mut self, values: Values) -> Self {
        self.from.opening.notes = values;
        self
    }

    /// Links the run to the call of another run that it belongs to.
    pub fn child_of(mut self, run: Parent) -> Self {
        self.from.opening.parent = Some(run);
        self
    }

    /// Sets the number of steps for this run.
    pub fn max_iterations(self, max_iterations: u32) -> Self {
        self.limits(|limits| limits.max_iterations = max_iterations)
    }

    /// Changes the limits for this run.
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.from.opening.limits);
        self
    }

    /// Doesn't ask about a call that a crash left in doubt: the call becomes an error observation that
    /// says so.
    pub fn unattended(mut self) -> Self {
        self.from.opening.is_unattended = true;
        self
    }

    /// Stores every event before it takes effect, so that the run can be resumed after a crash. Only
    /// one process can work on a stored run at a time.
    pub fn store(mut self, store: impl Store + 'static) -> Self {
        self.from.opening.store = Some(Arc::new(store));
        self
    }
}

impl<'a, S: Shape> Call<'a, S, Resumed> {
    pub(super) fn resume(core: &'a Core, run: Run) -> Self {
        Self::of(core, Resumed { run, store: None })
    }

    /// Stores the run from now on. Records that the store doesn't have are added; it is an error if the
    /// store has more records, or others.
    pub fn store(mut self, store: impl Store + 'static) -> Self {
        self.from.store = Some(Arc::new(store));
        self
    }
}

impl<'a, S: Shape> Call<'a, S, ResumedStored> {
    pub(super) fn resume_stored(core: &'a Core, store: Arc<dyn Store>, run_id: String) -> Self {
        let resumed = ResumedStored {
            run_id,
            store,
            despite_damage: false,
        };
        Self::of(core, resumed)
    }

    /// Resumes the run even if the end of its log is damaged. What happened in that part is lost and
    /// may be repeated: inspect the rest of the run first.
    pub fn despite_damage(mut self) -> Self {
        self.from.despite_damage = true;
        self
    }
}

impl<S: Shape, B: Answerable> Call<'_, S, B> {
    /// Answers an open question.
    pub fn answer(mut self, confirmation_id: impl Into<String>, decision: Decision) -> Self {
        let given = Given::Decision(confirmation_id.into(), decision);
        self.given.push(given);
        self
    }

    /// Answers the only open question in words: `yes`, `no` or an edit; anything else is feedback. See
    /// [`Question::read`](crate::Question::read). An invalid edit is an error that carries the run, and
    /// the question stays open.
    pub fn respond(mut self, text: impl Into<String>) -> Self {
        self.given.push(Given::Text(text.into()));
        self
    }
}

impl<'a, S: Shape, B> Call<'a, S, B> {
    fn of(core: &'a Core, from: B) -> Self {
        Self {
            core: Cow::Borrowed(core),
            from,
            given: Vec::new(),
            stops: Stops::default(),
            listener: None,
            begun: None,
            through: None,
            shape: std::marker::PhantomData,
        }
    }

    /// Clones the module into the call.
    pub(super) fn into_owned(self) -> Call<'static, S, B> {
        Call {
            core: Cow::Owned(self.core.into_owned()),
            from: self.from,
            given: self.given,
            stops: self.stops,
            listener: self.listener,
            begun: self.begun,
            through: self.through,
            shape: self.shape,
        }
    }

    /// Cancels the run when this token is cancelled.
    pub fn cancel_with(mut self, token: CancellationToken) -> Self {
        self.stops.cancellation = token;
        self
    }

    /// Stops work on the run when this token is cancelled, without ending the run: running calls can
    /// finish, nothing new starts, and an error of kind [`Interrupted`](ErrorKind::Interrupted) carries
    /// the run, which can be resumed.
    pub fn interrupt_with(mut self, token: CancellationToken) -> Self {
        self.stops.interruption = token;
        self
    }

    /// Calls this function with each update, as it happens.
    pub fn on_update(mut self, listener: impl Fn(&Update) + Send + Sync + 'static) -> Self {
        self.listener = Some(Listener::new(listener));
        self
    }

    /// Drives the run by an engine: `wrap` gets the effects of this call, and gives those that the run
    /// is driven by. It sees no [secrets](crate::Settings::secrets). See [`driver`](crate::driver).
    pub fn through(
        mut self,
        wrap: impl FnOnce(Box<dyn Effects>) -> Box<dyn Effects> + Send + 'static,
    ) -> Self {
        self.through = Some(Box::new(wrap));
        self
    }
}

impl<S: Shape, B: StartFrom<S>> Call<'_, S, B> {
    /// Runs the call to completion on this thread.
    ///
    /// Fails inside an asynchronous runtime, where it would block the thread that has to make
    /// progress; await the call there.
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
        runtime.block_on(self.run())
    }

    async fn run(self) -> Result<Outcome<S::Output>, Error> {
        let core = &*self.core;
        let ready = core.prepare(self.stops, self.listener, self.through)?;
        let model = ready.local.models.get(&PredictorName::Step).cloned();
        let (effects, mut state) = match self.from.start() {
            Beginning::New(new) => {
                let inputs = checked(core, values_of(&new.input)?)?;
                begin(core, ready, inputs, new.opening).await?
            }
            Beginning::Resumed(resumed) => {
                let Resumed { run, store } = *resumed;
                let kept = match store {
                    Some(store) => Some(adopt(store, &run).await?),
                    None => None,
                };
                resume(core, ready, kept, run)?
            }
            Beginning::ResumedStored(stored) => {
                let (store, run_id) = (stored.store, stored.run_id);
                let lease = store.acquire(&run_id).await?;
                let StoredRun { run, damage } = store.load(&run_id).await?.of(&run_id)?;
                if let Some(damage) = damage.filter(|_| !stored.despite_damage) {
                    return Err(Error::damaged(&damage).with_run(run));
                }
                resume(core, ready, Some((store, lease)), run)?
            }
        };
        if let Some(begun) = self.begun {
            let _ = begun.set(state.run().clone());
        }
        let stop = match answer(&mut state, &*effects, self.given).await {
            Ok(()) => {
                let has_content = settings::has_content_in_spans();
                driver::in_span(&mut state, &*effects, model.as_deref(), has_content).await
            }
            Err(error) => Err(error),
        };
        match stop {
            Ok(Stop::Finished) => Prediction::of(state.into_run()).map(Outcome::Finished),
            Ok(Stop::Paused(questions)) => {
                Ok(Outcome::Paused(Paused::new(state.into_run(), questions)))
            }
            Err(error) => Err(error.with_run(state.into_run())),
        }
    }
}

impl<'a, S, B> IntoFuture for Call<'a, S, B>
where
    S: Shape,
    B: StartFrom<S> + 'a,
{
    type Output = Result<Outcome<S::Output>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}
