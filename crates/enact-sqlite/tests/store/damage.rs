//! Damage is found and named, and what is before it can be used.

use enact::run::store::{RunFilter, RunStatus, Store as _, StoreErrorKind};
use enact_sqlite::SqliteStore;

use super::{execute, file, folder, keep, records, started, tool_started};

#[tokio::test]
async fn a_damaged_last_record_is_left_out_and_replaced() {
    let folder = folder();
    let path = file(&folder);
    let store = SqliteStore::open(&path).await.unwrap();
    let lease = keep(&store, "r", 5).await;
    execute(
        &path,
        "UPDATE events SET body = substr(body, 1, 40) WHERE position = 4",
    )
    .await;
    let stored = store.load("r").await.unwrap();
    assert_eq!(stored.run.records(), records("r", 4));
    assert_eq!(
        stored.damage.unwrap(),
        "record 4 does not match its checksum"
    );
    // Healthy records cannot be replaced.
    let error = store.append(&lease, &[tool_started(3)]).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Position);
    assert!(error.to_string().contains("position 4"), "{error}");
    let again = [tool_started(4), tool_started(5)];
    store.append(&lease, &again).await.unwrap();
    let stored = store.load("r").await.unwrap();
    assert_eq!(
        (stored.run.records(), stored.damage),
        (&records("r", 6)[..], None)
    );
    assert_eq!(store.list(&RunFilter::all()).await.unwrap()[0].records, 6);
    store.append(&lease, &[tool_started(6)]).await.unwrap();
}

#[tokio::test]
async fn damage_in_the_middle_ends_the_log_there() {
    let damages = [
        // One letter is another one, which is still JSON.
        "UPDATE events SET body = replace(body, 'call_2_xx', 'call_2_yx') WHERE position = 2",
        "UPDATE events SET event = 'withdrawn' WHERE position = 2",
        "UPDATE events SET event = 'tool started' WHERE position = 2",
        "UPDATE events SET at = at + 1 WHERE position = 2",
        "UPDATE events SET crc32 = crc32 + 1 WHERE position = 2",
        "UPDATE events SET body = '' WHERE position = 2",
        "UPDATE events SET body = CAST(x'ff00fe' AS TEXT) WHERE position = 2",
        "DELETE FROM events WHERE position = 2",
        // A healthy record of another place.
        "UPDATE events SET (at, event, body, crc32) =
            (SELECT at, event, body, crc32 FROM events WHERE position = 3) WHERE position = 2",
    ];
    for damage in damages {
        let folder = folder();
        let path = file(&folder);
        let store = SqliteStore::open(&path).await.unwrap();
        let lease = keep(&store, "r", 5).await;
        assert_eq!(execute(&path, damage).await, 1, "{damage}");
        let stored = store.load("r").await.unwrap();
        assert_eq!(stored.run.records(), records("r", 2), "{damage}");
        assert!(stored.damage.unwrap().starts_with("record 2 "), "{damage}");
        for position in [0, 1, 3, 4, 6] {
            let error = store.append(&lease, &[tool_started(position)]).await;
            assert_eq!(error.unwrap_err().kind(), StoreErrorKind::Position);
        }
        store.append(&lease, &[tool_started(2)]).await.unwrap();
        let stored = store.load("r").await.unwrap();
        assert_eq!(
            (stored.run.records(), stored.damage),
            (&records("r", 3)[..], None)
        );
    }
}

#[tokio::test]
async fn a_missing_end_is_noticed() {
    let folder = folder();
    let path = file(&folder);
    let store = SqliteStore::open(&path).await.unwrap();
    let _lease = keep(&store, "r", 5).await;
    execute(&path, "DELETE FROM events WHERE position >= 3").await;
    let stored = store.load("r").await.unwrap();
    assert_eq!(stored.run.records(), records("r", 3));
    assert_eq!(stored.damage.unwrap(), "record 3 is missing");
}

#[tokio::test]
async fn a_run_without_a_readable_start_is_corrupt_and_can_only_be_deleted() {
    let damages = [
        "UPDATE events SET body = 'x' WHERE position = 0",
        "DELETE FROM events WHERE position = 0",
        "DELETE FROM events",
        "UPDATE agents SET spec = replace(spec, 'question', 'questing')",
        "UPDATE agents SET spec = CAST(x'ff00fe' AS TEXT)",
        "UPDATE runs SET agent = NULL",
    ];
    for damage in damages {
        let folder = folder();
        let path = file(&folder);
        let store = SqliteStore::open(&path).await.unwrap();
        let lease = keep(&store, "r", 3).await;
        execute(&path, damage).await;
        let error = store.load("r").await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        assert!(error.to_string().contains("delete the run"), "{error}");
        // It is listed, whichever runs are asked for.
        let damaged = RunFilter::all().with_status(RunStatus::Damaged);
        for filter in [damaged, RunFilter::all().with_id_ending("r")] {
            let listed = store.list(&filter).await.unwrap();
            assert_eq!(listed.len(), 1, "{damage}");
            assert_eq!(listed[0].run_id, "r");
            assert_eq!(listed[0].status, RunStatus::Damaged, "{damage}");
        }
        let running = RunFilter::all().with_status(RunStatus::Running);
        assert!(store.list(&running).await.unwrap().is_empty(), "{damage}");
        // A new run of this name does not wipe out what is left of the old one.
        let error = store.append(&lease, &[started("r")]).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        drop(lease);
        store.delete("r").await.unwrap();
        keep(&store, "r", 2).await;
    }
}

#[tokio::test]
async fn a_record_that_only_a_newer_enact_understands_is_not_replaced() {
    let folder = folder();
    let path = file(&folder);
    let store = SqliteStore::open(&path).await.unwrap();
    let lease = keep(&store, "r", 2).await;
    // An event that this enact does not know, with the checksum that belongs to it.
    execute(
        &path,
        r#"INSERT INTO events
            VALUES (1, 2, 1893456000000000000, 'dreamed', '{"of":"sheep"}', 6095626);
           UPDATE runs SET records = 3"#,
    )
    .await;
    let stored = store.load("r").await.unwrap();
    assert_eq!(stored.run.records(), records("r", 2));
    let damage = stored.damage.unwrap();
    assert!(damage.contains("not understood"), "{damage}");
    let error = store.append(&lease, &[tool_started(2)]).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert!(
        error.to_string().contains("the enact that wrote it"),
        "{error}"
    );
}

#[tokio::test]
async fn a_damaged_summary_is_had_from_the_log_again() {
    let folder = folder();
    let path = file(&folder);
    let store = SqliteStore::open(&path).await.unwrap();
    let lease = keep(&store, "r", 5).await;
    let before = store.list(&RunFilter::all()).await.unwrap();
    execute(&path, "UPDATE runs SET steps = -1").await;
    assert_eq!(store.list(&RunFilter::all()).await.unwrap(), before);
    store.append(&lease, &[tool_started(5)]).await.unwrap();
    assert_eq!(store.list(&RunFilter::all()).await.unwrap()[0].records, 6);
}

/// What a page of the file takes.
const PAGE: usize = 4096;

#[tokio::test]
async fn whatever_page_is_damaged_what_is_read_is_what_was_written() {
    let folder = folder();
    let path = file(&folder);
    let store = SqliteStore::open(&path).await.unwrap();
    let all = records("r", 200);
    let _lease = keep(&store, "r", 200).await;
    execute(&path, "PRAGMA wal_checkpoint(TRUNCATE)").await;
    let healthy = std::fs::read(&path).unwrap();
    let told = u16::from_be_bytes([healthy[16], healthy[17]]);
    assert_eq!(usize::from(told), PAGE, "the size that the file names");
    let (mut cut, mut refused) = (0, 0);
    for (page, at) in (0..healthy.len()).step_by(PAGE).enumerate() {
        for fill in [0x00, 0xa5] {
            for length in [PAGE, 100] {
                let mut damaged = healthy.clone();
                damaged[at..at + length].fill(fill);
                let path = folder.path().join(format!("{page}-{fill}-{length}.db"));
                std::fs::write(&path, damaged).unwrap();
                let loaded = match SqliteStore::open(&path).await {
                    Ok(store) => store.load("r").await,
                    Err(error) => Err(error),
                };
                match loaded {
                    Ok(stored) => {
                        assert!(all.starts_with(stored.run.records()));
                        let is_whole = stored.run.records().len() == all.len();
                        assert_eq!(is_whole, stored.damage.is_none(), "page {page}");
                        cut += usize::from(!is_whole);
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}: {page}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(cut > 10 && refused > 3, "{cut} cut, {refused} refused");
}
