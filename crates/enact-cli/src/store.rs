//! Where runs are stored.

use std::path::PathBuf;

use enact::run::store::{RunFilter, Store as _, StoreError, StoreErrorKind, StoredRun};
use enact::{Error, Run};
use enact_sqlite::SqliteStore;

use crate::agent::Config;
use crate::args::StoreArg;
use crate::exit::Failure;
use crate::view::text;

/// The value of `--store` that stores no runs.
const NONE: &str = "none";
/// The name of the newest run.
const LAST: &str = "last";
/// The number of runs to list for an ambiguous id.
const CANDIDATES: usize = 5;
const VARIABLE: &str = "ENACT_STORE";

/// The file that is set, or the platform's default; `None` to store no runs.
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
                let message = "the data directory is unknown: name a file with `--store PATH`, \
                               or store no runs with `--store none`";
                Err(Failure::usage("store", message))
            }
        },
    }
}

/// Opens the store.
pub(crate) async fn open(arg: &StoreArg) -> Result<Option<SqliteStore>, Failure> {
    match path(arg)? {
        Some(path) => Ok(Some(SqliteStore::open(path).await?)),
        None => Ok(None),
    }
}

/// Opens the store for a command that starts runs: it also works without one.
pub(crate) async fn open_for_new(arg: &StoreArg) -> Result<Option<SqliteStore>, Failure> {
    open(arg).await.map_err(|mut failure| {
        failure
            .message
            .push_str(" (`--store none` runs without storing the run)");
        failure
    })
}

/// Opens the store for a command that needs stored runs.
pub(crate) async fn open_existing(arg: &StoreArg) -> Result<SqliteStore, Failure> {
    let store = open(arg).await?;
    store.ok_or_else(|| Failure::usage("store", "`--store none` stores no runs: name a file"))
}

/// Resolves the id of a run, which can be a unique ending; `last` is the newest run.
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
        return newest.ok_or_else(|| Failure::usage(kind, "there are no runs yet"));
    }
    match &runs[..] {
        [only] => Ok(only.run_id.clone()),
        [] => {
            let message = format!("no run `{given}`: `enact runs` lists runs");
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

/// The id of the newest matching run, except for runs of called agents. A run that can't be read is
/// passed as `None`.
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
                // It has been deleted meanwhile.
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

/// A short ending of the id that is unlikely to belong to another run. Ids start with the
/// time, which runs share.
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

/// The `enact resume` command of a run, to paste into the same shell.
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
    // Only NUL can't be quoted, and no path contains it. A terminal must not interpret an id.
    text::one_line(&quoted.unwrap_or_else(|_| words.join(" ")))
}

/// Loads the run with this id, and rejects another one that has replaced it.
pub(crate) async fn load(store: &SqliteStore, id: &str) -> Result<StoredRun, Failure> {
    let stored = store.load(id).await?.of(id);
    stored.map_err(|error| Failure::from(&Error::from(error)))
}

/// The runs of the agents that a run called, directly or indirectly.
pub(crate) async fn called(store: &SqliteStore, id: &str) -> Result<Vec<String>, Failure> {
    let runs = store.list(&RunFilter::all()).await?;
    let ids = runs.into_iter().map(|run| run.run_id);
    Ok(ids.filter(|other| is_called_by(other, id)).collect())
}

/// The id of a called run starts with that of its caller.
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
