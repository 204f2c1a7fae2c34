//! The tables, and how older databases get to them.

use sqlx::{Connection as _, SqliteConnection};

use crate::connect;
use crate::error::Failure;

/// Marks a database as one of enact's: `enac` in ASCII.
const APPLICATION_ID: i64 = 0x656e_6163;

/// The n-th brings a database from version n to version n + 1. Released ones are never changed.
const MIGRATIONS: [&str; 1] = ["
    PRAGMA application_id = 0x656e6163;

    -- Fencing numbers grow over all runs, so that those of a deleted run never come again.
    CREATE TABLE fences (last INTEGER NOT NULL) STRICT;
    INSERT INTO fences (last) VALUES (0);

    -- A run that was acquired but has no record yet has a fence and nothing else.
    CREATE TABLE runs (
        run INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        fence INTEGER NOT NULL,
        records INTEGER NOT NULL DEFAULT 0,
        status TEXT,
        started INTEGER, -- nanoseconds since 1970
        summary TEXT -- JSON
    ) STRICT;
    CREATE INDEX runs_by_start ON runs (started, run_id);
    CREATE INDEX runs_by_status ON runs (status, started, run_id);

    -- By the short key of the run: there are many of them.
    CREATE TABLE events (
        run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        body TEXT NOT NULL, -- the whole record as JSON
        checksum INTEGER NOT NULL,
        PRIMARY KEY (run, position)
    ) STRICT, WITHOUT ROWID;

    PRAGMA user_version = 1;
"];

/// Brings the database to the newest version. A database of a newer enact, or of another program,
/// is left as it is.
pub(crate) async fn check_or_migrate(connection: &mut SqliteConnection) -> Result<(), Failure> {
    if missing(connection).await?.is_empty() {
        return Ok(());
    }
    let mut transaction = connection.begin_with(connect::BEGIN).await?;
    // Another process may have been faster.
    for migration in missing(&mut transaction).await? {
        sqlx::raw_sql(*migration).execute(&mut *transaction).await?;
    }
    Ok(transaction.commit().await?)
}

async fn missing(connection: &mut SqliteConnection) -> Result<&'static [&'static str], Failure> {
    let (application, version, tables): (i64, i64, i64) = sqlx::query_as(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
         FROM pragma_application_id, pragma_user_version",
    )
    .fetch_one(connection)
    .await?;
    if (application, version, tables) != (0, 0, 0) && application != APPLICATION_ID {
        return Err(refused(
            "is of another program: choose another file for the runs",
        ));
    }
    let done = usize::try_from(version).ok();
    done.and_then(|done| MIGRATIONS.get(done..)).ok_or_else(|| {
        let known = MIGRATIONS.len();
        refused(&format!(
            "has version {version}, and this enact knows versions up to {known}: use a newer enact"
        ))
    })
}

fn refused(why: &str) -> Failure {
    Failure::Refused(why.to_owned())
}
