//! `enact show`.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _};

use enact::Run;
use enact::run::store::{RunFilter, RunStatus, Store as _, StoredRun};
use enact_sqlite::SqliteStore;

use crate::args::{FormArg, ShowArgs};
use crate::exit::{Exit, Failure};
use crate::report::{self, Status};
use crate::run::{continued, show_ending};
use crate::store;
use crate::view::{Narrator, Outputs, Screen, Stream, exact};

use super::prompts;

/// Shows a stored run.
pub(crate) async fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let store = store::open_existing(&args.one.store).await?;
    let id = store::find(&store, &args.one.run).await?;
    let StoredRun { run, damage } = store::load(&store, &id).await?;
    match args.form {
        FormArg::Trace => trace(&run, &store).await?,
        FormArg::Trajectory => print(&seen(&run.trajectory().to_string())),
        FormArg::History => {
            let history = serde_json::to_string(&run.history()).unwrap_or_default();
            print(&exact::escaped_json(&history));
        }
        FormArg::Scratchpad => print(&seen(&run.scratchpad())),
        FormArg::Prompts => prompts::print_all(&run)?,
        FormArg::Events => {
            for record in run.records() {
                let record = serde_json::to_string(record).unwrap_or_default();
                print(&exact::escaped_json(&record));
            }
        }
        FormArg::Json => object(&run),
    }
    match damage {
        None => Ok(Exit::Success),
        Some(damage) => Err(Failure::failed(
            "corrupt",
            format!("the log of the run is damaged: {damage}; only the part before it is shown"),
        )),
    }
}

async fn trace(run: &Run, store: &SqliteStore) -> Result<(), Failure> {
    let narrator = Narrator::new(Screen::new(Stream::Stdout), &run.started().agent.model);
    show_steps(&narrator, run);
    let note = note(run, store).await?;
    show_ending(
        &narrator,
        Outputs::below(narrator.screen()),
        run,
        Some(store),
        note.as_deref(),
    );
    Ok(())
}

/// Shows a run step by step, with times and tokens.
pub(crate) fn show_steps(narrator: &Narrator, run: &Run) {
    for record in run.records() {
        narrator.follow(record);
        narrator.figures(run, record);
    }
    narrator.tell_failure();
}

/// A note on a run that is neither over nor paused.
async fn note(run: &Run, store: &SqliteStore) -> Result<Option<String>, Failure> {
    let runs = store
        .list(&RunFilter::all().with_id_ending(run.id()))
        .await?;
    let listed = runs.iter().find(|listed| listed.run_id == run.id());
    Ok(match listed.map(|listed| listed.status) {
        Some(RunStatus::Running) => Some("\na process is working on it".to_owned()),
        Some(RunStatus::Interrupted) => {
            Some(format!("\nTo resume the run: `{}`", continued(store, run)))
        }
        _ => None,
    })
}

fn object(run: &Run) {
    let questions = run.open_questions();
    let failure = Failure::failed("interrupted", "the run is not over: resume it");
    let status = match run.termination() {
        Some(_) if run.outputs().is_some() => Status::Finished,
        None if !questions.is_empty() => Status::Paused(&questions),
        _ => Status::Failed(&failure),
    };
    report::print(&report::object(Some(run), status));
}

/// A text as it can be shown: a terminal would interpret control characters, and a pipe gets the text
/// unchanged.
pub(super) fn seen(text: &str) -> Cow<'_, str> {
    if !std::io::stdout().is_terminal() {
        return Cow::Borrowed(text);
    }
    let lines = text.replace('\t', "    ");
    let lines: Vec<Cow<'_, str>> = lines.split('\n').map(exact::spelled_out).collect();
    Cow::Owned(lines.join("\n"))
}

pub(super) fn print(line: &str) {
    // A closed pipe is not an error.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
