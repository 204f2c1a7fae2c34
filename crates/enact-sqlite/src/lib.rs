//! A store of runs in one SQLite file.
//!
//! [`SqliteStore`] stores every event of a run before it takes effect, so that a run survives its process
//! and can be resumed in another one. Only one process can work on a run at a time.
//!
//! ```no_run
//! use enact::{ReAct, Tools, values};
//! use enact_sqlite::SqliteStore;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let store = SqliteStore::open("runs.db").await?;
//! let agent = ReAct::builder("question -> answer").build()?;
//! let outcome = agent
//!     .call(values! { question: "Why is the sky blue?" })
//!     .run_id("sky")
//!     .store(store.clone())
//!     .await?;
//! // After a crash, or when a person has answered:
//! let outcome = agent.resume_stored(store, "sky").await?;
//! # Ok(())
//! # }
//! ```
//!
//! Besides `runs.db` there are the files `runs.db-wal` and `runs.db-shm`, which belong to it (copy them
//! together), and the directory `runs.db.locks`, with a file for each run that a process is working on.
//! All of them have to be on a local disk: SQLite and file locks don't work over a network.
//!
//! Events are rows of plain columns and JSON, which `sqlite3` shows as well as [`Store::load`] and
//! `enact show RUN --as events`:
//!
//! ```sql
//! SELECT position, datetime(at / 1000000000, 'unixepoch') AS at, event, body
//! FROM events JOIN runs USING (run) WHERE run_id = 'sky' ORDER BY position;
//! ```
//!
//! Runs that share a store share its commits: appends that arrive while the disk is busy are written
//! together afterwards. Each of them is on disk when it returns.

mod append;
mod connect;
mod error;
mod location;
mod lock;
mod log;
mod queue;
mod row;
mod schema;
mod summary;
#[cfg(test)]
mod tests;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use enact_core::run::store::{
    Lease, RunFilter, RunSummary, Store, StoreError, StoreErrorKind, StoreFuture, StoredRun,
};
use enact_core::run::{Record, Run};
use sqlx::SqlitePool;

use connect::Writer;
use error::Failure;
use lock::RunLock;

/// How long a write waits for writes of other processes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A lock is tried several times: a process that lists runs holds it briefly, to check whether it is free.
const LOCK_ATTEMPTS: usize = 3;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Runs in one SQLite file. Clones share the connections to it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{ScriptedModel, say};
/// use enact::run::store::Store as _;
/// use enact::{Predict, values};
/// use enact_sqlite::SqliteStore;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("runs.db");
/// let store = SqliteStore::open(&path).await?;
/// let qa = Predict::builder("question -> answer")
///     .model(ScriptedModel::new([say("Paris")]))
///     .build()?;
/// let done = qa.call(values! { question: "Capital of France?" }).store(store.clone()).await?;
/// let run = store.load(done.run().id()).await?.run;
/// assert_eq!(run.outputs(), done.run().outputs());
/// # Ok::<_, Box<dyn std::error::Error>>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SqliteStore {
    path: Arc<Path>,
    locks: Arc<Path>,
    writer: Arc<Writer>,
    readers: SqlitePool,
}

impl SqliteStore {
    /// Opens a store. The file and its parent directories are created if they don't exist.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with_timeout(path, BUSY_TIMEOUT).await
    }

    /// Opens a store and sets how long a write waits for writes of other processes before it fails with
    /// [`StoreErrorKind::Locked`]. The default of [`SqliteStore::open`] is 5 seconds.
    pub async fn open_with_timeout(
        path: impl AsRef<Path>,
        timeout: Duration,
    ) -> Result<Self, StoreError> {
        let path = path.as_ref();
        Self::open_now(path, timeout)
            .await
            .map_err(|failure| failure.told(path))
    }

    async fn open_now(path: &Path, timeout: Duration) -> Result<Self, Failure> {
        // SQLite interprets some relative names, such as `:memory:`, specially.
        let path = std::path::absolute(path)?;
        if let Some(folder) = path.parent() {
            connect::create_folder(folder)?;
        }
        let writer = connect::prepare(&path, timeout).await?;
        // A file has one directory of locks, whatever links lead to it.
        let mut locks = path.canonicalize()?.into_os_string();
        locks.push(".locks");
        Ok(Self {
            writer: Arc::new(writer),
            readers: connect::readers(&path, timeout),
            path: path.into(),
            locks: PathBuf::from(locks).into(),
        })
    }

    /// The path of the store.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The default path of the store for this user: `enact/runs.db` in the platform's data directory. None if
    /// the environment doesn't define that directory.
    pub fn default_path() -> Option<PathBuf> {
        location::default_path(std::env::consts::OS, |name| std::env::var_os(name))
    }

    /// Runs a fallible operation, and describes its error.
    fn telling<'a, T>(
        &'a self,
        work: impl Future<Output = Result<T, Failure>> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move { work.await.map_err(|failure| failure.told(&self.path)) })
    }

    async fn lock(&self, run_id: &str) -> Result<RunLock, StoreError> {
        for _ in 0..LOCK_ATTEMPTS {
            let lock = RunLock::try_new(&self.locks, run_id)
                .map_err(|error| Failure::from(error).told(&self.locks))?;
            if let Some(lock) = lock {
                return Ok(lock);
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        Err(StoreError::busy(run_id))
    }

    async fn acquire_now(&self, run_id: &str) -> Result<Lease, Failure> {
        let lock = self.lock(run_id).await?;
        append::fence(&self.writer, run_id, lock).await
    }

    async fn load_now(&self, run_id: &str) -> Result<StoredRun, Failure> {
        // Never committed: SQLite rejects a commit after finding damage.
        let mut transaction = self.readers.begin().await?;
        let readable = log::read(&mut transaction, run_id).await?;
        let readable = readable.ok_or_else(|| StoreError::not_found(run_id))?;
        if let ([], Some(damage)) = (&readable.records[..], &readable.damage) {
            return Err(log::unreadable(run_id, damage).into());
        }
        let run = Run::try_from(readable.records).map_err(|error| {
            StoreError::new(
                StoreErrorKind::Corrupt,
                format!("the run `{run_id}` cannot be read: {error}"),
            )
            .with_source(error)
        })?;
        let damage = readable.damage.map(|damage| damage.reason);
        Ok(StoredRun::new(run).with_damage(damage))
    }

    async fn list_now(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, Failure> {
        let mut transaction = self.readers.begin().await?;
        log::list(&mut transaction, filter, &self.locks).await
    }

    async fn delete_now(&self, run_id: &str) -> Result<(), Failure> {
        let _lock = self.lock(run_id).await?;
        match log::delete(&self.writer, run_id).await? {
            true => Ok(()),
            false => Err(StoreError::not_found(run_id).into()),
        }
    }
}

impl Store for SqliteStore {
    fn acquire<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, Lease> {
        self.telling(self.acquire_now(run_id))
    }

    fn append<'a>(&'a self, lease: &'a Lease, records: &'a [Record]) -> StoreFuture<'a, ()> {
        self.telling(append::append(&self.writer, lease, records))
    }

    fn load<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, StoredRun> {
        self.telling(self.load_now(run_id))
    }

    fn list<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunSummary>> {
        self.telling(self.list_now(filter))
    }

    fn delete<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, ()> {
        self.telling(self.delete_now(run_id))
    }
}
