//! Tool tasks with checkable answers, solved by enact and by its peers with one model.
//!
//! See `bench/quality`, which builds this, makes the peers' environment and calls it.

mod contender;
mod enact_agent;
mod report;
mod service;
mod task;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};

use contender::{Contender, Order, Worker};
use report::{Result, Results};
use service::Service;
use task::Task;

#[derive(Debug, Parser)]
struct Args {
    /// The base URL of an OpenAI-compatible server, such as `http://127.0.0.1:8080/v1`.
    #[arg(long)]
    url: Option<String>,
    /// The model's name at that server.
    #[arg(long, default_value = "default")]
    model: String,
    /// Who solves the tasks.
    #[arg(long, value_delimiter = ',', default_value = contender::ALL)]
    contenders: Vec<String>,
    /// Only tasks whose name begins so, such as `calculate` or `file-2`.
    #[arg(long, value_delimiter = ',')]
    tasks: Vec<String>,
    /// The most steps of a run.
    #[arg(long, default_value_t = 8)]
    max_iterations: u32,
    /// How many contenders are at work at a time. More than one is faster with a server that has as
    /// many slots, and slower with one that has not.
    #[arg(long, default_value_t = 1)]
    at_a_time: usize,
    /// Keep what each run sent and got in this folder, a file for each.
    #[arg(long)]
    transcripts: Option<PathBuf>,
    /// A file of results; what it has is not done again.
    #[arg(long)]
    results: PathBuf,
    /// Write the table of all results to this file, in Markdown.
    #[arg(long)]
    report: Option<PathBuf>,
    /// A Python with the peers' packages.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Write the tools as the peers read them to this file, and nothing else.
    #[arg(long)]
    write_tools: Option<PathBuf>,
}

impl Args {
    /// What to type to do the same again. Results of several calls, each with some of the contenders and
    /// tasks, make up one report, so it names neither.
    fn command(&self) -> String {
        format!(
            "bench/quality --url URL --model {} --max-iterations {}",
            self.model, self.max_iterations
        )
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if let Some(path) = &args.write_tools {
        return Ok(std::fs::write(path, tools_json()?)?);
    }
    let url = args
        .url
        .as_deref()
        .context("say with --url where the model is")?;
    let contenders = args
        .contenders
        .iter()
        .map(|name| name.parse())
        .collect::<anyhow::Result<Vec<Contender>>>()?;
    let tasks = task::read(&args.tasks)?;
    let mut results = Results::open(&args.results, &args.model, args.max_iterations)?;
    let service = Service::start(url, args.transcripts.clone()).await?;
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("dspy_agent.py");

    let total = contenders.len() * tasks.len();
    let bar = ProgressBar::new(total as u64).with_style(ProgressStyle::with_template(
        "{pos}/{len} {elapsed} {wide_msg}",
    )?);
    bar.enable_steady_tick(Duration::from_secs(1));
    // Whoever has waited longest comes next, so that with one at a time all are compared on the same
    // tasks when a run is stopped.
    let turns = Arc::new(Semaphore::new(args.at_a_time));
    let (done, mut results_of) = mpsc::unbounded_channel();
    for contender in contenders {
        let name = contender.name();
        let worker = Worker::start(&contender, &args.python, &script)?;
        let open = tasks.iter().filter(|task| !results.has(&name, &task.id));
        let solver = Solver {
            tasks: open.cloned().collect(),
            name,
            worker,
            model: args.model.clone(),
            max_iterations: args.max_iterations,
            service: service.clone(),
            turns: turns.clone(),
            bar: bar.clone(),
        };
        bar.inc((tasks.len() - solver.tasks.len()) as u64);
        tokio::spawn(solver.solve(done.clone()));
    }
    drop(done);
    while let Some(result) = results_of.recv().await {
        results.add(result?)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let table = report::tables(&results.list, &task::read(&[])?);
    println!("{table}");
    if let Some(path) = &args.report {
        std::fs::write(path, report::page(&args.command(), &table))?;
    }
    Ok(())
}

/// A contender, and what it has to do.
struct Solver {
    name: String,
    worker: Worker,
    tasks: Vec<Task>,
    model: String,
    max_iterations: u32,
    service: Service,
    turns: Arc<Semaphore>,
    bar: ProgressBar,
}

impl Solver {
    /// Solves task after task, until nobody wants to know.
    async fn solve(mut self, done: mpsc::UnboundedSender<anyhow::Result<Result>>) {
        for task in std::mem::take(&mut self.tasks) {
            let result = self.solve_one(&task).await;
            let result = result.with_context(|| format!("{} on {}", self.name, task.id));
            if done.send(result).is_err() {
                return;
            }
        }
    }

    async fn solve_one(&mut self, task: &Task) -> anyhow::Result<Result> {
        let _turn = self.turns.clone().acquire_owned().await?;
        self.bar.set_message(format!("{} {}", self.name, task.id));
        let run = format!("{}-{}", self.name, task.id.replace(' ', "-"));
        let order = Order {
            url: self.service.url(&run),
            model: &self.model,
            instructions: task::INSTRUCTIONS,
            question: &task.question,
            max_iterations: self.max_iterations,
            max_tokens: task::MAX_TOKENS,
        };
        let began = Instant::now();
        let answered = self.worker.solve(&order).await?;
        if let Some(why) = self.service.unserved(&run) {
            anyhow::bail!(
                "the model could not be asked, so this task does not count ({why}). Start its \
                 server and say the same again: what was done before is kept"
            );
        }
        Ok(Result {
            model: self.model.clone(),
            max_iterations: self.max_iterations,
            contender: self.name.clone(),
            task: task.id.clone(),
            kind: task.kind.clone(),
            is_right: task.expected.is_met_by(&answered.answer),
            seconds: began.elapsed().as_secs_f64(),
            answered,
            asked: self.service.asked(&run),
        })
    }
}

/// Names, descriptions and schemas of the tools, for contenders in other languages.
fn tools_json() -> anyhow::Result<String> {
    let tools = tools::tools();
    let specs = tools.iter().map(|tool| {
        let spec = tool.spec();
        json!({"name": spec.name, "description": spec.description, "parameters": spec.parameters})
    });
    Ok(serde_json::to_string_pretty(&specs.collect::<Vec<_>>())? + "\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_peers_have_the_same_tools() {
        let written = include_str!("../tools.json");
        assert_eq!(
            written,
            super::tools_json().unwrap(),
            "write it anew: --write-tools"
        );
    }
}
