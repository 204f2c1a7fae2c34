//! Error messages that say what to do.

use std::io;
use std::path::Path;
use std::sync::Arc;

use enact_core::run::store::{StoreError, StoreErrorKind};

/// A failure without its message. The message names the database, which only the store knows.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Already reported.
    Store(StoreError),
    /// This enact can't use the database: it …
    Refused(String),
    /// Other writers in this process took too long.
    Crowded,
    /// Shared by all that was to be written together.
    Sql(Arc<sqlx::Error>),
    File(io::Error),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(Arc::new(error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl Failure {
    pub(crate) fn told(self, path: &Path) -> StoreError {
        let path = path.display();
        match self {
            Self::Store(error) => error,
            Self::Refused(why) => {
                let message = format!("the database `{path}` {why}");
                StoreError::new(StoreErrorKind::Corrupt, message)
            }
            Self::Crowded => {
                let message = format!(
                    "the database `{path}` is busy: other runs of this process have been writing \
                     for too long: try again later"
                );
                StoreError::new(StoreErrorKind::Locked, message)
            }
            Self::Sql(error) => {
                let what = advice(kind_of(&error), &error);
                StoreError::new(kind_of(&error), format!("the database `{path}` {what}"))
                    .with_source(error)
            }
            Self::File(error) => {
                let kind = match error.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                        StoreErrorKind::Full
                    }
                    _ => StoreErrorKind::Io,
                };
                let what = advice(kind, &error);
                StoreError::new(kind, format!("`{path}` {what}")).with_source(error)
            }
        }
    }
}

/// Whether the file itself is damaged.
pub(crate) fn is_corrupt(error: &sqlx::Error) -> bool {
    kind_of(error) == StoreErrorKind::Corrupt
}

/// Whether another process has the database.
pub(crate) fn is_locked(error: &sqlx::Error) -> bool {
    kind_of(error) == StoreErrorKind::Locked
}

/// Whether the cause is an append itself: its run is damaged, or it is too large for SQLite. After any
/// other error, work that was to be written with it fails too.
pub(crate) fn is_of_one(error: &sqlx::Error) -> bool {
    // SQLITE_CORRUPT, SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH
    matches!(code_of(error) & 0xff, 11 | 18 | 19 | 20)
}

/// See <https://sqlite.org/rescode.html>.
fn code_of(error: &sqlx::Error) -> u32 {
    let code = error.as_database_error().and_then(|error| error.code());
    code.and_then(|code| code.parse().ok()).unwrap_or(0)
}

fn kind_of(error: &sqlx::Error) -> StoreErrorKind {
    // Waiting this long for writers in the process is equivalent to a locked database.
    if matches!(error, sqlx::Error::PoolTimedOut) {
        return StoreErrorKind::Locked;
    }
    // The lower byte is the primary code.
    match code_of(error) & 0xff {
        5 | 6 => StoreErrorKind::Locked,    // SQLITE_BUSY, SQLITE_LOCKED
        11 | 26 => StoreErrorKind::Corrupt, // SQLITE_CORRUPT, SQLITE_NOTADB
        13 => StoreErrorKind::Full,         // SQLITE_FULL
        _ => StoreErrorKind::Io,
    }
}

fn advice(kind: StoreErrorKind, error: &dyn std::error::Error) -> String {
    let advice = match kind {
        StoreErrorKind::Locked => {
            "is locked by another process: wait until that is done, or end it, and try again"
        }
        StoreErrorKind::Full => "has no room left: free some space on its disk, and resume the run",
        StoreErrorKind::Corrupt => {
            "is damaged, or is no database: restore it from a copy, or move it away and begin anew"
        }
        // There are many causes, and only the cause says what to do.
        _ => {
            return format!(
                "cannot be opened, read or written: {error}: check that its folder is there, \
                 and that you may write to it"
            );
        }
    };
    advice.to_owned()
}
