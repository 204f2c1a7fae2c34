//! The `enact` command: signature-driven agents from a terminal.

mod agent;
mod args;
mod chat;
mod completion;
mod demo;
mod drive;
mod editor;
mod eval;
mod exit;
mod hooks;
mod interrupt;
mod keys;
mod line;
mod local;
mod manual;
mod mcp;
mod models;
mod person;
mod place;
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

use crate::args::Command;
use crate::exit::Failure;
use crate::telemetry::Telemetry;

fn main() -> ExitCode {
    let cli = args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let message = format!("no threads can be started: {error}");
            return Failure::failed("runtime", message).end().into();
        }
    };
    if let Err(failure) = keys::load().and_then(|()| secrets::configure(None, None)) {
        return failure.end().into();
    }
    let telemetry = match cli.command {
        Command::Run(_) | Command::Chat(_) | Command::Resume(_) | Command::Mcp(_) => {
            Telemetry::start()
        }
        _ => Telemetry::default(),
    };
    let ended = runtime.block_on(async {
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
            Command::Keys(args) => keys::execute(&args),
            Command::Completions(args) => manual::completions(&args),
            Command::Man(args) => manual::pages(&args),
            Command::Demo => demo::execute().await,
            Command::Runs(args) => runs::list(&args).await,
            Command::Show(args) => runs::show(&args).await,
            Command::Resume(args) => runs::resume(&args).await,
            Command::Cancel(args) => runs::cancel(&args).await,
            Command::Rm(args) => runs::remove(&args).await,
        }
    });
    let exit = ended.unwrap_or_else(|failure| failure.end());
    telemetry.finish();
    // A thread that waits for input must not keep the process alive.
    runtime.shutdown_background();
    exit.into()
}
