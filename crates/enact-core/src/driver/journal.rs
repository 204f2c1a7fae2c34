//! Where the events of a run are made durable.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::run::Record;
use crate::run::store::{Lease, Store};

/// The log of one run in a store.
#[derive(Debug)]
pub(crate) struct Journal {
    store: Arc<dyn Store>,
    lease: Lease,
    /// Records that are written with the next ones.
    held: Mutex<Vec<Record>>,
}

impl Journal {
    pub(crate) fn new(store: Arc<dyn Store>, lease: Lease) -> Self {
        Self {
            store,
            lease,
            held: Mutex::default(),
        }
    }

    /// Makes records durable, and those that are held before them.
    pub(super) async fn append(&self, records: &[Record]) -> Result<(), Error> {
        let mut held = std::mem::take(&mut *self.held());
        if held.is_empty() {
            return Ok(self.store.append(&self.lease, records).await?);
        }
        let before = held.len();
        held.extend_from_slice(records);
        let appended = self.store.append(&self.lease, &held).await;
        if appended.is_err() {
            held.truncate(before);
            *self.held() = held;
        }
        Ok(appended?)
    }

    pub(super) fn hold(&self, records: &[Record]) {
        self.held().extend_from_slice(records);
    }

    /// Makes durable what is held.
    pub(super) async fn keep_held(&self) -> Result<(), Error> {
        if self.held().is_empty() {
            return Ok(());
        }
        self.append(&[]).await
    }

    fn held(&self) -> MutexGuard<'_, Vec<Record>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
