//! What keeping runs in a SQLite file costs: a whole run, many at once, one append, and taking a run up
//! again.
//!
//! `cargo bench -p enact-sqlite` prints the costs. It fails when 200 runs at once come to less than
//! 60 % of the rate that their model allows, when an append to a long run costs more than twice one to a new
//! run, or when a run is taken up more than three times slower than its
//! records are read from a file of JSON lines and parsed. What is compared is measured in turns, and
//! the median of the ratios counts: other work on the machine slows both down alike.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

mod append;
mod concurrent;
mod log;
mod resume;
mod whole_run;

use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

/// A folder on the disk that holds the build.
pub fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A folder in memory, where the system has one: nothing waits for a disk there.
pub fn folder_in_memory() -> Option<TempDir> {
    let memory = Path::new("/dev/shm");
    memory
        .is_dir()
        .then(|| tempfile::tempdir_in(memory).ok())
        .flatten()
}

pub fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[times.len() / 2]
}

/// The median of how much longer one took than the other, round by round.
pub fn ratio(times: &[Duration], to: &[Duration]) -> f64 {
    let rounds = times.iter().zip(to);
    let mut ratios: Vec<f64> = rounds
        .map(|(time, to)| time.as_secs_f64() / to.as_secs_f64())
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn main() {
    // `cargo test --benches` only checks that it works.
    let is_measured = std::env::args().any(|arg| arg == "--bench");
    let (events, rounds) = if is_measured { (10_000, 21) } else { (100, 1) };
    let (runs, steps) = if is_measured { (200, 10) } else { (3, 2) };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(whole_run::measure(rounds));
    let concurrent = concurrent::measure(runs, steps, rounds.min(5));
    let append = runtime.block_on(append::measure(events, rounds * 30));
    let resume = runtime.block_on(resume::measure(events, rounds));
    if is_measured {
        assert!(concurrent >= 0.6, "runs at once wait too long for the disk");
        assert!(append <= 2.0, "appends get dearer as the run grows");
        assert!(resume <= 3.0, "resuming costs too much beside parsing");
    }
}
