//! Connections. All of them are created here, so that all of them are durable.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection, SqlitePool};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};
use tokio::time::{Instant, timeout_at};

use crate::append::Append;
use crate::error::{Failure, is_locked};
use crate::queue::Queue;
use crate::schema;
use crate::write::{Done, Fenced, Work};

/// Starts a write transaction. It waits for other writers once, at the start, because waiting later would
/// not help.
pub(crate) const BEGIN: &str = "BEGIN IMMEDIATE";

/// The time between two attempts to prepare a file.
const PAUSE: Duration = Duration::from_millis(10);

/// How long a writer waits for other writers in its process.
pub(crate) const QUEUE_TIMEOUT: Duration = Duration::from_secs(30);

/// Readers wait neither for the writer nor for each other.
const READERS: u32 = 4;

fn options(path: &Path, timeout: Duration) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        .busy_timeout(timeout)
        // The intent of an effect has to be on disk before the effect. On macOS, that takes more than a plain
        // sync.
        .synchronous(SqliteSynchronous::Full)
        .pragma("fullfsync", "1")
        .disable_statement_logging()
}

/// Migrates the file to the newest schema, or explains why it isn't possible. Returns the connection for
/// writing.
pub(crate) async fn prepare(path: &Path, timeout: Duration) -> Result<Writer, Failure> {
    let begun = Instant::now();
    loop {
        // SQLite doesn't wait if two connections change the mode of a new file simultaneously.
        match prepare_now(path, timeout).await {
            Err(Failure::Sql(error)) if is_locked(&error) && begun.elapsed() < timeout => {
                tokio::time::sleep(PAUSE).await;
            }
            done => return done,
        }
    }
}

async fn prepare_now(path: &Path, timeout: Duration) -> Result<Writer, Failure> {
    create_private(path);
    let options = options(path, timeout);
    let mut connection = options.clone().create_if_missing(true).connect().await?;
    schema::check_or_migrate(&mut connection).await?;
    // The mode is stored in the file: later connections use it.
    sqlx::query("PRAGMA journal_mode = WAL")
        .execute(&mut connection)
        .await?;
    Ok(Writer {
        options,
        connection: Mutex::new(Some(connection)),
        queue: Queue::default(),
    })
}

/// Creates the file for its owner only, or changes its permissions: runs contain whole conversations.
/// SQLite's further files get the same permissions. If this fails, SQLite reports the reason.
fn create_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
    #[cfg(unix)]
    for suffix in ["", "-wal", "-shm"] {
        use std::os::unix::fs::PermissionsExt as _;

        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        if let Ok(found) = std::fs::metadata(&file)
            && found.is_file()
            && found.permissions().mode() & 0o077 != 0
        {
            let own = std::fs::Permissions::from_mode(found.permissions().mode() & 0o700);
            // The permissions of another user's file are not changed.
            let _ = std::fs::set_permissions(&file, own);
        }
    }
}

/// Creates a directory and its parents, accessible only to the owner. An existing one is not changed.
pub(crate) fn create_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// The connection for the writers of this process: they queue for it, whereas SQLite would let them retry
/// repeatedly.
#[derive(Debug)]
pub(crate) struct Writer {
    options: SqliteConnectOptions,
    /// None after a connection that became unusable.
    connection: Mutex<Option<SqliteConnection>>,
    queue: Queue,
}

impl Writer {
    /// Writes an append, together with other pending work. It is on disk when this returns `true`; `false`
    /// means that it was out of turn.
    pub(crate) async fn append(&self, append: Append) -> Result<bool, Failure> {
        let done = self
            .queue
            .write(self, Work::Append(Box::new(append)))
            .await?;
        Ok(matches!(done, Done::Appended(true)))
    }

    /// Gives a run a new fencing number, in the same way.
    pub(crate) async fn fence(&self, run_id: &str) -> Result<Fenced, Failure> {
        match self
            .queue
            .write(self, Work::Fence(run_id.to_owned()))
            .await?
        {
            Done::Fenced(fenced) => Ok(*fenced),
            Done::Appended(_) => Err(sqlx::Error::RowNotFound.into()),
        }
    }

    /// The amount of pending work.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.queue.length()
    }

    /// Waits for the connection.
    pub(crate) async fn turn(&self) -> Result<MappedMutexGuard<'_, SqliteConnection>, Failure> {
        self.turn_by(Instant::now() + QUEUE_TIMEOUT).await
    }

    /// Waits for the connection until a deadline.
    pub(crate) async fn turn_by(
        &self,
        deadline: Instant,
    ) -> Result<MappedMutexGuard<'_, SqliteConnection>, Failure> {
        let waiting = timeout_at(deadline, self.connection.lock());
        let mut place = waiting.await.map_err(|_| Failure::Crowded)?;
        if let Some(connection) = &mut *place
            && !is_usable(connection).await
        {
            *place = None;
        }
        let connection = match place.take() {
            Some(connection) => connection,
            None => self.options.connect().await?,
        };
        Ok(MutexGuard::map(place, |place| place.insert(connection)))
    }
}

/// After some errors, such as a full disk, SQLite has already rolled back when sqlx does so, and sqlx
/// considers the transaction open from then on.
async fn is_usable(connection: &mut SqliteConnection) -> bool {
    // Before it answers, an abandoned transaction is rolled back.
    !connection.is_in_transaction()
        || (connection.ping().await.is_ok() && !connection.is_in_transaction())
}

/// Read-only connections.
pub(crate) fn readers(path: &Path, timeout: Duration) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .test_before_acquire(false)
        .connect_lazy_with(options(path, timeout))
}
