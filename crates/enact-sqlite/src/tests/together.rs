//! Appends that wait together are written together, and no one is in the way of others.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use enact_core::run::store::{Lease, RunFilter, Store as _, StoreError, StoreErrorKind};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::{Event, Record, SqliteStore, record, started};

type Appended = Result<(), StoreError>;

/// A store with runs of one record each.
struct Runs {
    store: SqliteStore,
    leases: Vec<Arc<Lease>>,
    _folder: TempDir,
}

fn tool_started(position: u64) -> Record {
    let call_id = format!("call_{position}");
    record(position, Event::ToolStarted { call_id })
}

impl Runs {
    async fn new(count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let store = SqliteStore::open(path).await.unwrap();
        let mut leases = Vec::new();
        for run in 0..count {
            let id = run.to_string();
            let lease = store.acquire(&id).await.unwrap();
            store.append(&lease, &[started(&id)]).await.unwrap();
            leases.push(Arc::new(lease));
        }
        Self {
            store,
            leases,
            _folder: folder,
        }
    }

    /// Begins to append a second record to a run.
    fn append(&self, run: usize) -> JoinHandle<Appended> {
        let (store, lease) = (self.store.clone(), self.leases[run].clone());
        tokio::spawn(async move { store.append(&lease, &[tool_started(1)]).await })
    }

    async fn execute(&self, statement: &'static str) {
        let mut connection = self.store.writer.turn().await.unwrap();
        let done = sqlx::raw_sql(statement).execute(&mut *connection).await;
        assert_eq!(done.unwrap().rows_affected(), 1, "{statement}");
    }

    /// Appends while somebody else writes, so that all of these wait at once.
    async fn append_at_once(&self, runs: &[usize]) -> Vec<Appended> {
        let turn = self.store.writer.turn().await.unwrap();
        let appends: Vec<_> = runs.iter().map(|run| self.append(*run)).collect();
        self.wait_for(runs.len()).await;
        drop(turn);
        let mut appended = Vec::new();
        for append in appends {
            appended.push(append.await.unwrap());
        }
        appended
    }

    async fn wait_for(&self, waiting: usize) {
        while self.store.writer.waiting() < waiting {
            tokio::task::yield_now().await;
        }
    }

    async fn records(&self, run: usize) -> usize {
        let stored = self.store.load(&run.to_string()).await.unwrap();
        assert_eq!(stored.damage, None);
        stored.run.records().len()
    }

    /// Counts commits from now on; those of these numbers fail.
    async fn count_commits(&self, failing: std::ops::Range<usize>) -> Arc<AtomicUsize> {
        let commits = Arc::new(AtomicUsize::new(0));
        let count = commits.clone();
        let mut connection = self.store.writer.turn().await.unwrap();
        let mut handle = connection.lock_handle().await.unwrap();
        handle.set_commit_hook(move || !failing.contains(&count.fetch_add(1, Ordering::SeqCst)));
        commits
    }
}

#[tokio::test]
async fn appends_that_wait_share_one_commit() {
    let runs = Runs::new(50).await;
    let commits = runs.count_commits(0..0).await;
    let all: Vec<usize> = (0..50).collect();
    for appended in runs.append_at_once(&all).await {
        appended.unwrap();
    }
    assert_eq!(commits.load(Ordering::SeqCst), 1);
    for run in all {
        assert_eq!(runs.records(run).await, 2);
    }
    let listed = runs.store.list(&RunFilter::all()).await.unwrap();
    assert!(listed.iter().all(|run| run.records == 2));
}

#[tokio::test]
async fn runs_that_are_acquired_at_once_share_a_commit_too() {
    let runs = Runs::new(1).await;
    let commits = runs.count_commits(0..0).await;
    let turn = runs.store.writer.turn().await.unwrap();
    let acquire = |run: usize| {
        let store = runs.store.clone();
        tokio::spawn(async move { store.acquire(&run.to_string()).await })
    };
    // Somebody still works on run 0.
    let acquired: Vec<_> = (0..20).map(acquire).collect();
    let appended = runs.append(0);
    runs.wait_for(20).await;
    drop(turn);
    let mut fences = Vec::new();
    for (run, acquired) in acquired.into_iter().enumerate() {
        match acquired.await.unwrap() {
            Ok(lease) => fences.push((lease.fence(), runs.store.append(&lease, &[]).await)),
            Err(error) => assert_eq!((run, error.kind()), (0, StoreErrorKind::Busy)),
        }
    }
    appended.await.unwrap().unwrap();
    assert_eq!(commits.load(Ordering::SeqCst), 1);
    assert_eq!(fences.len(), 19);
    assert!(fences.iter().all(|(_, appended)| appended.is_ok()));
    fences.sort_unstable_by_key(|(fence, _)| *fence);
    fences.dedup_by_key(|(fence, _)| *fence);
    assert_eq!((fences.len(), fences[0].0), (19, 2));
}

#[tokio::test]
async fn a_batch_has_its_bounds() {
    let runs = Runs::new(3).await;
    let commits = runs.count_commits(0..0).await;
    let turn = runs.store.writer.turn().await.unwrap();
    let appends: Vec<_> = (0..3)
        .map(|run| {
            let (store, lease) = (runs.store.clone(), runs.leases[run].clone());
            let records: Vec<_> = (1..600).map(tool_started).collect();
            tokio::spawn(async move { store.append(&lease, &records).await })
        })
        .collect();
    runs.wait_for(3).await;
    drop(turn);
    for append in appends {
        append.await.unwrap().unwrap();
    }
    assert_eq!(commits.load(Ordering::SeqCst), 3);
    assert_eq!(runs.records(2).await, 600);
}

#[tokio::test]
async fn one_that_is_out_of_turn_fails_alone() {
    let runs = Runs::new(10).await;
    let commits = runs.count_commits(0..0).await;
    runs.execute("UPDATE runs SET fence = fence + 100 WHERE run_id = '3'")
        .await;
    // The run 5 is written to twice, at the same position.
    let order = [0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9];
    let before = commits.load(Ordering::SeqCst);
    for (append, appended) in runs.append_at_once(&order).await.into_iter().enumerate() {
        match append {
            3 => assert_eq!(appended.unwrap_err().kind(), StoreErrorKind::Fenced),
            6 => assert_eq!(appended.unwrap_err().kind(), StoreErrorKind::Position),
            _ => appended.unwrap(),
        }
    }
    assert_eq!(commits.load(Ordering::SeqCst), before + 1);
    for run in 0..10 {
        assert_eq!(runs.records(run).await, if run == 3 { 1 } else { 2 });
    }
}

#[tokio::test]
async fn one_whose_log_is_damaged_fails_alone() {
    let runs = Runs::new(10).await;
    // Something stands where the next record of run 4 goes.
    runs.execute("INSERT INTO events SELECT run, 1, 0, 'x', '{}', 0 FROM runs WHERE run_id = '4'")
        .await;
    let all: Vec<usize> = (0..10).collect();
    for (run, appended) in runs.append_at_once(&all).await.into_iter().enumerate() {
        assert_eq!(appended.is_err(), run == 4, "{appended:?}");
    }
    for run in all.into_iter().filter(|run| *run != 4) {
        assert_eq!(runs.records(run).await, 2);
    }
}

#[tokio::test]
async fn a_commit_that_fails_fails_for_all_and_nothing_is_kept() {
    let runs = Runs::new(10).await;
    let all: Vec<usize> = (0..10).collect();
    runs.count_commits(0..1).await;
    for appended in runs.append_at_once(&all).await {
        assert_eq!(appended.unwrap_err().kind(), StoreErrorKind::Io);
    }
    for run in &all {
        assert_eq!(runs.records(*run).await, 1);
    }
    // Nor is anything remembered.
    for appended in runs.append_at_once(&all).await {
        appended.unwrap();
    }
    let listed = runs.store.list(&RunFilter::all()).await.unwrap();
    assert!(listed.iter().all(|run| run.records == 2));
}

#[tokio::test]
async fn those_that_are_given_up_while_they_wait_leave_the_others_alone() {
    let runs = Runs::new(6).await;
    let turn = runs.store.writer.turn().await.unwrap();
    let appends: Vec<_> = (0..6).map(|run| runs.append(run)).collect();
    runs.wait_for(6).await;
    let given_up = [0, 1, 4];
    for run in given_up {
        appends[run].abort();
    }
    while given_up.iter().any(|run| !appends[*run].is_finished()) {
        tokio::task::yield_now().await;
    }
    drop(turn);
    for (run, append) in appends.into_iter().enumerate() {
        assert_eq!(append.await.is_err(), given_up.contains(&run));
        let is_kept = !given_up.contains(&run);
        assert_eq!(runs.records(run).await, if is_kept { 2 } else { 1 });
    }
    for run in given_up {
        runs.append(run).await.unwrap().unwrap();
        assert_eq!(runs.records(run).await, 2);
    }
}

/// Polls so often and no more, and says whether that was enough.
async fn give_up_after<F: Future>(polls: usize, future: F) -> bool {
    let mut future = pin!(future);
    let mut left = polls;
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        match Pin::as_mut(&mut future).poll(context) {
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending if left == 0 => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn whoever_leads_can_be_given_up_at_any_moment() {
    let mut was_done = false;
    for polls in 1.. {
        let runs = Runs::new(5).await;
        let turn = runs.store.writer.turn().await.unwrap();
        let (store, lease) = (runs.store.clone(), runs.leases[0].clone());
        let leader = tokio::spawn(give_up_after(polls, async move {
            store.append(&lease, &[tool_started(1)]).await
        }));
        tokio::task::yield_now().await;
        let appends: Vec<_> = (1..5).map(|run| runs.append(run)).collect();
        if polls > 1 {
            runs.wait_for(5).await;
        }
        drop(turn);
        for append in appends {
            let appended = tokio::time::timeout(Duration::from_secs(60), append).await;
            appended.expect("it hangs").unwrap().unwrap();
        }
        for run in 1..5 {
            assert_eq!(runs.records(run).await, 2, "{polls} polls");
        }
        was_done = leader.await.unwrap();
        // Stored or not, its lease can go on.
        let next = runs.records(0).await as u64;
        assert!(next == 2 || !was_done);
        let record = [tool_started(next)];
        let appended = runs.store.append(&runs.leases[0], &record).await;
        appended.unwrap();
        let listed = runs.store.list(&RunFilter::all()).await.unwrap();
        let records: u64 = listed.iter().map(|run| run.records).sum();
        assert_eq!(records, 4 * 2 + next + 1);
        if was_done {
            assert!(
                polls > 4,
                "there are moments between the first and the last"
            );
            break;
        }
    }
    assert!(was_done);
}

#[test]
fn a_store_serves_several_runtimes_and_survives_those_that_end() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let runs = Arc::new(runtime().block_on(Runs::new(8)));
    std::thread::scope(|scope| {
        for run in 0..4 {
            let (writing, ending) = (runs.clone(), runs.clone());
            scope.spawn(move || {
                runtime().block_on(async {
                    for position in 1..30 {
                        let record = [tool_started(position)];
                        let lease = &writing.leases[run];
                        writing.store.append(lease, &record).await.unwrap();
                    }
                });
            });
            scope.spawn(move || {
                for _ in 0..10 {
                    let runtime = runtime();
                    let entered = runtime.enter();
                    let _append = ending.append(4 + run);
                    drop(entered);
                    runtime.block_on(tokio::task::yield_now());
                    // It ends while the append is under way.
                    drop(runtime);
                }
            });
        }
    });
    runtime().block_on(async {
        for run in 0..4 {
            assert_eq!(runs.records(run).await, 30);
        }
    });
}
