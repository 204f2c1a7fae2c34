//! Where runs are kept.

use std::path::PathBuf;

use enact::Error;
use enact::run::store::{RunFilter, Store as _, StoreError, StoreErrorKind, StoredRun};
use enact_sqlite::SqliteStore;

use crate::args::StoreArg;
use crate::exit::Failure;

/// What `--store` says to keep no runs.
const NONE: &str = "none";

/// The file that was asked for, or that of the platform; `None` if there shall be none.
pub(crate) fn path(arg: &StoreArg) -> Result<Option<PathBuf>, Failure> {
    match arg.store.as_deref().map(str::trim) {
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

/// The id of the run that is meant: given whole, or by its beginning or end.
pub(crate) async fn find(store: &SqliteStore, given: &str) -> Result<String, Failure> {
    let runs = store.list(&RunFilter::all()).await?;
    let ids = || runs.iter().map(|run| run.run_id.as_str());
    if ids().any(|id| id == given) {
        return Ok(given.to_owned());
    }
    let alike: Vec<&str> = ids()
        .filter(|id| id.starts_with(given) || id.ends_with(given))
        .collect();
    // Who means a run does not mean those of the agents that it called.
    let alike: Vec<&str> = alike
        .iter()
        .copied()
        .filter(|id| !alike.iter().any(|caller| is_called_by(id, caller)))
        .collect();
    match alike[..] {
        [only] if !given.is_empty() => Ok(only.to_owned()),
        [] => Err(Failure::usage(
            StoreErrorKind::NotFound.as_str(),
            format!("there is no run `{given}`: `enact runs` lists them"),
        )),
        _ => Err(Failure::usage(
            StoreErrorKind::NotFound.as_str(),
            format!(
                "`{given}` could be {} runs: give more of the id",
                alike.len()
            ),
        )),
    }
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
fn is_called_by(id: &str, caller: &str) -> bool {
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
