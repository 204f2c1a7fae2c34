//! Runs the contenders in turn, round by round, takes medians, and writes tables and plots.
//!
//! `bench/run` and `bench/gate` build what is needed and call this.

mod contender;
mod gate;
mod instructions;
mod plot;
mod report;
mod section;
mod sections;
mod server;
mod table;
mod targets;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

use contender::Contender;
use report::Report;
use section::{Bench, Measured, Rounds};
use server::Server;

/// Runs the contenders in turn, takes medians, and writes tables and plots.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures all contenders.
    Run(Run),
    /// Fails when enact needs more instructions a step than it did, against the floor.
    Gate(gate::Gate),
}

#[derive(Args)]
struct Run {
    /// The folder of the programs of the contenders.
    #[arg(long)]
    programs: PathBuf,
    /// The `enact` command, for its cold start.
    #[arg(long)]
    enact: PathBuf,
    /// The Python with the peers; without it they are left out.
    #[arg(long)]
    python: Option<PathBuf>,
    /// The folder of the scripts of the peers.
    #[arg(long)]
    scripts: PathBuf,
    /// Where tables and plots go.
    #[arg(long)]
    results: PathBuf,
    /// A folder for what is written meanwhile.
    #[arg(long)]
    scratch: PathBuf,
    /// Less work: everything is tried, nothing is known exactly.
    #[arg(long)]
    quick: bool,
    /// How often each contender is measured: five times, once if quick.
    #[arg(long)]
    rounds: Option<usize>,
    /// What else was going on on the machine, for the report.
    #[arg(long)]
    note: Option<String>,
    /// Only tables whose title contains this; the others stay as they are.
    #[arg(long)]
    only: Option<String>,
}

fn main() -> anyhow::Result<()> {
    match Options::parse().command {
        Command::Run(run) => measure_all(&run),
        Command::Gate(gate) => gate.check(),
    }
}

fn measure_all(run: &Run) -> anyhow::Result<()> {
    let server = Server::start(&run.programs.join("bench-server"))?;
    let mut contenders = contender::in_rust(&run.programs);
    if let Some(python) = &run.python {
        contenders.extend(contender::in_python(python, &run.scripts));
    }
    std::fs::create_dir_all(&run.scratch)?;
    contenders.push(Contender::command(&run.enact, &run.scratch.join("runs.db")));
    let rounds = run.rounds.unwrap_or(if run.quick { 1 } else { 5 });
    let bench = Bench {
        server,
        contenders,
        quick: run.quick,
        rounds,
    };
    let mut report = Report::begin(run.quick, run.note.clone());
    if run.only.is_some() {
        // The other tables stay as they are.
        report.sections = read(run)?;
    }
    for section in sections::all() {
        let is_left_out = run.quick && section.rounds == Rounds::OneIfNotQuick;
        let wanted = run.only.as_deref();
        if !is_left_out && wanted.is_none_or(|wanted| section.title.contains(wanted)) {
            report.put(section.measure(&bench)?);
            // What is measured is kept, whatever comes next.
            write(&mut report, run)?;
        }
    }
    println!("{}", table::page(&report));
    let failed = report.failures();
    anyhow::ensure!(failed.is_empty(), "contenders failed: {failed:#?}");
    Ok(())
}

/// The tables of an earlier time, if there was one.
fn read(run: &Run) -> anyhow::Result<Vec<Measured>> {
    let path = run.results.join("results.json");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let report: Report = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    Ok(report.sections)
}

fn write(report: &mut Report, run: &Run) -> anyhow::Result<()> {
    report.targets = targets::judge(report, &run.enact)?;
    std::fs::create_dir_all(&run.results)?;
    let write = |name: &str, text: String| {
        let path = run.results.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    write(
        "results.json",
        serde_json::to_string_pretty(&report)? + "\n",
    )?;
    write("results.md", table::page(report))?;
    for (name, picture) in plot::all(report) {
        write(&name, picture)?;
    }
    Ok(())
}
