//! One append: at the beginning of a run, and at the end of a long one.

use std::path::Path;
use std::time::{Duration, Instant};

use enact::run::Record;
use enact::run::store::{Lease, Store as _};
use enact_sqlite::SqliteStore;

use crate::log::Shape;
use crate::{folder, folder_in_memory, median, ratio};

/// A run that is being written.
struct Writer {
    lease: Lease,
    records: std::vec::IntoIter<Record>,
}

impl Writer {
    /// A run with so many events, and so many more to come.
    async fn new(store: &SqliteStore, run_id: &str, written: usize, more: usize) -> Self {
        let mut records = Vec::from(Shape::Plain.log(run_id, written + more));
        let rest = records.split_off(written);
        let lease = store.acquire(run_id).await.unwrap();
        store.append(&lease, &records).await.unwrap();
        Self {
            lease,
            records: rest.into_iter(),
        }
    }

    async fn append(&mut self, store: &SqliteStore) -> Duration {
        let record = self.records.next().unwrap();
        let began = Instant::now();
        let appended = store.append(&self.lease, &[record]).await;
        let time = began.elapsed();
        appended.unwrap();
        time
    }
}

/// Prints the medians of appends to a new run and to one with so many events, and gives their ratio.
async fn compare(place: &str, folder: &Path, events: usize, rounds: usize) -> f64 {
    let store = SqliteStore::open(folder.join("runs.db")).await.unwrap();
    let mut long = Writer::new(&store, "long", events, rounds).await;
    let mut new = Writer::new(&store, "new", 1, rounds).await;
    let (mut early, mut late) = (Vec::new(), Vec::new());
    // By the same connection: threads on two cores need not be equally fast.
    for _ in 0..rounds {
        early.push(new.append(&store).await);
        late.push(long.append(&store).await);
    }
    let ratio = ratio(&late, &early);
    let (early, late) = (median(&early), median(&late));
    println!("  {place:<16}{early:>10.1?} {late:>10.1?}  {ratio:.2} × (at most 2 is allowed)");
    ratio
}

/// Prints what an append costs. Gives the ratio of late to early.
pub async fn measure(events: usize, rounds: usize) -> f64 {
    println!("an append of one event to a new run, and to one of {events} events:");
    let on_disk = compare("on disk", folder().path(), events, rounds).await;
    // Where no disk is waited for, growth cannot hide behind it.
    match folder_in_memory() {
        Some(folder) => {
            let in_memory = compare("in memory", folder.path(), events, rounds).await;
            in_memory.max(on_disk)
        }
        None => on_disk,
    }
}
