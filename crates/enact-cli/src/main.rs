//! The `enact` command: signature-driven agents from a terminal.

mod agent;
mod args;
mod chat;
mod demo;
mod drive;
mod editor;
mod eval;
mod exit;
mod interrupt;
mod line;
mod local;
mod mcp;
mod models;
mod person;
mod report;
mod run;
mod runs;
mod secrets;
mod store;
mod telemetry;
mod tools;
mod trust;
mod view;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};
use crate::exit::{Exit, Failure};
use crate::telemetry::Telemetry;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let failure = Failure::failed("runtime", format!("no threads can be started: {error}"));
            failure.print();
            return Exit::Failed.into();
        }
    };
    if let Err(failure) = secrets::configure(None, None) {
        failure.print();
        return failure.exit.into();
    }
    let telemetry = match cli.command {
        Command::Run(_) | Command::Chat(_) | Command::Resume(_) | Command::Mcp(_) => {
            Telemetry::start()
        }
        _ => Telemetry::default(),
    };
    let exit = runtime.block_on(async {
        match cli.command {
            Command::Run(args) => run::execute(&args).await,
            Command::Chat(args) => chat::execute(&args).await,
            Command::Eval(args) => eval::execute(&args).await,
            Command::Models(args) => models::execute(&args).await,
            Command::Tools(args) => tools::execute(&args).await,
            Command::Model(args) => local::execute(&args).await,
            Command::Mcp(args) => mcp::execute(&args).await,
            Command::Init(args) => agent::init(&args),
            Command::Check(args) => agent::check(&args),
            Command::Demo => demo::execute().await,
            Command::Runs(args) => runs::list::execute(&args).await,
            Command::Show(args) => runs::show::execute(&args).await,
            Command::Resume(args) => runs::resume::execute(&args).await,
            Command::Cancel(args) => runs::end::cancel(&args).await,
            Command::Rm(args) => runs::end::remove(&args).await,
        }
    });
    telemetry.finish();
    // A thread that still waits for a line of input must not keep the process alive.
    runtime.shutdown_background();
    exit.into()
}
