//! Taking up a long run: from its file to a state that knows what comes next.

use std::path::Path;
use std::time::{Duration, Instant};

use enact::react::{Next, RunState};
use enact::run::Record;
use enact::run::store::Store as _;
use enact_sqlite::SqliteStore;
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;

use crate::log::{Shape, wording};
use crate::{folder, ratio};

/// Stores a run, and moves all of it from the file `-wal` into the database, to see its size.
async fn keep(path: &Path, records: &[Record]) -> SqliteStore {
    let store = SqliteStore::open(path).await.unwrap();
    let lease = store.acquire("run").await.unwrap();
    store.append(&lease, records).await.unwrap();
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection = options.connect().await.unwrap();
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut connection)
        .await
        .unwrap();
    store
}

fn read_lines(path: &Path) -> Vec<Record> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Prints what taking up costs, for runs of every shape. Gives the worst ratio to reading and
/// parsing the same records from a file of lines.
pub async fn measure(events: usize, rounds: usize) -> f64 {
    let mut worst = 0.0_f64;
    println!(
        "taking up a run of {events} events: lines parsed, loaded, and ready for the next step"
    );
    for shape in Shape::ALL {
        let folder = folder();
        let (lines, database) = (
            folder.path().join("run.jsonl"),
            folder.path().join("runs.db"),
        );
        let program = shape.program();
        let run = shape.log("run", events);
        let texts = run.records().iter().map(serde_json::to_string);
        let text: Vec<String> = texts.map(Result::unwrap).collect();
        std::fs::write(&lines, text.join("\n")).unwrap();
        let store = keep(&database, run.records()).await;
        let bytes = std::fs::metadata(&lines).unwrap().len() / run.records().len() as u64;
        let kept = std::fs::metadata(&database).unwrap().len() / run.records().len() as u64;
        let mut times: [Vec<Duration>; 3] = Default::default();
        for _ in 0..rounds {
            let began = Instant::now();
            let parsed = read_lines(&lines);
            times[0].push(began.elapsed());
            drop(parsed);

            let began = Instant::now();
            let loaded = store.load("run").await.unwrap().run;
            times[1].push(began.elapsed());
            let mut state = RunState::resume(program.clone(), wording(), loaded).unwrap();
            let next = state.decide();
            times[2].push(began.elapsed());
            assert!(matches!(next, Next::Model(_)));
        }
        let ratio = ratio(&times[2], &times[0]);
        // The fastest round is the one that other work on the machine disturbed least.
        let [parsed, loaded, ready] = times.map(|times| times.into_iter().min().unwrap());
        println!(
            "  {:<20}{parsed:>8.1?} {loaded:>8.1?} {ready:>8.1?}  {ratio:.2} × (at most 3 is \
             allowed); {bytes} bytes an event as a line, {kept} in the database",
            shape.describe()
        );
        worst = worst.max(ratio);
    }
    worst
}
