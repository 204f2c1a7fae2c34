//! What can only be tested from inside.

mod together;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use enact_core::run::store::{Store as _, StoreErrorKind, check_store};
use enact_core::run::{AgentSpec, Event, Record, Started};
use enact_core::{Signature, Values};

use super::SqliteStore;
use super::location::default_path;
use super::lock::RunLock;

fn started(run_id: &str) -> Record {
    let signature = Signature::parse("question -> answer").unwrap();
    let agent = AgentSpec::new(signature, "model", "native");
    let started = Started::new(run_id, agent, Values::new());
    record(0, Event::Started(Arc::new(started)))
}

fn record(position: u64, event: Event) -> Record {
    Record {
        position,
        at: enact_core::Timestamp::UNIX_EPOCH,
        event,
    }
}

#[tokio::test]
async fn a_full_disk_is_told_and_with_room_again_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("runs.db"))
        .await
        .unwrap();
    let lease = store.acquire("r").await.unwrap();
    store.append(&lease, &[started("r")]).await.unwrap();
    // The limit holds for this connection, until it is replaced.
    sqlx::query("PRAGMA max_page_count = 1")
        .execute(&mut *store.writer.turn().await.unwrap())
        .await
        .unwrap();
    let call_id = "x".repeat(100_000);
    let long = record(1, Event::ToolStarted { call_id });
    let error = store
        .append(&lease, std::slice::from_ref(&long))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Full);
    let text = error.to_string();
    assert!(text.contains("runs.db") && text.contains("free"), "{text}");
    assert_eq!(store.load("r").await.unwrap().run.records().len(), 1);
    sqlx::query("PRAGMA max_page_count = 1000000")
        .execute(&mut *store.writer.turn().await.unwrap())
        .await
        .unwrap();
    store.append(&lease, &[long]).await.unwrap();
    assert_eq!(store.load("r").await.unwrap().run.records().len(), 2);
}

#[tokio::test]
async fn every_connection_is_durable() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("runs.db"))
        .await
        .unwrap();
    check_store(&store).await.unwrap();
    let mut writer = store.writer.turn().await.unwrap();
    let mut reader = store.readers.acquire().await.unwrap();
    for connection in [&mut *writer, &mut *reader] {
        let settings: (String, i64, i64, i64) = sqlx::query_as(
            "SELECT journal_mode, synchronous, foreign_keys, timeout
             FROM pragma_journal_mode, pragma_synchronous, pragma_foreign_keys,
                  pragma_busy_timeout",
        )
        .fetch_one(connection)
        .await
        .unwrap();
        assert_eq!(settings, ("wal".to_owned(), 2, 1, 5000));
    }
}

#[test]
fn of_many_that_take_and_give_back_a_lock_one_has_it_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let holders = std::sync::atomic::AtomicUsize::new(0);
    let times = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                use std::sync::atomic::Ordering::SeqCst;
                for _ in 0..500 {
                    let Some(lock) = RunLock::try_new(folder.path(), "r").unwrap() else {
                        continue;
                    };
                    assert_eq!(holders.fetch_add(1, SeqCst), 0);
                    times.fetch_add(1, SeqCst);
                    std::thread::yield_now();
                    holders.fetch_sub(1, SeqCst);
                    drop(lock);
                }
            });
        }
    });
    assert!(times.into_inner() > 8);
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_lock_file_that_is_not_ours_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let lock = RunLock::try_new(folder.path(), "r").unwrap().unwrap();
    let path = folder.path().read_dir().unwrap().next().unwrap();
    let path = path.unwrap().path();
    drop(lock);
    std::fs::write(&path, "text").unwrap();
    let error = RunLock::try_new(folder.path(), "r").unwrap_err();
    assert!(error.to_string().contains("remove it"), "{error}");
}

#[test]
fn the_default_path_is_in_the_data_folder_of_the_platform() {
    let path = |platform, variables: &[(&str, &str)]| {
        default_path(platform, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    };
    let is = |text: &str| Some(PathBuf::from(text));
    let home = ("HOME", "/home/me");
    assert_eq!(
        path("linux", &[home]),
        is("/home/me/.local/share/enact/runs.db")
    );
    assert_eq!(
        path("linux", &[home, ("XDG_DATA_HOME", "/data")]),
        is("/data/enact/runs.db")
    );
    assert_eq!(
        path("linux", &[home, ("XDG_DATA_HOME", "data")]),
        is("/home/me/.local/share/enact/runs.db")
    );
    assert_eq!(
        path("macos", &[home]),
        is("/home/me/Library/Application Support/enact/runs.db")
    );
    assert_eq!(
        path("windows", &[("APPDATA", "/roaming")]),
        Some(Path::new("/roaming").join("enact").join("runs.db"))
    );
    assert_eq!(path("linux", &[]), None);
    assert_eq!(path("linux", &[("HOME", "")]), None);
}
