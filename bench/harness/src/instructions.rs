//! User instructions of a step, by callgrind: the same on every machine, however busy.

use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::contender::{Amount, Contender};
use crate::sections;
use crate::server::Server;

/// A run whose steps are counted, and how many of them make up the difference.
#[derive(Clone, Copy)]
pub(crate) struct Counting {
    steps: usize,
    observation: usize,
    few: usize,
    many: usize,
}

/// Runs of 10 steps with short observations.
pub(crate) const SHORT: Counting = Counting {
    steps: 10,
    observation: 64,
    few: 5,
    many: 25,
};

/// Runs of 200 steps with observations of 1 KiB.
pub(crate) const LONG: Counting = Counting {
    steps: sections::LONG,
    observation: sections::KIB,
    few: 1,
    many: 4,
};

const ATTEMPTS: usize = 3;

/// The instructions of a step: what more runs cost than fewer, so that the start cancels out.
///
/// Whether a buffer can grow where it is depends on luck, and copying it counts: the least of
/// several attempts is taken.
pub(crate) fn a_step(
    server: &Server,
    contender: &Contender,
    counting: Counting,
) -> anyhow::Result<f64> {
    let least = |runs| {
        let counts = (0..ATTEMPTS).map(|_| count(server, contender, counting, runs));
        let counts: Vec<i64> = counts.collect::<anyhow::Result<_>>()?;
        counts.into_iter().min().context("no attempt was made")
    };
    let few = least(counting.few)?;
    let many = least(counting.many)?;
    let steps = (counting.many - counting.few) * counting.steps;
    Ok((many - few) as f64 / steps as f64)
}

fn count(
    server: &Server,
    contender: &Contender,
    counting: Counting,
    runs: usize,
) -> anyhow::Result<i64> {
    let amount = Amount {
        steps: counting.steps,
        observation: counting.observation,
        warmup: 1,
        ..Amount::of(runs)
    };
    let session = server.session("timed", contender.script(), counting.steps, 0);
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(contender.arguments(&session.url, amount))
        .stdin(Stdio::null())
        .output()
        .context("cannot start valgrind: install it")?;
    session.end()?;
    let told = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{}: {told}", contender.name);
    let collected = told
        .lines()
        .find_map(|line| line.split_once("Collected :"))
        .context("callgrind told no count")?;
    Ok(collected.1.trim().parse()?)
}
