//! Where runs are kept.

use std::path::PathBuf;

use enact::run::store::{RunFilter, Store as _, StoreError, StoreErrorKind, StoredRun};
use enact::{Error, Run};
use enact_sqlite::SqliteStore;

use crate::agent::Config;
use crate::args::StoreArg;
use crate::exit::Failure;
use crate::view::text;

/// What `--store` says to keep no runs.
const NONE: &str = "none";
/// What names the newest run.
const LAST: &str = "last";
/// How many runs are named where an id could be several.
const CANDIDATES: usize = 5;
const VARIABLE: &str = "ENACT_STORE";

/// The file that was asked for, or that of the platform; `None` if there shall be none.
pub(crate) fn path(arg: &StoreArg) -> Result<Option<PathBuf>, Failure> {
    let said = match &arg.store {
        Some(path) => Some(path.clone()),
        None => match std::env::var(VARIABLE) {
            Ok(path) => Some(path),
            Err(_) => Config::load()?.store,
        },
    };
    match said.as_deref().map(str::trim) {
        Some(NONE) => Ok(None),
        Some(path) if !path.is_empty() => Ok(Some(path.into())),
        _ => match SqliteStore::default_path() {
            Some(path) => Ok(Some(path)),
            None => {
                let message = "the folder for runs is not known: name a file with `--store PATH`, \
                               or keep none with `--store none`";
                Err(Failure::usage("store", message))
            }
        },
    }
}

/// The store in that file.
pub(crate) async fn open(arg: &StoreArg) -> Result<Option<SqliteStore>, Failure> {
    match path(arg)? {
        Some(path) => Ok(Some(SqliteStore::open(path).await?)),
        None => Ok(None),
    }
}

/// The same, for a command that begins runs: it works without a store, too.
pub(crate) async fn open_for_new(arg: &StoreArg) -> Result<Option<SqliteStore>, Failure> {
    open(arg).await.map_err(|mut failure| {
        failure
            .message
            .push_str(" (`--store none` runs without keeping the run)");
        failure
    })
}

/// The same, for a command that is about kept runs.
pub(crate) async fn open_existing(arg: &StoreArg) -> Result<SqliteStore, Failure> {
    let store = open(arg).await?;
    store.ok_or_else(|| Failure::usage("store", "`--store none` keeps no runs: name a file"))
}

/// The id of the run that is meant: given whole or by a unique ending; `last` is the newest run.
pub(crate) async fn find(store: &SqliteStore, given: &str) -> Result<String, Failure> {
    let given = given.trim();
    let kind = StoreErrorKind::NotFound.as_str();
    if given.is_empty() {
        let message = "the id of the run is empty: `enact runs` lists runs";
        return Err(Failure::usage(kind, message));
    }
    let runs = store.list(&RunFilter::all().with_id_ending(given)).await?;
    if runs.iter().any(|run| run.run_id == given) {
        return Ok(given.to_owned());
    }
    if given == LAST {
        let newest = newest(store, RunFilter::all(), |_| true).await?;
        return newest.ok_or_else(|| Failure::usage(kind, "there is no run yet"));
    }
    match &runs[..] {
        [only] => Ok(only.run_id.clone()),
        [] => {
            let message = format!("there is no run `{given}`: `enact runs` lists runs");
            Err(Failure::usage(kind, message))
        }
        several => {
            let count = several.len();
            let told = several.iter().take(CANDIDATES);
            let told = told.map(|run| format!("{} ({})", run.run_id, run.status.as_str()));
            let mut told: Vec<String> = told.collect();
            if count > told.len() {
                told.push(format!("and {} more", count - told.len()));
            }
            let told = told.join(", ");
            let message = format!("`{given}` could be {count} runs: {told}: give more of the id");
            Err(Failure::usage(kind, message))
        }
    }
}

/// The id of the newest run that fits and is meant, unless it works for another run. What cannot be
/// read is `None`.
pub(crate) async fn newest(
    store: &SqliteStore,
    filter: RunFilter,
    is_meant: impl Fn(Option<&Run>) -> bool,
) -> Result<Option<String>, Failure> {
    let (mut seen, mut limit) = (0, 20);
    loop {
        let runs = store.list(&filter.clone().with_limit(limit)).await?;
        for run in runs.iter().skip(seen) {
            let id = &run.run_id;
            let run = match store.load(id).await {
                Ok(stored) => Some(stored.run),
                Err(error) if error.kind() == StoreErrorKind::Corrupt => None,
                // It was deleted meanwhile.
                Err(error) if error.kind() == StoreErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            };
            let is_called = run
                .as_ref()
                .is_some_and(|run| run.started().parent.is_some());
            if !is_called && is_meant(run.as_ref()) {
                return Ok(Some(id.clone()));
            }
        }
        if runs.len() < limit as usize {
            return Ok(None);
        }
        seen = runs.len();
        limit = limit.saturating_mul(4);
    }
}

/// An ending of the id that is short and yet unlikely to be that of another run. The first
/// characters of an id are the time, which runs share.
pub(crate) fn short(id: &str) -> &str {
    const UUID: usize = 36;
    const SHORT: usize = 8;
    let is_uuid = id.get(..UUID).is_some_and(|head| {
        let groups: Vec<usize> = head.split('-').map(str::len).collect();
        groups == [8, 4, 4, 4, 12] && head.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
    });
    match id.get(UUID - SHORT..) {
        Some(ending) if is_uuid => ending,
        _ => id,
    }
}

/// `enact resume` of a run, as a line to paste into the same shell.
pub(crate) fn resume_line(store: &SqliteStore, id: &str, more: &[&str]) -> String {
    let mut words = vec!["enact", "resume", short(id)];
    let usual = path(&StoreArg { store: None }).ok().flatten();
    let is_usual = usual
        .is_some_and(|usual| std::path::absolute(usual).is_ok_and(|usual| usual == store.path()));
    let file = store.path().to_string_lossy();
    if !is_usual {
        words.extend(["--store", &*file]);
    }
    words.extend(more);
    let quoted = shlex::try_join(words.iter().copied());
    // Only a NUL cannot be quoted, and no path has one. A terminal must not obey an id.
    text::one_line(&quoted.unwrap_or_else(|_| words.join(" ")))
}

/// The run of this id, and no other one that was put in its place.
pub(crate) async fn load(store: &SqliteStore, id: &str) -> Result<StoredRun, Failure> {
    let stored = store.load(id).await?.of(id);
    stored.map_err(|error| Failure::from(&Error::from(error)))
}

/// The runs of the agents that a run called, and of those that they called.
pub(crate) async fn called(store: &SqliteStore, id: &str) -> Result<Vec<String>, Failure> {
    let runs = store.list(&RunFilter::all()).await?;
    let ids = runs.into_iter().map(|run| run.run_id);
    Ok(ids.filter(|other| is_called_by(other, id)).collect())
}

/// The id of a run that was called begins with that of its caller.
pub(crate) fn is_called_by(id: &str, caller: &str) -> bool {
    id.strip_prefix(caller)
        .is_some_and(|rest| rest.starts_with('.'))
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error.kind() {
            StoreErrorKind::NotFound => Self::usage(error.kind().as_str(), error.to_string()),
            kind => Self::failed(kind.as_str(), error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_that_begin_with_a_time_are_shortened() {
        let id = "01a1e169-5a21-7270-8951-3df221664d4c";
        assert_eq!(short(id), "21664d4c");
        assert_eq!(short(&format!("{id}.3.0")), "21664d4c.3.0");
        for whole in [
            "sky",
            "eval-0123456789abcdef-question-17-of-the-set",
            "",
            "ü",
        ] {
            assert_eq!(short(whole), whole);
        }
    }
}
