//! What surrounds a played agent: a model that takes its time, and a store whose process can die.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use enact::LanguageModel;
use enact::model::{Capabilities, ModelInfo, ReplyStream, Request, ScriptStep, ScriptedModel};
use enact::run::Record;
use enact::run::store::{
    Lease, MemoryStore, RunFilter, RunSummary, Store, StoreError, StoreErrorKind, StoreFuture,
    StoredRun,
};
use futures_util::StreamExt as _;

/// Plays a script; each turn takes its time.
#[derive(Debug)]
pub(crate) struct Paced {
    script: ScriptedModel,
    times: Mutex<VecDeque<Duration>>,
    /// How many turns were begun, by this process and those before it.
    pub(crate) begun: Arc<AtomicUsize>,
}

impl Paced {
    /// Plays what is left of a script after so many turns.
    pub(crate) fn new(turns: &[(ScriptStep, Duration)], begun: usize) -> Self {
        let left = turns.get(begun..).unwrap_or_default();
        let script = ScriptedModel::new(left.iter().map(|(step, _)| step.clone()));
        // The runner says itself whether the script was played to its end.
        script.abandon();
        Self {
            script,
            times: Mutex::new(left.iter().map(|(_, time)| *time).collect()),
            begun: Arc::new(AtomicUsize::new(begun)),
        }
    }
}

impl LanguageModel for Paced {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("scripted", Capabilities::FULL)
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let time = self.times.lock().unwrap().pop_front();
        let reply = self.script.stream(request);
        let pause = tokio::time::sleep(time.unwrap_or_default());
        Box::pin(futures_util::stream::once(pause).flat_map({
            let mut reply = Some(reply);
            move |()| {
                reply
                    .take()
                    .unwrap_or_else(|| Box::pin(futures_util::stream::empty()))
            }
        }))
    }
}

/// A store whose process dies when so many records are durable.
#[derive(Debug, Clone)]
pub(crate) struct Mortal {
    inner: MemoryStore,
    life: Arc<Mutex<Life>>,
}

#[derive(Debug, Default)]
struct Life {
    records: usize,
    dies_after: Option<usize>,
    is_dead: bool,
    begun: Arc<AtomicUsize>,
    /// How many turns were begun when the last record became durable.
    begun_then: usize,
}

impl Mortal {
    pub(crate) fn new(dies_after: Option<usize>) -> Self {
        let life = Life {
            dies_after,
            ..Life::default()
        };
        Self {
            inner: MemoryStore::new(),
            life: Arc::new(Mutex::new(life)),
        }
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap()
    }

    /// Watches how far this model's script is played.
    pub(crate) fn watch(&self, model: &Paced) {
        self.life().begun = model.begun.clone();
    }

    /// Whether the process is dead.
    pub(crate) fn is_dead(&self) -> bool {
        self.life().is_dead
    }

    /// Another process takes over, which does not die. Tells how much of the script is durable.
    pub(crate) fn revive(&self) -> usize {
        let mut life = self.life();
        (life.is_dead, life.dies_after) = (false, None);
        life.begun_then
    }
}

impl Store for Mortal {
    fn acquire<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, Lease> {
        self.inner.acquire(run_id)
    }

    fn append<'a>(&'a self, lease: &'a Lease, records: &'a [Record]) -> StoreFuture<'a, ()> {
        {
            let mut life = self.life();
            let after = life.records + records.len();
            if life.is_dead || life.dies_after.is_some_and(|most| after > most) {
                life.is_dead = true;
                let error = StoreError::new(StoreErrorKind::Io, "the process is gone");
                return Box::pin(std::future::ready(Err(error)));
            }
            life.records = after;
            life.begun_then = life.begun.load(Ordering::SeqCst);
        }
        self.inner.append(lease, records)
    }

    fn load<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, StoredRun> {
        self.inner.load(run_id)
    }

    fn list<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunSummary>> {
        self.inner.list(filter)
    }

    fn delete<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, ()> {
        self.inner.delete(run_id)
    }
}
