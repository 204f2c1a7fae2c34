//! What the work has cost.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

use crate::Work;

/// What a contender prints, as one line of JSON. Times are in seconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    /// Who did it.
    pub contender: String,
    /// How many runs.
    pub runs: usize,
    /// From the first run to the end of the last.
    pub wall: f64,
    /// CPU time of the process meanwhile.
    pub cpu: f64,
    /// The part of it that the kernel took.
    pub system: f64,
    /// The most memory that the process ever held, in KiB.
    pub peak_kib: u64,
    /// CPU time of a step among the first ten, and among the last ten; of runs one at a time.
    pub early_step: Option<f64>,
    /// See `early_step`.
    pub late_step: Option<f64>,
}

/// What a contender prints whose runs are held, not finished.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Holding {
    /// Who holds them.
    pub contender: String,
    /// How many runs.
    pub runs: usize,
    /// What each of them takes.
    pub bytes_each: f64,
    /// The bytes of the messages of one of them, as JSON.
    pub message_bytes_each: f64,
}

pub(crate) struct Start {
    wall: Instant,
    cpu: (Duration, Duration),
}

impl Start {
    pub(crate) fn now() -> anyhow::Result<Self> {
        Ok(Self {
            cpu: cpu()?,
            wall: Instant::now(),
        })
    }

    pub(crate) fn line(self, name: &str, work: &Work, ticks: &[Duration]) -> anyhow::Result<Line> {
        let wall = self.wall.elapsed();
        let (user, system) = cpu()?;
        let system = system - self.cpu.1;
        let (early_step, late_step) = growth(work, ticks).unzip();
        Ok(Line {
            contender: name.into(),
            runs: work.runs,
            wall: wall.as_secs_f64(),
            cpu: (user - self.cpu.0 + system).as_secs_f64(),
            system: system.as_secs_f64(),
            peak_kib: peak_memory()?,
            early_step,
            late_step,
        })
    }
}

/// The mean cost of a step among the first and the last ten calls of the tool, over all runs; none
/// where runs are short or overlap.
fn growth(work: &Work, ticks: &[Duration]) -> Option<(f64, f64)> {
    let calls = work.steps.checked_sub(1)?;
    if work.concurrency > 1 || calls < 20 || ticks.len() != calls * work.runs {
        return None;
    }
    let over = |from: usize| {
        let spans = ticks.chunks(calls).map(|run| run[from + 9] - run[from]);
        spans.sum::<Duration>().as_secs_f64() / (9 * work.runs) as f64
    };
    Some((over(0), over(calls - 10)))
}

/// CPU time so far: of the program, and of the kernel for it.
fn cpu() -> anyhow::Result<(Duration, Duration)> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let time = |value: TimeVal| {
        let micros = u64::try_from(value.tv_usec()).unwrap_or(0);
        Duration::from_secs(u64::try_from(value.tv_sec()).unwrap_or(0))
            + Duration::from_micros(micros)
    };
    Ok((time(usage.user_time()), time(usage.system_time())))
}

/// The most memory that this process ever held, in KiB.
fn peak_memory() -> anyhow::Result<u64> {
    status("VmHWM:")
}

/// The memory that this process holds, in KiB.
///
/// # Errors
/// When the system does not tell.
pub fn resident_memory() -> anyhow::Result<u64> {
    status("VmRSS:")
}

fn status(field: &str) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number
        .context("no such field in /proc/self/status")?
        .parse()?)
}
