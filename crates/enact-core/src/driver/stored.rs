//! The log of a run in a store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::effects::{Durability, Effect, Effects, Stopped};
use crate::error::Error;
use crate::run::Record;
use crate::run::store::{Lease, Store};

/// Stores the log of a run in a [`Store`], under a lease: only one process writes to a run.
pub struct Stored<E> {
    inner: E,
    store: Arc<dyn Store>,
    lease: Lease,
    /// Records that will be written with the next ones.
    held: Mutex<Vec<Record>>,
}

impl<E: Effects> Stored<E> {
    /// Writes to the run of this lease.
    pub fn new(inner: E, store: Arc<dyn Store>, lease: Lease) -> Self {
        Self {
            inner,
            store,
            lease,
            held: Mutex::default(),
        }
    }

    /// Makes records durable, including earlier ones that were held back.
    async fn keep(&self, records: &[Record]) -> Result<(), Stopped> {
        let mut held = std::mem::take(&mut *self.held());
        if held.is_empty() && records.is_empty() {
            return Ok(());
        }
        if held.is_empty() {
            return Ok(self.append_to_store(records).await?);
        }
        let before = held.len();
        held.extend_from_slice(records);
        let appended = self.append_to_store(&held).await;
        if appended.is_err() {
            held.truncate(before);
            *self.held() = held;
        }
        Ok(appended?)
    }

    async fn append_to_store(&self, records: &[Record]) -> Result<(), Error> {
        Ok(self.store.append(&self.lease, records).await?)
    }

    fn held(&self) -> MutexGuard<'_, Vec<Record>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Effects> Effects for Stored<E> {
    fn append<'a>(
        &'a self,
        records: Vec<Record>,
        durability: Durability,
    ) -> Effect<'a, Vec<Record>> {
        Box::pin(async move {
            match durability {
                Durability::Now => self.keep(&records).await?,
                Durability::WithNext => self.held().extend_from_slice(&records),
            }
            self.inner.append(records, durability).await
        })
    }

    crate::forward_effects!(self => (self.inner): now, proceed, ask, act, abandon, check, ends, tools, wait, stepped);
}
