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
    #[command(name = "enact-native")]
    Native(Work),
    /// The same, with each event in a SQLite file before it takes effect.
    #[command(name = "enact-sqlite")]
    Sqlite(Work),
    /// JSON objects.
    #[command(name = "enact-json")]
    Json(Work),
    /// Marker lines.
    #[command(name = "enact-chat")]
    Chat(Work),
    /// Tags.
    #[command(name = "enact-xml")]
    Xml(Work),
    /// Thought, action, observation.
    #[command(name = "enact-tagged")]
    Tagged(Work),
    /// Runs that wait for a person, held in memory: what each of them takes.
    #[command(name = "enact-paused")]
    Paused(Work),
    /// The same in a SQLite file.
    #[command(name = "enact-paused-sqlite")]
    PausedSqlite(Work),
}

fn main() -> anyhow::Result<()> {
    match Options::parse().contender {
        Contender::Native(work) => in_memory("native", &work),
        Contender::Json(work) => in_memory("json", &work),
        Contender::Chat(work) => in_memory("chat", &work),
        Contender::Xml(work) => in_memory("xml", &work),
        Contender::Tagged(work) => in_memory("tagged", &work),
        Contender::Sqlite(work) => {
            let folder = tempfile::tempdir()?;
            measure::measure("enact-sqlite", &work, |lookup| {
                let agent = Agent::new(&work, "native", lookup)?;
                Ok(agent.keeping_runs_in(folder.path().join("runs.db")))
            })
        }
        Contender::Paused(work) => paused::in_memory(&work),
        Contender::PausedSqlite(work) => paused::on_disk(&work),
    }
}

fn in_memory(adapter: &str, work: &Work) -> anyhow::Result<()> {
    measure::measure(&format!("enact-{adapter}"), work, |lookup| {
        Agent::new(work, adapter, lookup)
    })
}
