//! Runs that wait for a person: what each of them takes, in memory and on disk.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use enact::{Outcome, Paused};
use measure::{Holding, Lookup, Work};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use crate::agent::Agent;

/// Runs before the measured ones, so that what all runs share is there.
const WARMUP: usize = 100;

/// Holds all runs at once, and prints what memory each of them takes.
pub(crate) fn in_memory(work: &Work) -> anyhow::Result<()> {
    measure::block_on(work, async {
        let agent = Agent::that_pauses(work, Lookup::silent(work.observation))?;
        drop(pause(&agent, work, "warm", WARMUP).await?);
        let before = measure::resident_memory()?;
        let runs = pause(&agent, work, "run", work.runs).await?;
        let held = measure::resident_memory()?.saturating_sub(before) * 1024;
        print("enact-paused", &runs, held)
    })
}

/// Keeps all runs in a file, and prints what each of them takes there.
pub(crate) fn on_disk(work: &Work) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    measure::block_on(work, async {
        let path = folder.path().join("runs.db");
        let agent = Agent::that_pauses(work, Lookup::silent(work.observation))?;
        let agent = agent.keeping_runs_in(path.clone());
        let runs = pause(&agent, work, "run", work.runs).await?;
        print("enact-paused-sqlite", &runs, size(&path).await?)
    })
}

/// Many runs, each up to the question that it asks.
async fn pause(
    agent: &Agent,
    work: &Work,
    kind: &'static str,
    count: usize,
) -> anyhow::Result<Vec<Paused>> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..work.concurrency.min(count) {
        let (agent, next) = (agent.clone(), next.clone());
        workers.spawn(async move {
            let mut runs = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return anyhow::Ok(runs);
                }
                let question = measure::question(&format!("{kind}-{number}"));
                match agent.ask(question).await? {
                    Outcome::Paused(paused) => runs.push(paused),
                    Outcome::Finished(_) => anyhow::bail!("a run did not pause"),
                }
            }
        });
    }
    let mut runs = Vec::with_capacity(count);
    while let Some(worker) = workers.join_next().await {
        runs.extend(worker.context("a worker ended")??);
    }
    Ok(runs)
}

fn print(name: &str, runs: &[Paused], bytes: u64) -> anyhow::Result<()> {
    let first = runs.first().context("no runs")?;
    let holding = Holding {
        contender: name.into(),
        runs: runs.len(),
        bytes_each: bytes as f64 / runs.len() as f64,
        message_bytes_each: serde_json::to_vec(&first.run().history())?.len() as f64,
    };
    println!("{}", serde_json::to_string(&holding)?);
    Ok(())
}

/// The file, once all that was written has gone from the journal into it.
async fn size(path: &Path) -> anyhow::Result<u64> {
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection = options.connect().await?;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut connection)
        .await?;
    connection.close().await?;
    Ok(std::fs::metadata(path)?.len())
}
