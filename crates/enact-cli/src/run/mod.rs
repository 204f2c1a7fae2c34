//! `enact run`.

mod asked;
mod build;
mod deeds;
mod history;
mod inputs;
mod parts;
pub(crate) mod picture;
mod setup;
mod waiting;

use std::sync::Arc;

use enact::{Error, ErrorKind, Outcome, Run, TerminationReason, Values};
use enact_sqlite::SqliteStore;

use crate::args::{OutputArgs, RunArgs};
use crate::drive::drive;
use crate::exit::{Exit, Failure};
use crate::models::Probing;
use crate::person::Person;
use crate::report::{self, Status};
use crate::tools::preview;
use crate::view::{Form, Ink, Narrator, Outputs, Screen, Stream, show_waiting, spoken_reason};
use crate::{agent, interrupt};

pub(crate) use self::build::to_read;
pub(crate) use self::deeds::deeds;
pub(crate) use self::setup::Setup;
pub(crate) use self::waiting::{about, agent_name, asked_in_short, continued, first_input};

/// Runs an agent and shows the result.
pub(crate) async fn execute(args: &RunArgs) -> Result<Exit, Failure> {
    let ended = run(args).await;
    ended.or_else(|failure| Ok(report::fail(None, &failure, args.output.json)))
}

async fn run(args: &RunArgs) -> Result<Exit, Failure> {
    // With a file, all arguments are inputs.
    let arrow = args
        .signature
        .as_ref()
        .is_some_and(|word| is_signature(word));
    let file = agent::file(args.agent.file.as_deref(), arrow);
    let (signature, first) = match &file {
        Some(_) => (None, args.signature.as_ref()),
        None => (args.signature.as_deref(), None),
    };
    let agent = agent::of_args(file.as_deref(), signature)?;
    let inputs: Vec<String> = first.into_iter().chain(&args.inputs).cloned().collect();
    let inputs = inputs::check(&inputs, &agent.signature)?;
    let setup = Setup::new(agent, &args.agent, Probing::PATIENCE).await?;
    let inputs = inputs.read()?;
    let store = setup.store.as_ref();
    let narrator = Arc::new(Narrator::new(args.output.steps(), &setup.model));
    let person = Person::here(&narrator);
    let interrupted = interrupt::watch();
    let call = setup.call(inputs, &setup.history, store);
    let ended = drive(&setup.agent, call, &narrator, &person, &interrupted, store).await;
    setup.servers.shutdown().await;
    Ok(print_ending(args.output, &narrator, &ended, store))
}

/// Whether the first argument is a signature: an input can contain an arrow too.
fn is_signature(word: &str) -> bool {
    match (word.find("->"), word.find('=')) {
        (Some(arrow), Some(equals)) => arrow < equals || word[..equals].contains(':'),
        (arrow, equals) => arrow.is_some() || equals.is_none(),
    }
}

/// Shows the result of a run in the requested format.
pub(crate) fn print_ending(
    output: OutputArgs,
    narrator: &Narrator,
    ended: &Result<Outcome<Values>, Error>,
    store: Option<&SqliteStore>,
) -> Exit {
    if let Err(error) = ended
        && error.kind() == ErrorKind::Answer
        && let Some(run) = error.run()
    {
        return print_refusal(output, narrator, (run, &Failure::from(error)), store);
    }
    if output.json {
        print_object(ended)
    } else {
        let screen = output.screen(Stream::Stdout);
        let outputs = Outputs {
            screen: &screen,
            form: output.form(),
        };
        print_view(narrator, outputs, ended, store)
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
            report::print(&report::object(error.run(), Status::Interrupted));
            Exit::Paused
        }
        Err(error) => report::fail(error.run(), &Failure::from(error), true),
    }
}

/// Reports an answer that was not accepted. If the run is not over, it waits for another one.
pub(crate) fn print_refusal(
    output: OutputArgs,
    narrator: &Narrator,
    (run, failure): (&Run, &Failure),
    store: Option<&SqliteStore>,
) -> Exit {
    if run.termination().is_some() {
        return report::fail(Some(run), failure, output.json);
    }
    if output.json {
        let status = Status::Refused(&run.open_questions(), failure);
        report::print(&report::object(Some(run), status));
    } else {
        show_ending(
            narrator,
            Outputs::below(narrator.screen()),
            run,
            store,
            None,
        );
    }
    failure.print();
    Exit::Paused
}

/// Shows the status of a run: its outputs, or its open questions and how to answer them, a note, and
/// its usage.
pub(crate) fn show_ending(
    narrator: &Narrator,
    outputs: Outputs<'_>,
    run: &Run,
    store: Option<&SqliteStore>,
    note: Option<&str>,
) {
    let screen = narrator.screen();
    screen.idle();
    if let Some(values) = run.outputs() {
        if outputs.form == Form::Named {
            screen.line("");
        }
        outputs.show(values);
    }
    let questions = match run.termination() {
        Some(_) => Vec::new(),
        None => run.open_questions(),
    };
    // Questions are shown even if the steps are not.
    let stderr;
    let asking = match screen.is_anywhere() {
        true => screen,
        false => {
            stderr = Screen::new(Stream::Stderr);
            &stderr
        }
    };
    for question in &questions {
        let change = preview::change_now(run, question);
        let ways = waiting::ways(run, question, store);
        show_waiting(asking, question, change.as_ref(), &ways);
    }
    if let Some(note) = note {
        asking.line(&asking.paint(Ink::Quiet, note));
    }
    let (ending, ink) = match run.termination() {
        Some(TerminationReason::Success) => ("done", Ink::Good),
        Some(reason) => (spoken_reason(reason), Ink::Bad),
        None if questions.is_empty() => ("not over", Ink::Question),
        None => ("paused", Ink::Question),
    };
    narrator.summary(run, ending, ink);
}

/// Shows the result of a run to a person; the outputs can go to a separate screen.
pub(crate) fn print_view(
    narrator: &Narrator,
    outputs: Outputs<'_>,
    ended: &Result<Outcome<Values>, Error>,
    store: Option<&SqliteStore>,
) -> Exit {
    match ended {
        Ok(Outcome::Finished(prediction)) => {
            show_ending(narrator, outputs, prediction.run(), store, None);
            success_or_not(prediction.success())
        }
        Ok(Outcome::Paused(paused)) => {
            let how = match store {
                Some(store) => {
                    let line = continued(store, paused.run());
                    format!("\nNo one could answer. To be asked in a terminal: `{line}`")
                }
                None => "No one could answer, and the run is not stored: run it in a \
                         terminal, or without `--store none`"
                    .to_owned(),
            };
            show_ending(narrator, outputs, paused.run(), store, Some(&how));
            Exit::Paused
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => {
            if let Some(run) = error.run() {
                let screen = narrator.screen();
                if let Some(store) = store {
                    let how = format!("\nTo resume the run: `{}`", continued(store, run));
                    screen.line(&screen.paint(Ink::Quiet, &how));
                }
                narrator.summary(run, "interrupted", Ink::Question);
            }
            Exit::Paused
        }
        Err(error) => {
            let failure = Failure::from(error);
            if let Some(run) = error.run() {
                if let Some(store) = store.filter(|_| run.termination().is_none()) {
                    let how = format!("\nTo resume the run: `{}`", continued(store, run));
                    let screen = narrator.screen();
                    screen.line(&screen.paint(Ink::Quiet, &how));
                }
                let ending = run.termination().map_or("failed", spoken_reason);
                narrator.summary(run, ending, Ink::Bad);
            }
            failure.end()
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
