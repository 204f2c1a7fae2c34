//! Runs in memory: for tests, and for programs whose runs don't need to survive them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    Lease, RunFilter, RunSummary, Store, StoreError, StoreErrorKind, StoreFuture, StoredRun,
};
use crate::run::event::Record;
use crate::run::log::Run;

/// A store in memory. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    runs: Arc<Mutex<HashMap<String, Kept>>>,
}

#[derive(Debug, Default)]
struct Kept {
    records: Vec<Record>,
    summary: Option<RunSummary>,
    fence: u64,
    /// Whether the newest lease is still held.
    is_held: Arc<AtomicBool>,
}

/// Releases the lease when the writer drops it.
struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append_now(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError> {
        let mut runs = self.lock();
        let kept = runs.entry(lease.run_id().to_owned()).or_default();
        if kept.fence != lease.fence() {
            return Err(StoreError::fenced(lease.run_id()));
        }
        for (expected, record) in (kept.records.len() as u64..).zip(records) {
            if record.position != expected {
                let found = record.position;
                return Err(StoreError::position(lease.run_id(), expected, found));
            }
        }
        let mut summary = kept.summary.clone();
        for record in records {
            match &mut summary {
                Some(summary) => summary.apply(record),
                None => summary = RunSummary::begin(record),
            }
        }
        if summary.is_none() && !records.is_empty() {
            return Err(StoreError::new(
                StoreErrorKind::Corrupt,
                "the first record of a run must be its start",
            ));
        }
        kept.summary = summary;
        kept.records.extend_from_slice(records);
        Ok(())
    }
}

impl Store for MemoryStore {
    fn acquire<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, Lease> {
        Box::pin(async move {
            let mut runs = self.lock();
            let kept = runs.entry(run_id.to_owned()).or_default();
            if kept.is_held.load(Ordering::Acquire) {
                return Err(StoreError::busy(run_id));
            }
            kept.fence += 1;
            kept.is_held = Arc::new(AtomicBool::new(true));
            Ok(Lease::new(run_id, kept.fence, Guard(kept.is_held.clone())))
        })
    }

    fn append<'a>(&'a self, lease: &'a Lease, records: &'a [Record]) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.append_now(lease, records) })
    }

    fn load<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, StoredRun> {
        Box::pin(async move {
            let records = self.lock().get(run_id).map(|kept| kept.records.clone());
            let records = records.filter(|records| !records.is_empty());
            let records = records.ok_or_else(|| StoreError::not_found(run_id))?;
            let run = Run::try_from(records).map_err(|error| {
                StoreError::new(StoreErrorKind::Corrupt, error.to_string()).with_source(error)
            })?;
            Ok(StoredRun::new(run))
        })
    }

    fn list<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunSummary>> {
        Box::pin(async move {
            let runs = self.lock();
            let mut list: Vec<RunSummary> = runs
                .values()
                .filter_map(|kept| {
                    let has_writer = kept.is_held.load(Ordering::Acquire);
                    Some(kept.summary.clone()?.with_writer(has_writer))
                })
                .filter(|summary| filter.fits(summary))
                .collect();
            list.sort_by(|a, b| (b.started, &b.run_id).cmp(&(a.started, &a.run_id)));
            list.truncate(filter.limit.map_or(usize::MAX, |limit| limit as usize));
            Ok(list)
        })
    }

    fn delete<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let mut runs = self.lock();
            let kept = runs.get_mut(run_id).filter(|kept| !kept.records.is_empty());
            let kept = kept.ok_or_else(|| StoreError::not_found(run_id))?;
            if kept.is_held.load(Ordering::Acquire) {
                return Err(StoreError::busy(run_id));
            }
            // The fencing number is kept: an old lease must never become valid again.
            kept.records.clear();
            kept.summary = None;
            Ok(())
        })
    }
}
