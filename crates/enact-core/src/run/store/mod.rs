//! Stores, in which logs survive their process.
//!
//! A [`Store`] keeps the records of runs, each with one writer at a time. It is implemented by
//! [`MemoryStore`] and by database crates, and called by drivers. [`check_store`] checks whether an
//! implementation keeps the guarantees of the trait.

mod checks;
mod memory;
mod summary;

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;

use super::event::Record;
use super::log::{Run, RunError};

pub use checks::check_store;
pub use memory::MemoryStore;
pub use summary::{RunFilter, RunStatus, RunSummary};

/// The future of a store operation.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Stores the logs of runs. Implemented for databases; called by drivers.
///
/// Guarantees of a store: an append is atomic, and durable when it returns; the records of a run have
/// the positions 0, 1, 2, … without gaps; only the newest lease of a run can append
/// to it.
pub trait Store: Send + Sync + fmt::Debug {
    /// Acquires the lease to write to a run, which doesn't have to exist yet. Fails with
    /// [`StoreErrorKind::Busy`] while there is another writer.
    fn acquire<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, Lease>;

    /// Appends records to the run of the lease. The first record must have the position after the last
    /// stored one, or the append fails with [`StoreErrorKind::Position`]; an outdated lease fails with
    /// [`StoreErrorKind::Fenced`].
    fn append<'a>(&'a self, lease: &'a Lease, records: &'a [Record]) -> StoreFuture<'a, ()>;

    /// Loads a run. A damaged end is left out and reported.
    fn load<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, StoredRun>;

    /// Lists the runs that match the filter, newest first.
    fn list<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunSummary>>;

    /// Deletes a run. Fails while it has a writer.
    fn delete<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, ()>;
}

/// The permission to write to a run. Released when it is dropped.
pub struct Lease {
    run_id: String,
    fence: u64,
    guard: Box<dyn Any + Send + Sync>,
}

impl Lease {
    /// Creates a lease with a fencing number, which is higher than that of all earlier leases. The guard
    /// releases the lease when it is dropped.
    pub fn new(run_id: impl Into<String>, fence: u64, guard: impl Any + Send + Sync) -> Self {
        Self {
            run_id: run_id.into(),
            fence,
            guard: Box::new(guard),
        }
    }

    /// The run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// The fencing number.
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// The guard, for the store that created the lease: it can keep there what it needs for each
    /// append.
    pub fn guard<T: Any>(&self) -> Option<&T> {
        self.guard.downcast_ref()
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("run_id", &self.run_id)
            .field("fence", &self.fence)
            .finish_non_exhaustive()
    }
}

/// A run in a store.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredRun {
    /// The run, as far as its log is readable.
    pub run: Run,
    /// The problem with the rest, if there is one.
    pub damage: Option<String>,
}

impl StoredRun {
    /// A run whose log can be read as a whole.
    pub fn new(run: Run) -> Self {
        Self { run, damage: None }
    }

    /// The same, of which the rest cannot be read for this reason.
    #[must_use]
    pub fn with_damage(self, damage: impl Into<Option<String>>) -> Self {
        let damage = damage.into();
        Self { damage, ..self }
    }

    /// The same, if its log is that of the run that was asked for. A log that was copied under another
    /// id would be resumed with the seal and the answers of that other run.
    pub fn of(self, run_id: &str) -> Result<Self, RunError> {
        match self.run.id() {
            found if found == run_id => Ok(self),
            found => Err(RunError::OtherRun {
                asked: run_id.to_owned(),
                found: found.to_owned(),
            }),
        }
    }
}

/// The kind of a [`StoreError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The run doesn't exist.
    NotFound,
    /// Another writer has the run.
    Busy,
    /// Another writer has taken over the run.
    Fenced,
    /// The records don't follow the stored ones.
    Position,
    /// There is no space left.
    Full,
    /// The database is locked by another process.
    Locked,
    /// The log cannot be read at all.
    Corrupt,
    /// The store cannot be reached or written to.
    Io,
}

impl StoreErrorKind {
    /// The kind as one word, such as `not_found`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "run_not_found",
            Self::Busy => "run_busy",
            Self::Fenced => "run_taken_over",
            Self::Position => "position",
            Self::Full => "store_full",
            Self::Locked => "store_locked",
            Self::Corrupt => "corrupt",
            Self::Io => "store",
        }
    }
}

/// A store operation failed. The run remains as it was stored before.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl StoreError {
    /// Creates an error with a message that says what to do.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// The run doesn't exist.
    pub fn not_found(run_id: &str) -> Self {
        Self::new(
            StoreErrorKind::NotFound,
            format!("there is no run `{run_id}`"),
        )
    }

    /// Another writer has the run.
    pub fn busy(run_id: &str) -> Self {
        Self::new(
            StoreErrorKind::Busy,
            format!(
                "the run `{run_id}` is being worked on by another process: wait for it, or end it"
            ),
        )
    }

    /// Another writer has taken over the run.
    pub fn fenced(run_id: &str) -> Self {
        Self::new(
            StoreErrorKind::Fenced,
            format!("the run `{run_id}` was taken over by another process, which continues it"),
        )
    }

    /// The records don't follow the stored ones.
    pub fn position(run_id: &str, expected: u64, found: u64) -> Self {
        Self::new(
            StoreErrorKind::Position,
            format!(
                "the run `{run_id}` continues at position {expected}, not {found}: load it again"
            ),
        )
    }
}

impl<S: Store + ?Sized> Store for std::sync::Arc<S> {
    fn acquire<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, Lease> {
        (**self).acquire(run_id)
    }

    fn append<'a>(&'a self, lease: &'a Lease, records: &'a [Record]) -> StoreFuture<'a, ()> {
        (**self).append(lease, records)
    }

    fn load<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, StoredRun> {
        (**self).load(run_id)
    }

    fn list<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunSummary>> {
        (**self).list(filter)
    }

    fn delete<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, ()> {
        (**self).delete(run_id)
    }
}
