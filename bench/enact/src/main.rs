//! enact at the work of the bench: every adapter, in memory and with a store, and runs that wait.

mod agent;
mod paused;

use clap::{Parser, Subcommand};
use measure::Work;

use agent::Agent;

/// enact at the work of the bench.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    contender: Contender,
}

#[derive(Subcommand)]
enum Contender {
    /// Tool calls of the provider; nothing is kept.
    EnactNative(Work),
    /// The same, with each event in a SQLite file before it takes effect.
    EnactSqlite(Work),
    /// JSON objects.
    EnactJson(Work),
    /// Marker lines.
    EnactChat(Work),
    /// Tags.
    EnactXml(Work),
    /// Thought, action, observation.
    EnactTagged(Work),
    /// Runs that wait for a person, held in memory: what each of them takes.
    EnactPaused(Work),
    /// The same in a SQLite file.
    EnactPausedSqlite(Work),
}

fn main() -> anyhow::Result<()> {
    match Options::parse().contender {
        Contender::EnactNative(work) => in_memory("native", &work),
        Contender::EnactJson(work) => in_memory("json", &work),
        Contender::EnactChat(work) => in_memory("chat", &work),
        Contender::EnactXml(work) => in_memory("xml", &work),
        Contender::EnactTagged(work) => in_memory("tagged", &work),
        Contender::EnactSqlite(work) => {
            let folder = tempfile::tempdir()?;
            measure::measure("enact-sqlite", &work, |lookup| {
                let agent = Agent::new(&work, "native", lookup)?;
                Ok(agent.keeping_runs_in(folder.path().join("runs.db")))
            })
        }
        Contender::EnactPaused(work) => paused::in_memory(&work),
        Contender::EnactPausedSqlite(work) => paused::on_disk(&work),
    }
}

fn in_memory(adapter: &str, work: &Work) -> anyhow::Result<()> {
    measure::measure(&format!("enact-{adapter}"), work, |lookup| {
        Agent::new(work, adapter, lookup)
    })
}
