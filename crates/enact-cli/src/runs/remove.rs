//! `enact rm`.

use enact::Timestamp;
use enact::run::store::{RunFilter, RunStatus, RunSummary, Store as _};
use enact_sqlite::SqliteStore;

use crate::args::RmArgs;
use crate::exit::{Exit, Failure};
use crate::person::Person;
use crate::view::{Narrator, Screen, Stream, text};
use crate::{interrupt, store};

/// Deletes runs and those of the agents they called, unless a process is working on them.
pub(crate) async fn remove(args: &RmArgs) -> Result<Exit, Failure> {
    let store = store::open_existing(&args.store).await?;
    let all = store.list(&RunFilter::all()).await?;
    let meant = meant(args, &store, &all).await?;
    let narrator = Narrator::new(Screen::new(Stream::Stdout), "");
    let screen = narrator.screen();
    if meant.is_empty() {
        screen.line("no run is that old");
        return Ok(Exit::Success);
    }
    if meant.len() > 1 && !args.yes {
        let agreed = agrees(&meant, &narrator).await?;
        if !agreed {
            screen.line("nothing was deleted");
            return Ok(Exit::Success);
        }
    }
    let mut exit = Exit::Success;
    for run in &meant {
        match delete(&store, &all, run).await {
            Ok(()) => {
                let (id, status) = (text::one_line(&run.run_id), run.status.as_str());
                screen.line(&format!("deleted {id} ({status})"));
            }
            // A run in use must not keep others from being deleted.
            Err(failure) => exit = failure.end(),
        }
    }
    Ok(exit)
}

/// The runs to delete, without duplicates.
async fn meant<'a>(
    args: &RmArgs,
    store: &SqliteStore,
    all: &'a [RunSummary],
) -> Result<Vec<&'a RunSummary>, Failure> {
    let mut meant: Vec<&RunSummary> = Vec::new();
    // All ids are resolved before anything is deleted.
    for given in &args.runs {
        let id = store::find(store, given).await?;
        let known = meant.iter().any(|run| run.run_id == id);
        meant.extend(all.iter().find(|run| run.run_id == id && !known));
    }
    let Some(age) = args.older_than else {
        return Ok(meant);
    };
    let now = Timestamp::now();
    let is_called = |run: &RunSummary| {
        let mut others = all.iter();
        others.any(|other| store::is_called_by(&run.run_id, &other.run_id))
    };
    let old = all.iter().filter(|run| {
        run.status != RunStatus::Running && now.since(run.updated) > age.0 && !is_called(run)
    });
    meant.extend(old);
    Ok(meant)
}

/// Asks before several runs are deleted.
async fn agrees(meant: &[&RunSummary], narrator: &Narrator) -> Result<bool, Failure> {
    let counts = RunStatus::ALL.into_iter().filter_map(|status| {
        let count = meant.iter().filter(|run| run.status == status).count();
        (count > 0).then(|| format!("{count} {}", status.as_str()))
    });
    let counts: Vec<String> = counts.collect();
    let what = text::counted(meant.len(), "run");
    let person = Person::here(narrator);
    if !person.is_there() {
        let message = format!(
            "this deletes {what} ({}), and no one can be asked: pass `--yes`",
            counts.join(", ")
        );
        return Err(Failure::usage("unconfirmed", message));
    }
    let prompt = format!("delete {what} ({})? [y]es / [n]o:", counts.join(", "));
    let interrupted = interrupt::watch();
    Ok(person.agrees(narrator, &prompt, &interrupted).await)
}

async fn delete(store: &SqliteStore, all: &[RunSummary], run: &RunSummary) -> Result<(), Failure> {
    for called in all {
        if store::is_called_by(&called.run_id, &run.run_id) {
            store.delete(&called.run_id).await?;
        }
    }
    Ok(store.delete(&run.run_id).await?)
}
