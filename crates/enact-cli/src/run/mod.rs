//! `enact run`.

mod asked;
mod build;
mod history;
mod inputs;
mod setup;

use std::io::IsTerminal as _;
use std::sync::Arc;

use enact::run::QuestionKind;
use enact::{Error, ErrorKind, Outcome, Values};
use enact_sqlite::SqliteStore;

use crate::args::RunArgs;
use crate::drive::drive;
use crate::exit::{Exit, Failure};
use crate::person::{Person, changes};
use crate::report::{self, Status};
use crate::view::{Ink, Narrator, Screen, Stream, call_line, show_outputs, spoken_reason, text};
use crate::{agent, interrupt};

pub(crate) use self::setup::{Rebuilt, Setup};

/// Runs an agent and shows what came of it.
pub(crate) async fn execute(args: &RunArgs) -> Exit {
    run(args)
        .await
        .unwrap_or_else(|failure| report::fail(None, &failure, args.json))
}

async fn run(args: &RunArgs) -> Result<Exit, Failure> {
    // A file says the signature: then all words are inputs.
    let (signature, first) = match &args.agent.file {
        Some(_) => (None, args.signature.as_ref()),
        None => (args.signature.as_deref(), None),
    };
    let agent = agent::said(&args.agent, signature)?;
    let inputs: Vec<String> = first.into_iter().chain(&args.inputs).cloned().collect();
    let setup = Setup::new(agent, &args.agent).await?;
    let inputs = inputs::read(&inputs, setup.agent.signature())?;
    let store = setup.store.as_ref();
    let narrator = Arc::new(Narrator::new(Screen::new(stream(args.json)), &setup.model));
    let person = Person::here(&narrator);
    let interrupted = interrupt::watch();
    let call = setup.call(inputs, &setup.history, store);
    let ended = drive(&setup.agent, call, &narrator, &person, &interrupted, store).await;
    setup.servers.shutdown().await;
    Ok(print_ending(args.json, &narrator, &ended, Kept::by(store)))
}

/// Whether a run can be taken up again.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kept {
    InStore,
    Nowhere,
}

impl Kept {
    pub(crate) fn by(store: Option<&SqliteStore>) -> Self {
        match store {
            Some(_) => Self::InStore,
            None => Self::Nowhere,
        }
    }
}

/// Where the steps are told: not where the one JSON object goes.
pub(crate) fn stream(is_json: bool) -> Stream {
    match (is_json, std::io::stderr().is_terminal()) {
        (false, _) => Stream::Stdout,
        (true, true) => Stream::Stderr,
        (true, false) => Stream::Nowhere,
    }
}

/// Shows what came of a run, in the form that was asked for.
pub(crate) fn print_ending(
    is_json: bool,
    narrator: &Narrator,
    ended: &Result<Outcome<Values>, Error>,
    kept: Kept,
) -> Exit {
    if is_json {
        print_object(ended)
    } else {
        print_view(narrator, narrator.screen(), ended, kept)
    }
}

fn print_object(ended: &Result<Outcome<Values>, Error>) -> Exit {
    match ended {
        Ok(Outcome::Finished(prediction)) => {
            report::print(&report::object(Some(prediction.run()), Status::Finished));
            success_or_not(prediction.success())
        }
        Ok(Outcome::Paused(paused)) => {
            let status = Status::Paused(paused.questions());
            report::print(&report::object(Some(paused.run()), status));
            Exit::Paused
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => {
            report::print(&report::object(error.run(), Status::Paused(&[])));
            Exit::Paused
        }
        Err(error) => report::fail(error.run(), &Failure::from(error), true),
    }
}

/// Shows what came of a run to a person; the outputs may go to a screen of their own.
pub(crate) fn print_view(
    narrator: &Narrator,
    outputs: &Screen,
    ended: &Result<Outcome<Values>, Error>,
    kept: Kept,
) -> Exit {
    match ended {
        Ok(Outcome::Finished(prediction)) => {
            narrator.screen().idle();
            narrator.screen().line("");
            show_outputs(outputs, prediction.values());
            let (ending, ink) = if prediction.success() {
                ("done", Ink::Good)
            } else {
                (spoken_reason(prediction.termination), Ink::Bad)
            };
            narrator.summary(prediction.run(), ending, ink);
            success_or_not(prediction.success())
        }
        Ok(Outcome::Paused(paused)) => {
            let screen = narrator.screen();
            screen.line("");
            for question in paused.questions() {
                let call = &question.tool_call;
                let shown = screen.paint(Ink::Tool, &call_line(&call.name, &call.args));
                screen.line(&match question.kind {
                    QuestionKind::InDoubt => {
                        format!("waits for an answer: did {shown} happen? Run it again?")
                    }
                    QuestionKind::Clarify => {
                        format!(
                            "waits for an answer: {}",
                            text::one_line(&question.question)
                        )
                    }
                    _ => format!("waits for an answer: may {shown} run?"),
                });
                for change in changes(question) {
                    screen.line(&format!("   {}", text::one_line(&change)));
                }
            }
            let how = match kept {
                Kept::InStore => {
                    let id = paused.run().id();
                    format!("nobody was there to answer: `enact resume {id}` asks again")
                }
                Kept::Nowhere => {
                    "nobody was there to answer, and the run is not kept: run it in a \
                                  terminal, or without `--store none`"
                        .to_owned()
                }
            };
            screen.line(&screen.paint(Ink::Quiet, &how));
            narrator.summary(paused.run(), "paused", Ink::Question);
            Exit::Paused
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => {
            if let Some(run) = error.run() {
                let screen = narrator.screen();
                let how = format!("\n`enact resume {}` goes on with it", run.id());
                screen.line(&screen.paint(Ink::Quiet, &how));
                narrator.summary(run, "interrupted", Ink::Question);
            }
            Exit::Paused
        }
        Err(error) => {
            let failure = Failure::from(error);
            if let Some(run) = error.run() {
                let ending = run.termination().map_or("failed", spoken_reason);
                narrator.summary(run, ending, Ink::Bad);
            }
            failure.print();
            failure.exit
        }
    }
}

fn success_or_not(is_success: bool) -> Exit {
    if is_success {
        Exit::Success
    } else {
        Exit::Unsuccessful
    }
}
