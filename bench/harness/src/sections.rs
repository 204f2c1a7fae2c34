//! What is measured.

use measure::{Holding, Line};

use crate::contender::{Amount, Contender, Kind};
use crate::instructions;
use crate::section::{Bench, Rounds, Section, column};

const LIBRARIES: &[Kind] = &[
    Kind::Floor,
    Kind::Enact,
    Kind::Stored,
    Kind::Rust,
    Kind::Python,
];
const IN_RUST: &[Kind] = &[Kind::Floor, Kind::Enact, Kind::Stored, Kind::Rust];

/// Runs at a time, where many are.
const MANY: usize = 200;
const LATENCY_MS: usize = 50;
/// A long run, and how much each of its observations says.
pub(crate) const LONG: usize = 200;
pub(crate) const KIB: usize = 1024;

/// All sections, in the order of the report.
pub(crate) fn all() -> Vec<Section> {
    vec![
        Section {
            title: "A run of 10 steps, one at a time",
            about: "Nine calls of a tool and the answer, from a server that answers at once.",
            columns: vec![
                column("wall_ms", "wall, ms", 2),
                column("cpu_ms", "CPU, ms", 2),
            ],
            kinds: LIBRARIES,
            rounds: Rounds::All,
            measure: one_at_a_time,
        },
        Section {
            title: "200 runs at a time, no latency",
            about: "How much one process gets done when the model costs nothing.",
            columns: many_columns(),
            kinds: LIBRARIES,
            rounds: Rounds::All,
            measure: |bench, contender| many(bench, contender, 0),
        },
        Section {
            title: "200 runs at a time, 50 ms latency",
            about: "Each reply is held back for 50 ms: at best, 400 runs a second.",
            columns: many_columns(),
            kinds: LIBRARIES,
            rounds: Rounds::All,
            measure: |bench, contender| many(bench, contender, LATENCY_MS),
        },
        Section {
            title: "Growth over 200 steps",
            about: "CPU time of a step at the beginning and at the end of a run of 200 steps with \
                    observations of 1 KiB.",
            columns: vec![
                column("early_us", "steps 1–10, µs", 0),
                column("late_us", "steps 191–200, µs", 0),
                column("growth", "late / early", 1),
            ],
            kinds: LIBRARIES,
            rounds: Rounds::All,
            measure: growth,
        },
        Section {
            title: "What is sent",
            about: "Bytes of request bodies, and the share of each request that the next one \
                    begins with: of the body, byte for byte; and of the prompt, which is tools and \
                    messages in the order in which providers show them to a model.",
            columns: vec![
                column("requests", "requests, 10 steps", 0),
                column("bytes_10", "bytes, 10 steps", 0),
                column("bytes_200", "bytes, 200 steps of 1 KiB", 0),
                column("body_prefix", "body kept, %", 1),
                column("prompt_prefix", "prompt kept, %", 1),
            ],
            kinds: LIBRARIES,
            rounds: Rounds::One,
            measure: sent,
        },
        Section {
            title: "Cold start",
            about: "From the start of a process to its end, with one run of one step in between.",
            columns: vec![column("cold_ms", "ms", 1)],
            kinds: &[
                Kind::Floor,
                Kind::Enact,
                Kind::Stored,
                Kind::Rust,
                Kind::Python,
                Kind::Command,
            ],
            rounds: Rounds::All,
            measure: cold,
        },
        Section {
            title: "Runs that wait",
            about: "Runs of 10 steps that wait for a person, 10,000 in memory, 1,000 on disk (a \
                    tenth of it if quick): what each one takes, and the JSON of its messages.",
            columns: vec![
                column("kib", "KiB each", 1),
                column("messages_kib", "messages, KiB", 1),
                column("ratio", "each / messages", 2),
            ],
            kinds: &[Kind::Held, Kind::HeldOnDisk],
            rounds: Rounds::One,
            measure: held,
        },
        Section {
            title: "Instructions a step",
            about: "User instructions by callgrind, without the start of the process: of steps in \
                    runs of 10 with short observations, and in runs of 200 with 1 KiB each.",
            columns: vec![
                column("instructions_10", "thousand, 10 steps", 0),
                column("instructions_200", "thousand, 200 steps", 0),
            ],
            kinds: IN_RUST,
            rounds: Rounds::OneIfNotQuick,
            measure: counted_instructions,
        },
    ]
}

fn many_columns() -> Vec<crate::section::Column> {
    vec![
        column("runs_per_second", "runs/s", 0),
        column("cpu_ms", "CPU a run, ms", 2),
        column("peak_mib", "peak memory, MiB", 0),
    ]
}

/// A number that fits the contender: the disk and Python take longer by orders.
fn fit(bench: &Bench, contender: &Contender, rust: usize, python: usize) -> usize {
    let full = match contender.kind {
        Kind::Python => python,
        Kind::Stored => rust.div_ceil(10),
        _ => rust,
    };
    match bench.quick {
        true => full.div_ceil(5),
        false => full,
    }
}

fn line(
    bench: &Bench,
    contender: &Contender,
    amount: Amount,
    latency_ms: usize,
) -> anyhow::Result<Line> {
    let server = &bench.server;
    let session = server.session("timed", contender.script(), amount.steps, latency_ms);
    let line = contender.run(&session.url, amount)?;
    session.end()?;
    Ok(line)
}

fn one_at_a_time(bench: &Bench, contender: &Contender) -> anyhow::Result<Vec<f64>> {
    let amount = Amount {
        warmup: 2,
        ..Amount::of(fit(bench, contender, 300, 10))
    };
    let line = line(bench, contender, amount, 0)?;
    let runs = line.runs as f64;
    Ok(vec![line.wall * 1e3 / runs, line.cpu * 1e3 / runs])
}

fn many(bench: &Bench, contender: &Contender, latency_ms: usize) -> anyhow::Result<Vec<f64>> {
    let amount = Amount {
        // The connections are made before.
        warmup: fit(bench, contender, MANY, 0),
        concurrency: MANY,
        ..Amount::of(fit(bench, contender, 2000, MANY).max(MANY))
    };
    let line = line(bench, contender, amount, latency_ms)?;
    let runs = line.runs as f64;
    Ok(vec![
        runs / line.wall,
        line.cpu * 1e3 / runs,
        line.peak_kib as f64 / 1024.0,
    ])
}

fn growth(bench: &Bench, contender: &Contender) -> anyhow::Result<Vec<f64>> {
    let amount = Amount {
        steps: LONG,
        observation: KIB,
        warmup: usize::from(contender.kind != Kind::Python),
        ..Amount::of(fit(bench, contender, 20, 1))
    };
    let line = line(bench, contender, amount, 0)?;
    let (Some(early), Some(late)) = (line.early_step, line.late_step) else {
        anyhow::bail!("it did not call its tool once a step");
    };
    Ok(vec![early * 1e6, late * 1e6, late / early])
}

fn sent(bench: &Bench, contender: &Contender) -> anyhow::Result<Vec<f64>> {
    let count = |amount: Amount| {
        let server = &bench.server;
        let session = server.session("counted", contender.script(), amount.steps, 0);
        contender.run::<Line>(&session.url, amount)?;
        let counted = session.end()?;
        anyhow::ensure!(counted.runs == 1, "{} runs instead of one", counted.runs);
        Ok(counted)
    };
    let short = count(Amount::of(1))?;
    let long = count(Amount {
        steps: LONG,
        observation: KIB,
        ..Amount::of(1)
    })?;
    Ok(vec![
        short.requests as f64,
        short.bytes as f64,
        long.bytes as f64,
        long.body_prefix.unwrap_or(f64::NAN) * 100.0,
        long.prompt_prefix.unwrap_or(f64::NAN) * 100.0,
    ])
}

fn cold(bench: &Bench, contender: &Contender) -> anyhow::Result<Vec<f64>> {
    let amount = Amount {
        steps: 1,
        ..Amount::of(1)
    };
    let session = bench.server.session("timed", contender.script(), 1, 0);
    let took = contender.time(&session.url, amount)?;
    session.end()?;
    Ok(vec![took.as_secs_f64() * 1e3])
}

fn held(bench: &Bench, contender: &Contender) -> anyhow::Result<Vec<f64>> {
    let full = match contender.kind {
        Kind::HeldOnDisk => 1_000,
        _ => 10_000,
    };
    let runs = if bench.quick { full / 10 } else { full };
    let amount = Amount {
        concurrency: 50,
        ..Amount::of(runs)
    };
    let server = &bench.server;
    let session = server.session("timed", contender.script(), amount.steps, 0);
    let holding: Holding = contender.run(&session.url, amount)?;
    session.end()?;
    Ok(vec![
        holding.bytes_each / 1024.0,
        holding.message_bytes_each / 1024.0,
        holding.bytes_each / holding.message_bytes_each,
    ])
}

fn counted_instructions(bench: &Bench, contender: &Contender) -> anyhow::Result<Vec<f64>> {
    let count = |counting| instructions::a_step(&bench.server, contender, counting);
    let short = count(instructions::SHORT)?;
    let long = count(instructions::LONG)?;
    Ok(vec![short / 1e3, long / 1e3])
}
