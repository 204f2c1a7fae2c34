//! What the contenders in Rust share: their options, their work, and the line they print.
//!
//! A contender implements [`Contender`] and calls [`measure`]. The peers in Python do the same in
//! `bench/python/measure.py`, with the same options and the same line.

mod cost;
mod task;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use clap::Args;
use tokio::runtime::Builder;

pub use cost::{Holding, Line, resident_memory};
pub use task::{INSTRUCTIONS, Lookup, question};

/// How much there is to do.
#[derive(Args, Debug, Clone)]
pub struct Work {
    /// The base URL, which names the script: see the server.
    #[arg(long)]
    pub base_url: String,
    /// Runs that are measured.
    #[arg(long, default_value_t = 1)]
    pub runs: usize,
    /// Runs before those.
    #[arg(long, default_value_t = 0)]
    pub warmup: usize,
    /// Runs at a time.
    #[arg(long, default_value_t = 1)]
    pub concurrency: usize,
    /// Steps of a run, the final answer included.
    #[arg(long, default_value_t = 10)]
    pub steps: usize,
    /// How long each observation is, in bytes.
    #[arg(long, default_value_t = 64)]
    pub observation: usize,
}

/// One library at work. Clones are made for runs at a time, and may share what the library shares.
pub trait Contender: Clone + Send + 'static {
    /// One run: asks the question, lets the tool look things up, and returns the answer.
    fn run(&mut self, question: String) -> impl Future<Output = anyhow::Result<String>> + Send;
}

/// Does the work and prints a line of JSON about it.
///
/// # Errors
/// When a run fails or ends with another answer than the scripted one.
pub fn measure<C: Contender>(
    name: &str,
    work: &Work,
    make: impl FnOnce(Lookup) -> anyhow::Result<C>,
) -> anyhow::Result<()> {
    block_on(work, async {
        let lookup = Lookup::new(work.observation);
        let contender = make(lookup.clone())?;
        run_all(&contender, work, "warm", work.warmup).await?;
        lookup.take_ticks();
        let start = cost::Start::now()?;
        run_all(&contender, work, "run", work.runs).await?;
        let line = start.line(name, work, &lookup.take_ticks())?;
        println!("{}", serde_json::to_string(&line)?);
        Ok(())
    })
}

/// Waits for something on the runtime that fits the work: one thread for one run at a time.
///
/// # Errors
/// What the work fails with.
pub fn block_on<T>(
    work: &Work,
    doing: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let mut builder = match work.concurrency {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.enable_all().build()?.block_on(doing)
}

async fn run_all<C: Contender>(
    contender: &C,
    work: &Work,
    kind: &'static str,
    runs: usize,
) -> anyhow::Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..work.concurrency.min(runs) {
        let (mut contender, next) = (contender.clone(), next.clone());
        workers.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= runs {
                    return Ok(());
                }
                let run = format!("{kind}-{number}");
                let answer = contender.run(question(&run)).await;
                let answer = answer.with_context(|| format!("the run `{run}`"))?;
                anyhow::ensure!(answer == task::ANSWER, "`{run}` answered `{answer}`");
            }
        });
    }
    while let Some(worker) = workers.join_next().await {
        worker.context("a worker ended")??;
    }
    Ok(())
}
