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
use crate::view::{Narrator, Outputs, Screen, Stream, exact, spoken_reason};

use super::prompts;

/// Shows a stored run.
pub(crate) async fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let store = store::open_existing(&args.one.store).await?;
    let id = store::find(&store, &args.one.run).await?;
    let StoredRun { run, damage, .. } = store::load(&store, &id).await?;
    match args.form {
        FormArg::Prompts => prompts::print_all(&run, &store, args.json).await?,
        _ if args.json => {
            let message = "`--json` is for `--as prompts`: `--as json` prints the run as JSON";
            return Err(Failure::usage("form", message));
        }
        FormArg::Trace => trace(&run, &store).await?,
        FormArg::Trajectory => print(&seen(&run.trajectory().to_string())),
        FormArg::History => {
            let history = serde_json::to_string(&run.history()).unwrap_or_default();
            print(&exact::escaped_json(&history));
        }
        FormArg::Scratchpad => print(&seen(&run.scratchpad())),
        FormArg::Events => {
            for record in run.records() {
                let record = serde_json::to_string(record).unwrap_or_default();
                print(&exact::escaped_json(&record));
            }
        }
        FormArg::Json => object(&run, status(&run, &store).await?),
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

/// The status of a run, as `enact runs` lists it.
async fn status(run: &Run, store: &SqliteStore) -> Result<Option<RunStatus>, Failure> {
    let runs = store
        .list(&RunFilter::all().with_id_ending(run.id()))
        .await?;
    let listed = runs.iter().find(|listed| listed.run_id == run.id());
    Ok(listed.map(|listed| listed.status))
}

/// What to know of a run that is neither over nor waiting.
async fn note(run: &Run, store: &SqliteStore) -> Result<Option<String>, Failure> {
    Ok(match status(run, store).await? {
        Some(RunStatus::Running) => Some("\na process is working on it".to_owned()),
        Some(RunStatus::Interrupted) => {
            Some(format!("\nTo resume the run: `{}`", continued(store, run)))
        }
        _ => None,
    })
}

fn object(run: &Run, listed: Option<RunStatus>) {
    let questions = run.open_questions();
    let failure;
    let status = match (run.termination(), listed) {
        (Some(_), _) if run.outputs().is_some() => Status::Finished,
        (Some(reason), _) => {
            failure = Failure::failed(reason.as_str(), spoken_reason(reason));
            Status::Failed(&failure)
        }
        (None, Some(RunStatus::Running)) => Status::Running(&questions),
        (None, _) if !questions.is_empty() => Status::Paused(&questions),
        (None, _) => Status::Interrupted,
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
