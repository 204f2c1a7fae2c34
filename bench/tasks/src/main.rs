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
use std::time::Instant;

use anyhow::Context as _;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use contender::{Contender, Order, Worker};
use report::{Result, Results};
use service::Service;

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
    /// A file of results; what it has is not done again.
    #[arg(long)]
    results: PathBuf,
    /// A Python with the peers' packages.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Write the tools as the peers read them to this file, and nothing else.
    #[arg(long)]
    write_tools: Option<PathBuf>,
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
    let mut results = Results::open(&args.results)?;
    let service = Service::start(url).await?;
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("dspy_agent.py");

    let total = contenders.len() * tasks.len();
    let bar = ProgressBar::new(total as u64).with_style(ProgressStyle::with_template(
        "{pos}/{len} {elapsed} {wide_msg}",
    )?);
    let mut workers = Vec::new();
    for contender in &contenders {
        workers.push((
            contender.name(),
            Worker::start(contender, &args.python, &script)?,
        ));
    }
    // Task by task, so that a run that was stopped has compared everybody on the same ones.
    for task in &tasks {
        for (name, worker) in &mut workers {
            bar.set_message(format!("{name} {}", task.id));
            bar.inc(1);
            if results.has(name, &task.id) {
                continue;
            }
            let run = format!("{name}-{}", task.id.replace(' ', "-"));
            let order = Order {
                url: service.url(&run),
                model: &args.model,
                instructions: task::INSTRUCTIONS,
                question: &task.question,
                max_iterations: args.max_iterations,
            };
            let began = Instant::now();
            let answered = worker
                .solve(&order)
                .await
                .with_context(|| format!("{name} on {}", task.id))?;
            let result = Result {
                contender: name.clone(),
                task: task.id.clone(),
                kind: task.kind.clone(),
                is_right: task.expected.is_met_by(&answered.answer),
                seconds: began.elapsed().as_secs_f64(),
                answered,
                asked: service.asked(&run),
            };
            results.add(result)?;
        }
    }
    bar.finish_and_clear();
    println!("{}", report::table(&results.list));
    Ok(())
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
