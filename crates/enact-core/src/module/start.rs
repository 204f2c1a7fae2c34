//! Starts a call: the effects that drive its run, and the initial state.

use std::sync::Arc;

use serde_json::Value;

use super::core::{Core, Ready, Through};
use crate::driver::{self, Durability, Effects, Local, Redacted, Stored, Traced};
use crate::error::{Error, ErrorKind};
use crate::react::RunState;
use crate::run::store::{Lease, Store, StoreError, StoreErrorKind};
use crate::run::{
    AnswerError, Decision, Event, History, Limits, Parent, PredictorName, Record, Run, Started,
};
use crate::settings;
use crate::signature::Values;

/// The store of a run, and the lease to write to it.
pub(super) type Kept = (Arc<dyn Store>, Lease);

/// An answer as given.
#[derive(Debug)]
pub(super) enum Given {
    Decision(String, Decision),
    Text(String),
}

/// The effects that drive a run: work in this process, stored if there is a store, wrapped by an engine
/// if there is one.
fn effects(local: Local, through: Option<Box<Through>>, kept: Option<Kept>) -> Box<dyn Effects> {
    let (secrets, models) = (local.secrets.clone(), local.models.clone());
    let mut effects: Box<dyn Effects> = match kept {
        Some((store, lease)) => Box::new(Stored::new(local, store, lease)),
        None => Box::new(local),
    };
    let redacted = |effects: Box<dyn Effects>| -> Box<dyn Effects> {
        match secrets.is_empty() {
            true => effects,
            false => Box::new(Redacted::new(effects, secrets.clone())),
        }
    };
    if let Some(through) = through {
        // What it journals is without secrets, too.
        effects = through(redacted(effects));
    }
    effects = redacted(effects);
    if driver::is_heard() {
        let content = settings::has_content_in_spans().then_some(secrets);
        effects = Box::new(Traced::new(effects, models, content));
    }
    effects
}

/// What a new run starts with, besides its inputs.
#[derive(Default)]
pub(super) struct Opening {
    pub(super) history: History,
    pub(super) run_id: Option<String>,
    pub(super) notes: Values,
    pub(super) parent: Option<Parent>,
    pub(super) limits: Limits,
    pub(super) is_unattended: bool,
    pub(super) store: Option<Arc<dyn Store>>,
}

pub(super) async fn begin(
    core: &Core,
    ready: Ready,
    inputs: Values,
    opening: Opening,
) -> Result<(Box<dyn Effects>, RunState), Error> {
    let Ready {
        local,
        wording,
        mut agent,
        through,
    } = ready;
    if opening.limits.cost_budget.is_some() {
        let asked = PredictorName::ALL;
        if let Some(unknown) = asked.iter().find(|name| !agent.prices.contains_key(name)) {
            let message = format!(
                "the cost is limited, and the price of the model for `{}` is not known: give it \
                 with `prices`",
                unknown.as_str()
            );
            return Err(Error::new(ErrorKind::NoPrice, message));
        }
    }
    let run_id = opening.run_id;
    let run_id = run_id.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
    let kept = match opening.store {
        Some(store) => {
            let lease = store.acquire(&run_id).await?;
            Some((store, lease))
        }
        None => None,
    };
    agent.notes = opening.notes;
    let mut started = Started::new(run_id, agent, inputs);
    started.history = opening.history;
    started.limits = opening.limits;
    started.rules = core.program().rules.clone();
    started.parent = opening.parent;
    started.is_unattended = opening.is_unattended;
    let mut event = driver::redacted(Event::began(started), &local.secrets)?;
    if let Some(key) = settings::current().seal_key {
        // As stored in the log, without secrets.
        event = event.sealed(&key);
    }
    let effects = effects(local, through, kept);
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

/// Stores a run: adds the records that the store lacks, and fails if it has more or different
/// ones.
pub(super) async fn adopt(store: Arc<dyn Store>, run: &Run) -> Result<Kept, Error> {
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

pub(super) fn resume(
    core: &Core,
    ready: Ready,
    kept: Option<Kept>,
    run: Run,
) -> Result<(Box<dyn Effects>, RunState), Error> {
    let local = &ready.local;
    let mut began = run.started().agent.clone();
    let mut program = core.program().clone();
    // The log determines the tools of the run. Changes since then are applied before anything else
    // happens.
    if !local.has_tools(&began.tools) {
        program = Arc::new(program.with_tools(began.tools.clone())?);
    }
    if core.tools().may_change() {
        began.tools.clear();
    }
    if let Some(difference) = began.difference(&ready.agent) {
        let message = format!("the run was made by another agent: {difference}");
        return Err(Error::new(ErrorKind::Log, message).with_run(run));
    }
    let state = RunState::resume(program, ready.wording, run)?;
    Ok((effects(ready.local, ready.through, kept), state))
}

pub(super) async fn answer(
    state: &mut RunState,
    effects: &dyn Effects,
    decisions: Vec<Given>,
) -> Result<(), Error> {
    let expired = driver::expire(state, effects).await;
    expired.map_err(driver::error_of)?;
    let events = answers(state, decisions)?;
    let recorded = driver::record(state, effects, events, Durability::Now).await;
    recorded.map_err(driver::error_of)
}

/// The events for the answers if all of them fit; otherwise none are kept.
fn answers(state: &RunState, given: Vec<Given>) -> Result<Vec<Event>, AnswerError> {
    let mut answered: Vec<String> = Vec::new();
    let mut events = Vec::new();
    for given in given {
        let (id, decision) = match given {
            Given::Decision(id, decision) => (id, decision),
            Given::Text(text) => {
                let open = state.open_questions();
                let open = open.filter(|one| !answered.contains(&one.confirmation_id));
                let open: Vec<_> = open.collect();
                let [question] = open.as_slice() else {
                    return Err(AnswerError::NotOne(open.len()));
                };
                (question.confirmation_id.clone(), question.read(&text)?)
            }
        };
        if answered.contains(&id) {
            return Err(AnswerError::Repeated(id));
        }
        events.push(state.answer(&id, decision)?);
        answered.push(id);
    }
    Ok(events)
}

/// Validates the inputs. Problems are reported without secrets, which a message would partly
/// quote.
pub(super) fn checked(core: &Core, values: Values) -> Result<Values, Error> {
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

pub(super) fn values_of(input: &impl serde::Serialize) -> Result<Values, Error> {
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
