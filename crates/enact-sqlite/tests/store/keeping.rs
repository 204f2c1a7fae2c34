//! What is kept comes back.

use std::path::Path;

use enact::run::store::{RunFilter, Store as _, StoreErrorKind, check_store};
use enact::run::{Event, Record};
use enact_sqlite::SqliteStore;

use super::{execute, file, folder, keep, raw, record, records, started, tool_started};

#[tokio::test]
async fn a_fresh_store_keeps_its_promises() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    check_store(&store).await.unwrap();
}

#[tokio::test]
async fn a_reopened_store_keeps_its_promises() {
    let folder = folder();
    drop(SqliteStore::open(file(&folder)).await.unwrap());
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    check_store(&store).await.unwrap();
}

#[cfg(unix)] // Windows does not have such names.
#[tokio::test]
async fn folders_are_created_and_any_name_is_a_name() {
    let folder = folder();
    let path = folder.path().join("a/b c/:memory:?mode=memory%20#é.db");
    let store = SqliteStore::open(&path).await.unwrap();
    drop(keep(&store, "r", 2).await);
    assert!(path.is_file());
    let again = SqliteStore::open(&path).await.unwrap();
    assert_eq!(again.load("r").await.unwrap().run.records().len(), 2);
}

#[tokio::test]
async fn runs_survive_their_store() {
    let folder = folder();
    let all = records("r", 20);
    {
        let store = SqliteStore::open(file(&folder)).await.unwrap();
        let lease = store.acquire("r").await.unwrap();
        for record in &all {
            store
                .append(&lease, std::slice::from_ref(record))
                .await
                .unwrap();
        }
    }
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let stored = store.load("r").await.unwrap();
    assert_eq!(stored.damage, None);
    assert_eq!(stored.run.records(), all);
    let listed = store.list(&RunFilter::all()).await.unwrap();
    assert_eq!((listed.len(), listed[0].records), (1, 20));
    // The next writer goes on, with a higher fencing number.
    let lease = store.acquire("r").await.unwrap();
    assert_eq!(lease.fence(), 2);
    store.append(&lease, &[tool_started(20)]).await.unwrap();
}

#[tokio::test]
async fn the_id_of_a_run_is_any_text() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let long = "x".repeat(10_000);
    let ids = [
        "",
        "../../up",
        "a/b\\c:*?\"<>|",
        "'; DROP TABLE runs; --",
        "nul\0byte",
        "Case",
        "case",
        "é\u{301}🦀",
        &long,
    ];
    let mut leases = Vec::new();
    for id in ids {
        leases.push(keep(&store, id, 2).await);
    }
    for id in ids {
        assert_eq!(store.load(id).await.unwrap().run.id(), id);
    }
    assert_eq!(
        store.list(&RunFilter::all()).await.unwrap().len(),
        ids.len()
    );
    drop(leases);
    for id in ids {
        store.delete(id).await.unwrap();
    }
    assert!(store.list(&RunFilter::all()).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_append_is_whole_or_not_at_all() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let lease = keep(&store, "r", 3).await;
    let with_gap = [tool_started(3), tool_started(5)];
    let error = store.append(&lease, &with_gap).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Position);
    let stored = store.load("r").await.unwrap();
    assert_eq!(stored.run.records(), records("r", 3));
    assert_eq!(store.list(&RunFilter::all()).await.unwrap()[0].records, 3);
    store.append(&lease, &[]).await.unwrap();
    store.append(&lease, &[tool_started(3)]).await.unwrap();
    // A run begins with its start.
    let other = store.acquire("other").await.unwrap();
    let error = store.append(&other, &[tool_started(0)]).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    store.append(&other, &[started("other")]).await.unwrap();
}

#[tokio::test]
async fn a_lease_from_before_a_deletion_never_fits_again() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let lease = keep(&store, "r", 2).await;
    let stale = enact::run::store::Lease::new("r", lease.fence(), ());
    drop(lease);
    store.delete("r").await.unwrap();
    let fenced = |outcome: Result<(), enact::run::store::StoreError>| {
        assert_eq!(outcome.unwrap_err().kind(), StoreErrorKind::Fenced);
    };
    fenced(store.append(&stale, &[started("r")]).await);
    let lease = store.acquire("r").await.unwrap();
    assert!(lease.fence() > stale.fence());
    fenced(store.append(&stale, &[started("r")]).await);
}

/// How many agents, runs and events there are.
async fn rows(folder: &tempfile::TempDir) -> (i64, i64, i64) {
    let counts = sqlx::query_as(
        "SELECT (SELECT count(*) FROM agents), (SELECT count(*) FROM runs),
             (SELECT count(*) FROM events)",
    );
    let mut connection = raw(&file(folder)).await;
    counts.fetch_one(&mut connection).await.unwrap()
}

#[tokio::test]
async fn runs_of_one_agent_say_once_what_it_is() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    drop(keep(&store, "a", 3).await);
    drop(keep(&store, "b", 2).await);
    assert_eq!(rows(&folder).await, (1, 2, 5));
    // The one does not need the other.
    store.delete("a").await.unwrap();
    let stored = store.load("b").await.unwrap();
    assert_eq!(
        (stored.run.records(), stored.damage),
        (&records("b", 2)[..], None)
    );
    store.delete("b").await.unwrap();
    assert_eq!(rows(&folder).await, (0, 0, 0));
}

#[tokio::test]
async fn events_can_be_read_with_plain_sql() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    drop(keep(&store, "sky", 2).await);
    // As the documentation says.
    let events: Vec<(i64, String, String, String)> = sqlx::query_as(
        "SELECT position, datetime(at / 1000000000, 'unixepoch') AS at, event, body
         FROM events JOIN runs USING (run) WHERE run_id = 'sky' ORDER BY position",
    )
    .fetch_all(&mut raw(&file(&folder)).await)
    .await
    .unwrap();
    let [started, called] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((&*started.2, &*called.2), ("started", "tool_started"));
    assert_eq!(called.1, "1970-01-01 00:00:00");
    let body: serde_json::Value = serde_json::from_str(&called.3).unwrap();
    assert!(body["call_id"].as_str().unwrap().starts_with("call_1_"));
    let model: String = sqlx::query_scalar(
        "SELECT json_extract(spec, '$.model') FROM agents JOIN runs USING (agent)
         WHERE run_id = 'sky'",
    )
    .fetch_one(&mut raw(&file(&folder)).await)
    .await
    .unwrap();
    assert_eq!(model, "model");
}

#[tokio::test]
async fn a_deleted_run_leaves_nothing_behind() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    drop(keep(&store, "r", 5).await);
    store.delete("r").await.unwrap();
    assert_eq!(rows(&folder).await, (0, 0, 0));
    let locks = folder.path().join("runs.db.locks");
    assert_eq!(locks.read_dir().unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_can_open_a_new_store_at_once() {
    for _ in 0..10 {
        let folder = folder();
        let path = file(&folder);
        let opened: Vec<_> = (0..8)
            .map(|_| tokio::spawn(SqliteStore::open(path.clone())))
            .collect();
        for (index, store) in opened.into_iter().enumerate() {
            let store = store.await.unwrap().unwrap();
            drop(keep(&store, &index.to_string(), 2).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_runs_can_be_written_at_once() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let writers: Vec<_> = (0..30)
        .map(|index| {
            let store = store.clone();
            tokio::spawn(async move {
                let id = index.to_string();
                let lease = store.acquire(&id).await.unwrap();
                for record in records(&id, 10) {
                    store.append(&lease, &[record]).await.unwrap();
                    store.load(&id).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let listed = store.list(&RunFilter::all()).await.unwrap();
    assert_eq!(listed.len(), 30);
    assert!(listed.iter().all(|run| run.records == 10));
}

/// The two records of a step that calls a tool.
fn step(number: u64) -> [Record; 2] {
    let call_id = format!("call_{number}");
    let finished = record(
        2 * number,
        Event::tool_finished(
            &call_id,
            enact::run::Observation::value("y".repeat(300)),
            std::time::Duration::from_millis(5),
            Default::default(),
        ),
    );
    [
        record(2 * number - 1, Event::ToolStarted { call_id }),
        finished,
    ]
}

async fn size_of(path: &Path, steps: u64) -> u64 {
    let store = SqliteStore::open(path).await.unwrap();
    let lease = keep(&store, "r", 1).await;
    for number in 1..=steps {
        store.append(&lease, &step(number)).await.unwrap();
    }
    execute(path, "PRAGMA wal_checkpoint(TRUNCATE)").await;
    path.metadata().unwrap().len()
}

#[tokio::test]
async fn a_run_takes_room_in_proportion_to_its_events() {
    let folder = folder();
    let small = size_of(&folder.path().join("100.db"), 100).await;
    let large = size_of(&folder.path().join("1000.db"), 1000).await;
    assert!(large < 13 * small, "{small} and {large} bytes");
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_kept_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let _lease = keep(&store, "run", 2).await;
    let beside = std::fs::read_dir(folder.path()).unwrap();
    let mut seen = 0;
    for entry in beside.map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let metadata = entry.metadata().unwrap();
        // The locks hold nothing.
        if metadata.is_file() {
            let mode = metadata.permissions().mode();
            assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
            seen += 1;
        }
    }
    assert!(seen >= 2, "the database and its log");
}

#[cfg(unix)]
#[tokio::test]
async fn truth_a_store_that_others_could_read_is_closed_when_it_is_opened() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let path = folder.path().join("new/folder/runs.db");
    let open = |path: &std::path::Path, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path, permissions).unwrap();
    };
    let mode = |path: &std::path::Path| {
        let found = std::fs::metadata(path).unwrap();
        found.permissions().mode() & 0o777
    };
    let store = SqliteStore::open(&path).await.unwrap();
    let _lease = keep(&store, "run", 2).await;
    for made in [path.parent().unwrap(), &folder.path().join("new")] {
        assert_eq!(mode(made), 0o700, "{made:?}");
    }
    let log = folder.path().join("new/folder/runs.db-wal");
    for file in [&path, &log] {
        open(file, 0o644);
    }
    let _again = SqliteStore::open(&path).await.unwrap();
    for file in [&path, &log] {
        assert_eq!(mode(file), 0o600, "{file:?}");
    }
}

#[tokio::test]
async fn records_of_every_length_come_back_in_order() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let lease = store.acquire("r").await.unwrap();
    let long = |position: u64| {
        // Short ones, a few that fill whatever is read at once, and short ones again.
        let length = if (300..310).contains(&position) {
            200_000
        } else {
            position as usize % 7
        };
        let call_id = format!("{position} \n {}", "é".repeat(length));
        record(position, Event::ToolStarted { call_id })
    };
    let records: Vec<_> = std::iter::once(started("r"))
        .chain((1..2_500).map(long))
        .collect();
    store.append(&lease, &records).await.unwrap();
    let stored = store.load("r").await.unwrap();
    assert_eq!(stored.damage, None);
    assert_eq!(stored.run.records(), records);
}

#[tokio::test]
async fn a_file_with_pages_of_another_size_keeps_them_and_serves_as_well() {
    let folder = folder();
    let path = file(&folder);
    execute(&path, "PRAGMA page_size = 2048; PRAGMA journal_mode = WAL").await;
    let store = SqliteStore::open(&path).await.unwrap();
    let _lease = keep(&store, "r", 4).await;
    let stored = store.load("r").await.unwrap();
    assert_eq!(stored.run.records(), records("r", 4));
    let size: i64 = sqlx::query_scalar("PRAGMA page_size")
        .fetch_one(&mut raw(&path).await)
        .await
        .unwrap();
    assert_eq!(size, 2048);
}
