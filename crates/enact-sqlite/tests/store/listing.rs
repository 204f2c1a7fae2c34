//! Lists of runs, whoever works on them.

use enact::run::store::{RunFilter, RunStatus, Store as _};
use enact_sqlite::SqliteStore;

use super::{execute, file, folder, keep};

#[tokio::test]
async fn a_limit_counts_the_runs_that_fit() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let mut leases = Vec::new();
    for number in 0..250 {
        let lease = keep(&store, &format!("run-{number:03}"), 1).await;
        if number % 50 == 0 {
            leases.push(lease);
        }
    }
    let ids = async |filter: RunFilter| {
        let runs = store.list(&filter).await.unwrap();
        let ids = runs.into_iter().map(|run| run.run_id);
        ids.collect::<Vec<_>>()
    };
    let running = RunFilter::all().with_status(RunStatus::Running);
    let all = ["run-200", "run-150", "run-100", "run-050", "run-000"];
    assert_eq!(ids(running.clone()).await, all);
    assert_eq!(ids(running.with_limit(2)).await, all[..2]);
    let interrupted = RunFilter::all().with_status(RunStatus::Interrupted);
    assert_eq!(ids(interrupted.clone()).await.len(), 245);
    assert_eq!(ids(interrupted.with_limit(1)).await, ["run-249"]);
    let ending = RunFilter::all().with_id_ending("49").with_limit(2);
    assert_eq!(ids(ending).await, ["run-249", "run-149"]);
    assert_eq!(ids(RunFilter::all().with_id_ending("%")).await.len(), 0);
}

#[tokio::test]
async fn whoever_looks_does_not_keep_a_writer_away() {
    let folder = folder();
    let path = file(&folder);
    let store = SqliteStore::open(&path).await.unwrap();
    drop(keep(&store, "r", 1).await);
    // What a crash leaves behind: the file of the lock, which nobody holds.
    let lease = store.acquire("r").await.unwrap();
    let locks = folder.path().join("runs.db.locks");
    let name = locks.read_dir().unwrap().next().unwrap().unwrap().path();
    drop(lease);
    std::fs::write(name, "").unwrap();
    let list = async |_| store.list(&RunFilter::all()).await.unwrap()[0].status;
    assert_eq!(list(()).await, RunStatus::Interrupted);
    for _ in 0..50 {
        let (listed, lease) = tokio::join!(list(()), store.acquire("r"));
        lease.unwrap();
        assert!(matches!(
            listed,
            RunStatus::Running | RunStatus::Interrupted
        ));
    }
    assert_eq!(execute(&path, "DELETE FROM runs").await, 1);
}
