//! One call of a module: what it starts from, and what it may do.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::core::{Core, Stops};
use super::prediction::{Outcome, Paused, Prediction};
use crate::driver::{
    self, Durability, Effects, Listener, Local, Redacted, Stop, Stored, Traced, Update,
};
use crate::error::{Error, ErrorKind};
use crate::react::{RunState, Wording};
use crate::run::store::{Lease, Store, StoreError, StoreErrorKind, StoredRun};
use crate::run::{
    AgentSpec, AnswerError, Decision, Event, History, Limits, Parent, PredictorName, Record, Run,
    Started,
};
use crate::settings;
use crate::signature::{Shape, Values};

/// A call that has not begun. Set what it needs, then await it.
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<'a, S: Shape> {
    core: Cow<'a, Core>,
    start: Start<S>,
    limits: Limits,
    pub(super) stops: Stops,
    pub(super) listener: Option<Listener>,
    store: Option<Arc<dyn Store>>,
    decisions: Vec<Given>,
    goes_on_despite_damage: bool,
    is_unattended: bool,
    through: Option<Box<Through>>,
    /// What was set that this sort of call does not take.
    misuse: Option<&'static str>,
}

/// Where a run is kept, and the right to write to it.
type Kept = (Arc<dyn Store>, Lease);

/// Puts effects around those of a call.
type Through = dyn FnOnce(Box<dyn Effects>) -> Box<dyn Effects> + Send;

/// An answer as it was given.
enum Given {
    Decision(String, Decision),
    Text(String),
}

enum Start<S: Shape> {
    New {
        input: S::Input,
        history: History,
        run_id: Option<String>,
        notes: Values,
        parent: Option<Parent>,
    },
    Resume(Run),
    ResumeStored(String),
}

impl<'a, S: Shape> Call<'a, S> {
    pub(super) fn new(core: &'a Core, input: S::Input) -> Self {
        Self::of(
            core,
            Start::New {
                input,
                history: History::new(),
                run_id: None,
                notes: Values::new(),
                parent: None,
            },
        )
    }

    pub(super) fn resume(core: &'a Core, run: Run) -> Self {
        Self::of(core, Start::Resume(run))
    }

    pub(super) fn resume_stored(core: &'a Core, store: Arc<dyn Store>, run_id: String) -> Self {
        Self {
            store: Some(store),
            ..Self::of(core, Start::ResumeStored(run_id))
        }
    }

    fn of(core: &'a Core, start: Start<S>) -> Self {
        Self {
            core: Cow::Borrowed(core),
            start,
            limits: core.program().limits,
            stops: Stops::default(),
            listener: None,
            store: None,
            decisions: Vec::new(),
            goes_on_despite_damage: false,
            is_unattended: false,
            through: None,
            misuse: None,
        }
    }

    /// The same call, without borrowing the module.
    pub(super) fn into_owned(self) -> Call<'static, S> {
        Call {
            core: Cow::Owned(self.core.into_owned()),
            ..self
        }
    }

    /// Goes on from an earlier conversation, which is not changed. A resumed run has its own.
    pub fn history(mut self, earlier: &History) -> Self {
        match &mut self.start {
            Start::New { history, .. } => history.clone_from(earlier),
            _ => self.misuse = Some("a resumed run has its own history"),
        }
        self
    }

    /// Gives the run this id instead of a new one. A resumed run keeps its own.
    pub fn run_id(mut self, id: impl Into<String>) -> Self {
        match &mut self.start {
            Start::New { run_id, .. } => *run_id = Some(id.into()),
            _ => self.misuse = Some("a resumed run keeps its id"),
        }
        self
    }

    /// Keeps notes with the run, in its log: what the program needs to build the agent again.
    /// Never put a secret there. A resumed run keeps its own.
    pub fn notes(mut self, values: Values) -> Self {
        match &mut self.start {
            Start::New { notes, .. } => *notes = values,
            _ => self.misuse = Some("a resumed run keeps its notes"),
        }
        self
    }

    /// Links the run to the call of another run that it works for. A resumed run keeps its own.
    pub fn child_of(mut self, run: Parent) -> Self {
        match &mut self.start {
            Start::New { parent, .. } => *parent = Some(run),
            _ => self.misuse = Some("a resumed run keeps its parent"),
        }
        self
    }

    /// Allows this many steps in this call. A resumed run keeps its limits.
    pub fn max_iterations(self, max_iterations: u32) -> Self {
        self.limits(|limits| limits.max_iterations = max_iterations)
    }

    /// Changes the limits for this call. A resumed run keeps its own.
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        match &self.start {
            Start::New { .. } => change(&mut self.limits),
            _ => self.misuse = Some("a resumed run keeps its limits"),
        }
        self
    }

    /// Answers an open question of a resumed run.
    pub fn answer(self, confirmation_id: impl Into<String>, decision: Decision) -> Self {
        self.give(Given::Decision(confirmation_id.into(), decision))
    }

    /// Answers the one open question of a resumed run in words: `yes`, `no`, an edit, anything else
    /// is feedback. See [`Question::read`](crate::Question::read). An edit that cannot be read is an
    /// error with the run, whose question stays open.
    pub fn respond(self, text: impl Into<String>) -> Self {
        self.give(Given::Text(text.into()))
    }

    fn give(mut self, given: Given) -> Self {
        if matches!(self.start, Start::New { .. }) {
            self.misuse = Some("a new run has no question to answer");
        }
        self.decisions.push(given);
        self
    }

    /// Keeps every event in this store before it takes effect, so that the run can be resumed
    /// after a crash. No two processes can work on one stored run at a time.
    pub fn store(mut self, store: impl Store + 'static) -> Self {
        match &self.start {
            Start::ResumeStored(_) => self.misuse = Some("a stored run keeps its store"),
            _ => self.store = Some(Arc::new(store)),
        }
        self
    }

    /// Goes on with a stored run although the end of its log cannot be read. What happened in that
    /// part is lost, and may be done again: look at what is left before you say this.
    pub fn despite_damage(mut self) -> Self {
        self.goes_on_despite_damage = true;
        self
    }

    /// Asks nobody about a call that a crash left in doubt: it becomes an error observation that
    /// says so. A resumed run keeps what it began with.
    pub fn unattended(mut self) -> Self {
        match &self.start {
            Start::New { .. } => self.is_unattended = true,
            _ => self.misuse = Some("a resumed run keeps whether somebody is asked"),
        }
        self
    }

    /// Ends the run when this token is cancelled.
    pub fn cancel_with(mut self, token: CancellationToken) -> Self {
        self.stops.cancellation = token;
        self
    }

    /// Stops work on the run when this token is cancelled, without ending the run: calls under
    /// way may finish, nothing new begins, and the error of kind
    /// [`Interrupted`](ErrorKind::Interrupted) carries the run, which can be resumed.
    pub fn interrupt_with(mut self, token: CancellationToken) -> Self {
        self.stops.interruption = token;
        self
    }

    /// Tells this function what happens while it happens.
    pub fn on_update(mut self, listener: impl Fn(&Update) + Send + Sync + 'static) -> Self {
        self.listener = Some(Listener::new(listener));
        self
    }

    /// Drives the run by an engine: `wrap` gets the effects of this call, and gives those that the run
    /// is driven by. See [`driver`](crate::driver).
    pub fn through(
        mut self,
        wrap: impl FnOnce(Box<dyn Effects>) -> Box<dyn Effects> + Send + 'static,
    ) -> Self {
        self.through = Some(Box::new(wrap));
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
        let Self {
            core,
            start,
            store,
            stops,
            listener,
            limits,
            decisions,
            goes_on_despite_damage,
            is_unattended,
            through,
            ..
        } = self;
        let core = &*core;
        let (local, wording, mut agent) = core.prepare(stops, listener)?;
        let model = local.models.get(&PredictorName::Step).cloned();
        let (effects, mut state) = match start {
            Start::New {
                input,
                history,
                run_id,
                notes,
                parent,
            } => {
                let inputs = checked(core, values_of(&input)?)?;
                agent.notes = notes;
                let run_id = run_id.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
                let opening = Opening {
                    inputs,
                    history,
                    run_id,
                    limits,
                    parent,
                    is_unattended,
                };
                begin(core, (local, wording, agent), (store, through), opening).await?
            }
            Start::Resume(run) => {
                let kept = match store {
                    Some(store) => Some(adopt(store, &run).await?),
                    None => None,
                };
                resume(core, (local, wording, agent), (kept, through), run)?
            }
            Start::ResumeStored(run_id) => {
                let store =
                    store.ok_or_else(|| Error::new(ErrorKind::Misuse, "no store is set"))?;
                let lease = store.acquire(&run_id).await?;
                let StoredRun { run, damage } = store.load(&run_id).await?.of(&run_id)?;
                if let Some(damage) = damage.filter(|_| !goes_on_despite_damage) {
                    return Err(Error::damaged(&damage).with_run(run));
                }
                let kept = Some((store, lease));
                resume(core, (local, wording, agent), (kept, through), run)?
            }
        };
        let stop = match answer(&mut state, &*effects, decisions).await {
            Ok(()) => {
                let has_content = settings::has_content_in_spans();
                let model = model.as_deref();
                driver::in_span(&mut state, &*effects, model, has_content).await
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

/// What the run is driven by: the work in this process, kept in a store if there is one, by an engine
/// if one is given.
fn effects(local: Local, kept: Option<Kept>, through: Option<Box<Through>>) -> Box<dyn Effects> {
    let (secrets, models) = (local.secrets.clone(), local.models.clone());
    let mut effects: Box<dyn Effects> = match kept {
        Some((store, lease)) => Box::new(Stored::new(local, store, lease)),
        None => Box::new(local),
    };
    if let Some(through) = through {
        effects = through(effects);
    }
    if !secrets.is_empty() {
        effects = Box::new(Redacted::new(effects, secrets.clone()));
    }
    if driver::is_heard() {
        let content = settings::has_content_in_spans().then_some(secrets);
        effects = Box::new(Traced::new(effects, models, content));
    }
    effects
}

/// What a new run begins with.
struct Opening {
    inputs: Values,
    history: History,
    run_id: String,
    limits: Limits,
    parent: Option<Parent>,
    is_unattended: bool,
}

async fn begin(
    core: &Core,
    (local, wording, agent): (Local, Wording, AgentSpec),
    (store, through): (Option<Arc<dyn Store>>, Option<Box<Through>>),
    opening: Opening,
) -> Result<(Box<dyn Effects>, RunState), Error> {
    let Opening {
        inputs,
        history,
        run_id,
        limits,
        parent,
        is_unattended,
    } = opening;
    if limits.cost_budget.is_some() {
        let asked = PredictorName::ALL;
        if let Some(unknown) = asked.iter().find(|name| !agent.prices.contains_key(name)) {
            let message = format!(
                "the cost is limited, and the price of the model for `{}` is not known: give it \
                 with `with_prices`",
                unknown.as_str()
            );
            return Err(Error::new(ErrorKind::NoPrice, message));
        }
    }
    let kept = match store {
        Some(store) => {
            let lease = store.acquire(&run_id).await?;
            Some((store, lease))
        }
        None => None,
    };
    let mut started = Started::new(run_id, agent, inputs);
    started.history = history;
    started.limits = limits;
    started.rules = core.program().rules.clone();
    started.parent = parent;
    started.is_unattended = is_unattended;
    let mut event = driver::redacted(Event::began(started), &local.secrets)?;
    if let Some(key) = settings::current_seal_key() {
        // As it stands in the log, without secrets.
        event = event.sealed(&key);
    }
    let effects = effects(local, kept, through);
    let record = Record {
        position: 0,
        at: effects.now(),
        event,
    };
    let appended = effects.append(vec![record], Durability::Now).await;
    let mut appended = appended.map_err(driver::error_of)?.into_iter();
    let record = appended
        .next()
        .ok_or_else(|| Error::new(ErrorKind::Misuse, "the engine kept no start of the run"))?;
    let state = RunState::begin(core.program().clone(), wording, record)?;
    Ok((effects, state))
}

/// Puts a run under the care of a store: it takes in what it does not know of the run, and must not
/// know more or other than the run says.
async fn adopt(store: Arc<dyn Store>, run: &Run) -> Result<Kept, Error> {
    let lease = store.acquire(run.id()).await?;
    let ours = run.records().len() as u64;
    match store.load(run.id()).await {
        Ok(known) => {
            let theirs = known.run.records();
            let (Some(rest), true) = (
                run.records().get(theirs.len()..),
                run.records().starts_with(theirs),
            ) else {
                return Err(StoreError::position(run.id(), theirs.len() as u64, ours).into());
            };
            if !rest.is_empty() {
                store.append(&lease, rest).await?;
            }
        }
        Err(error) if error.kind() == StoreErrorKind::NotFound => {
            store.append(&lease, run.records()).await?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok((store, lease))
}

fn resume(
    core: &Core,
    (local, wording, agent): (Local, Wording, AgentSpec),
    (kept, through): (Option<Kept>, Option<Box<Through>>),
    run: Run,
) -> Result<(Box<dyn Effects>, RunState), Error> {
    let mut began = run.started().agent.clone();
    let mut program = core.program().clone();
    // Which tools the run has is what its log says. What is different by now is taken in before
    // anything else happens.
    if !local.has_tools(&began.tools) {
        program = Arc::new(program.with_tools(began.tools.clone())?);
    }
    if core.tools().may_change() {
        began.tools.clear();
    }
    if let Some(difference) = began.difference(&agent) {
        let message = format!("the run was made by another agent: {difference}");
        return Err(Error::new(ErrorKind::Log, message).with_run(run));
    }
    let state = RunState::resume(program, wording, run)?;
    Ok((effects(local, kept, through), state))
}

async fn answer(
    state: &mut RunState,
    effects: &dyn Effects,
    decisions: Vec<Given>,
) -> Result<(), Error> {
    let expired = driver::expire(state, effects).await;
    expired.map_err(driver::error_of)?;
    for given in decisions {
        let event = match given {
            Given::Decision(confirmation_id, decision) => {
                state.answer(&confirmation_id, decision)?
            }
            Given::Text(text) => {
                let open: Vec<_> = state.open_questions().collect();
                let [question] = open.as_slice() else {
                    return Err(AnswerError::NotOne(open.len()).into());
                };
                state.answer(&question.confirmation_id, question.read(&text)?)?
            }
        };
        let recorded = driver::record(state, effects, [event], Durability::Now).await;
        recorded.map_err(driver::error_of)?;
    }
    Ok(())
}

/// The inputs, if they fit. What is wrong with them is said without secrets, which a message would
/// quote in part.
fn checked(core: &Core, values: Values) -> Result<Values, Error> {
    let secrets = settings::secrets();
    if secrets.is_empty() {
        return Ok(core.program().check_inputs(values)?);
    }
    let given = values.clone();
    core.program().check_inputs(values).or_else(|_| {
        let named = given.into_iter().map(|(name, mut value)| {
            secrets.redact_value(&mut value);
            (name, value)
        });
        Ok(core.program().check_inputs(named.collect())?)
    })
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
