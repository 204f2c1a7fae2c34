//! What is wrong with a database is told, with what to do about it.

use std::error::Error as _;
use std::time::Duration;

use enact::run::store::{Store as _, StoreError, StoreErrorKind};
use enact_sqlite::SqliteStore;

use super::{execute, file, folder, keep, raw, tool_started};

fn told(error: &StoreError, kind: StoreErrorKind, words: &[&str]) {
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

#[tokio::test]
async fn a_database_of_a_newer_enact_is_refused_and_left_as_it_is() {
    let folder = folder();
    let path = file(&folder);
    drop(keep(&SqliteStore::open(&path).await.unwrap(), "r", 2).await);
    execute(&path, "PRAGMA user_version = 7").await;
    let error = SqliteStore::open(&path).await.unwrap_err();
    let words = ["runs.db", "version 7", "up to 3", "use a newer enact"];
    told(&error, StoreErrorKind::Corrupt, &words);
    execute(&path, "PRAGMA user_version = 3").await;
    let store = SqliteStore::open(&path).await.unwrap();
    assert_eq!(store.load("r").await.unwrap().run.records().len(), 2);
}

#[tokio::test]
async fn a_database_from_before_the_first_release_is_refused() {
    let folder = folder();
    let path = file(&folder);
    drop(keep(&SqliteStore::open(&path).await.unwrap(), "r", 2).await);
    for version in ["PRAGMA user_version = 1", "PRAGMA user_version = 2"] {
        execute(&path, version).await;
        let error = SqliteStore::open(&path).await.unwrap_err();
        let words = ["runs.db", "before the first release", "another file"];
        told(&error, StoreErrorKind::Corrupt, &words);
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_as_it_is() {
    let folder = folder();
    let path = file(&folder);
    execute(&path, "CREATE TABLE bookmarks (url TEXT)").await;
    let before = std::fs::read(&path).unwrap();
    let error = SqliteStore::open(&path).await.unwrap_err();
    told(
        &error,
        StoreErrorKind::Corrupt,
        &["runs.db", "another program"],
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_as_it_is() {
    let folder = folder();
    let path = file(&folder);
    let text = "Dear diary, ".repeat(1000);
    std::fs::write(&path, &text).unwrap();
    let error = SqliteStore::open(&path).await.unwrap_err();
    told(&error, StoreErrorKind::Corrupt, &["runs.db", "no database"]);
    assert!(
        error
            .source()
            .unwrap()
            .to_string()
            .contains("not a database")
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn a_locked_database_is_told_after_a_while_and_can_be_read() {
    let folder = folder();
    let path = file(&folder);
    let timeout = Duration::from_millis(50);
    let store = SqliteStore::open_with_timeout(&path, timeout)
        .await
        .unwrap();
    let lease = keep(&store, "r", 2).await;
    let mut other = raw(&path).await;
    sqlx::query("BEGIN EXCLUSIVE")
        .execute(&mut other)
        .await
        .unwrap();
    let words = ["runs.db", "locked by another process", "wait"];
    let error = store.append(&lease, &[tool_started(2)]).await.unwrap_err();
    told(&error, StoreErrorKind::Locked, &words);
    assert!(error.source().is_some());
    let error = store.acquire("other").await.unwrap_err();
    told(&error, StoreErrorKind::Locked, &words);
    assert_eq!(store.load("r").await.unwrap().run.records().len(), 2);
    let second = SqliteStore::open_with_timeout(&path, timeout)
        .await
        .unwrap();
    assert_eq!(second.load("r").await.unwrap().run.records().len(), 2);
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    store.append(&lease, &[tool_started(2)]).await.unwrap();
    store.acquire("other").await.unwrap();
}

#[tokio::test]
async fn a_write_waits_for_a_short_write_of_another_process() {
    let folder = folder();
    let path = file(&folder);
    let store = SqliteStore::open(&path).await.unwrap();
    let lease = keep(&store, "r", 2).await;
    let mut other = raw(&path).await;
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut other)
        .await
        .unwrap();
    let release = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        sqlx::query("COMMIT").execute(&mut other).await.unwrap();
    };
    let next = [tool_started(2)];
    let (appended, ()) = tokio::join!(store.append(&lease, &next), release);
    appended.unwrap();
}

#[tokio::test]
async fn what_cannot_be_opened_is_named() {
    let folder = folder();
    // A folder stands where the file should be.
    std::fs::create_dir(file(&folder)).unwrap();
    let error = SqliteStore::open(file(&folder)).await.unwrap_err();
    told(
        &error,
        StoreErrorKind::Io,
        &["runs.db", "unable to open", "check"],
    );
    // A file stands where a folder should be.
    std::fs::write(folder.path().join("plain"), "").unwrap();
    let path = folder.path().join("plain/runs.db");
    let error = SqliteStore::open(&path).await.unwrap_err();
    told(&error, StoreErrorKind::Io, &["plain", "check"]);
    assert!(error.source().is_some());
}

#[tokio::test]
async fn a_dropped_append_leaves_the_store_usable() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let lease = keep(&store, "r", 1).await;
    let mut next = 1;
    for micros in 0..200 {
        let records = [tool_started(next), tool_started(next + 1)];
        let append = store.append(&lease, &records);
        let _ = tokio::time::timeout(Duration::from_micros(micros * 5), append).await;
        // Whole or not at all, whenever it was dropped. A commit may still be under way.
        let probe = store.append(&lease, &[]).await;
        probe.unwrap();
        let count = store.load("r").await.unwrap().run.records().len() as u64;
        assert!(count == next || count == next + 2, "{count} after {next}");
        next = count;
    }
    store.append(&lease, &[tool_started(next)]).await.unwrap();
}
