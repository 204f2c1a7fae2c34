//! Two processes, one store: this test program starts itself again, as a writer to be killed.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use enact::run::store::{RunFilter, Store as _, StoreErrorKind};
use enact_sqlite::SqliteStore;

use super::{file, folder, started, tool_started};

const DATABASE: &str = "ENACT_SQLITE_TEST_DATABASE";

/// What the other process does. Does nothing when it is run as a test.
#[tokio::test]
async fn a_writer_in_a_process_of_its_own() {
    let Some(path) = std::env::var_os(DATABASE) else {
        return;
    };
    let store = SqliteStore::open(PathBuf::from(path)).await.unwrap();
    let lease = store.acquire("r").await.unwrap();
    store.append(&lease, &[started("r")]).await.unwrap();
    for position in 1.. {
        println!("\nstored {position}");
        store
            .append(&lease, &[tool_started(position)])
            .await
            .unwrap();
    }
}

struct Writer {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Writer {
    fn start(path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg("processes::a_writer_in_a_process_of_its_own")
            .env(DATABASE, path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next number of records that it says are stored; none when it is gone.
    fn stored(&mut self) -> Option<usize> {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            if let Some(count) = line.strip_prefix("stored ") {
                return Some(count.trim().parse().unwrap());
            }
            line.clear();
        }
        None
    }

    /// Ends it without any chance to clean up, and says how many records it had stored.
    fn kill(mut self) -> usize {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.stored()).last().unwrap_or(0)
    }
}

#[tokio::test]
async fn a_living_writer_keeps_others_out_and_a_killed_one_does_not() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    for round in 0..3 {
        let mut writer = Writer::start(&file(&folder));
        assert_eq!(writer.stored(), Some(1));
        let error = store.acquire("r").await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Busy);
        assert!(error.to_string().contains("another process"), "{error}");
        let error = store.delete("r").await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Busy);
        // Reading is free.
        assert!(!store.load("r").await.unwrap().run.records().is_empty());
        assert_eq!(store.list(&RunFilter::all()).await.unwrap().len(), 1);
        for _ in 0..20 * round {
            writer.stored();
        }
        let at_least = writer.kill();
        let lease = store.acquire("r").await.unwrap();
        let stored = store.load("r").await.unwrap();
        assert_eq!(stored.damage, None);
        // All that it was told is stored, and at most one more.
        let count = stored.run.records().len();
        assert!(count >= at_least.max(1), "{count} of {at_least}");
        store
            .append(&lease, &[tool_started(count as u64)])
            .await
            .unwrap();
        drop(lease);
        store.delete("r").await.unwrap();
    }
}
