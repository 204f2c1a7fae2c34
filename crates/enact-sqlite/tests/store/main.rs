//! The store in a SQLite file, through the public API.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agents;
mod damage;
mod faults;
mod keeping;
mod listing;
mod paused;
mod processes;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use enact::run::store::{Lease, Store as _};
use enact::run::{AgentSpec, Event, Record, Started};
use enact::{Signature, Values};
use enact_sqlite::SqliteStore;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};
use tempfile::TempDir;

pub fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

pub fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("runs.db")
}

pub fn started(run_id: &str) -> Record {
    let signature = Signature::parse("question -> answer").unwrap();
    let agent = AgentSpec::new(signature, "model", "native");
    let started = Started::new(run_id, agent, Values::new());
    record(0, Event::Started(Arc::new(started)))
}

pub fn record(position: u64, event: Event) -> Record {
    Record {
        position,
        at: enact::Timestamp::UNIX_EPOCH,
        event,
    }
}

/// A record of about 300 bytes.
pub fn tool_started(position: u64) -> Record {
    let call_id = format!("call_{position}_{}", "x".repeat(200));
    record(position, Event::ToolStarted { call_id })
}

/// The records of a run that is not over.
pub fn records(run_id: &str, count: u64) -> Vec<Record> {
    let rest = (1..count).map(tool_started);
    std::iter::once(started(run_id)).chain(rest).collect()
}

/// Stores a run, and stays its writer.
pub async fn keep(store: &SqliteStore, run_id: &str, count: u64) -> Lease {
    let lease = store.acquire(run_id).await.unwrap();
    for record in records(run_id, count) {
        store.append(&lease, &[record]).await.unwrap();
    }
    lease
}

/// A connection of another program.
pub async fn raw(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap()
}

pub async fn execute(path: &Path, statement: &'static str) -> u64 {
    let done = sqlx::raw_sql(statement).execute(&mut raw(path).await).await;
    done.unwrap().rows_affected()
}
