//! The tables, and migrations of older databases.

use sqlx::{Connection as _, SqliteConnection};

use crate::connect;
use crate::error::Failure;

/// Identifies a database as enact's: `enac` in ASCII.
const APPLICATION_ID: i64 = 0x656e_6163;

/// The first creates the tables; each of the others migrates from one version to the next. Released ones
/// are never changed.
const MIGRATIONS: [&str; 1] = ["
    PRAGMA application_id = 0x656e6163;

    -- Fencing numbers grow over all runs, so that those of a deleted run never come again.
    CREATE TABLE fences (last INTEGER NOT NULL) STRICT;
    INSERT INTO fences (last) VALUES (0);

    -- What runs say of their agent, once for all runs of it: the more tools it has, the more this is.
    CREATE TABLE agents (
        agent INTEGER PRIMARY KEY,
        crc32 INTEGER NOT NULL, -- of spec, to find it by
        signature TEXT NOT NULL,
        model TEXT NOT NULL,
        spec TEXT NOT NULL -- JSON
    ) STRICT;
    CREATE INDEX agents_by_crc32 ON agents (crc32);

    -- A run that was acquired but has no record yet has a fence and nothing else. Times are nanoseconds
    -- since 1970.
    CREATE TABLE runs (
        run INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        agent INTEGER REFERENCES agents (agent),
        fence INTEGER NOT NULL,
        records INTEGER NOT NULL DEFAULT 0,
        status TEXT,
        started INTEGER,
        updated INTEGER,
        steps INTEGER,
        open_questions INTEGER,
        termination_reason TEXT
    ) STRICT;
    CREATE INDEX runs_by_agent ON runs (agent);
    CREATE INDEX runs_by_start ON runs (started);
    CREATE INDEX runs_by_status ON runs (status, started);
    CREATE TRIGGER last_run_of_agent AFTER DELETE ON runs
        WHEN NOT EXISTS (SELECT 1 FROM runs WHERE agent = OLD.agent) BEGIN
            DELETE FROM agents WHERE agent = OLD.agent;
        END;

    -- In the order of appending, so that pages are filled one after another. By the short key of the
    -- run: there are many of them.
    CREATE TABLE events (
        run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        at INTEGER NOT NULL, -- nanoseconds since 1970
        event TEXT NOT NULL, -- what happened, as one word
        body TEXT NOT NULL, -- the other keys of the event but `agent`, as a JSON object
        crc32 INTEGER NOT NULL -- of all this with spaces between; see `row.rs`
    ) STRICT;
    CREATE UNIQUE INDEX events_by_run ON events (run, position);

    PRAGMA user_version = 3;
"];

/// The version that the first migration creates. Files of versions 1 and 2 were written by builds before
/// the first release.
const FIRST_VERSION: i64 = 3;

/// Migrates the database to the newest version. A database of a newer enact, or of another program, is not
/// changed.
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
    if version == 0 {
        return Ok(&MIGRATIONS);
    }
    if version < FIRST_VERSION {
        return Err(refused(
            "was written by a build from before the first release, which this enact cannot read: \
             move it away, or choose another file for the runs",
        ));
    }
    let done = usize::try_from(version - FIRST_VERSION + 1).ok();
    done.and_then(|done| MIGRATIONS.get(done..)).ok_or_else(|| {
        let known = FIRST_VERSION as usize + MIGRATIONS.len() - 1;
        refused(&format!(
            "has version {version}, and this enact knows versions up to {known}: use a newer enact"
        ))
    })
}

fn refused(why: &str) -> Failure {
    Failure::Refused(why.to_owned())
}
