//! What enact has to keep to, as ratios within one run of the bench.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::report::Report;

/// The most bytes that the `enact` command may have.
const BINARY_MIB: f64 = 40.0;
const ENACT: &str = "enact-native";
const FLOOR: &str = "floor-reqwest";
/// Peers that send tool calls of the provider, whose bytes can be compared with enact's.
const NATIVE_PEERS: [&str; 6] = [
    "genai",
    "rig",
    "langgraph",
    "pydantic-ai",
    "openai-agents",
    "dspy-react-v2",
];

/// A target, and what was measured.
#[derive(Serialize, Deserialize)]
pub(crate) struct Judged {
    pub(crate) target: String,
    pub(crate) measured: f64,
    pub(crate) bound: f64,
    pub(crate) is_met: bool,
}

/// Judges the targets whose sections were measured.
pub(crate) fn judge(report: &Report, enact: &Path) -> anyhow::Result<Vec<Judged>> {
    let value = |section: &str, contender: &str, key: &str| {
        let found = report.section(section)?.value(contender, key);
        found.filter(|value| value.is_finite())
    };
    let ratio = |section: &str, a: &str, b: &str, key: &str| {
        Some(value(section, a, key)? / value(section, b, key)?)
    };
    let leanest = NATIVE_PEERS
        .iter()
        .filter_map(|peer| value("What is sent", peer, "bytes_10"))
        .min_by(f64::total_cmp);
    // A quick run takes a build for tests, whose size says nothing.
    let mib = match report.quick {
        true => None,
        false => Some(std::fs::metadata(enact)?.len() as f64 / 1024.0 / 1024.0),
    };
    let judged = [
        at_most(
            "instructions of 10 steps, × the raw reqwest loop",
            ratio("Instructions", ENACT, FLOOR, "instructions_10"),
            2.0,
        ),
        at_most(
            "instructions of 200 steps, × the raw reqwest loop",
            ratio("Instructions", ENACT, FLOOR, "instructions_200"),
            0.5,
        ),
        at_most(
            "instructions of 10 steps with SQLite, × in memory",
            ratio("Instructions", "enact-sqlite", ENACT, "instructions_10"),
            2.0,
        ),
        at_most(
            "CPU time of a run of 10 steps, × the raw reqwest loop",
            ratio("A run of 10 steps", ENACT, FLOOR, "cpu_ms"),
            1.5,
        ),
        at_most(
            "cold start of `enact run`, ms",
            value("Cold start", "enact run", "cold_ms"),
            20.0,
        ),
        at_most("the `enact` command, MiB", mib, BINARY_MIB),
        at_least(
            "200 runs at a time, 50 ms latency, share of the ideal",
            value("200 runs at a time, 50", ENACT, "runs_per_second").map(|rate| rate / 400.0),
            0.95,
        ),
        at_least(
            "prompt kept from request to request, %",
            value("What is sent", ENACT, "prompt_prefix"),
            100.0,
        ),
        at_least(
            "body kept from request to request, %",
            value("What is sent", ENACT, "body_prefix"),
            100.0,
        ),
        at_most(
            "bytes sent in a run of 10 steps, × the leanest peer",
            leanest.and_then(|least| Some(value("What is sent", ENACT, "bytes_10")? / least)),
            1.0,
        ),
        at_most(
            "memory of a run that waits, KiB",
            value("Runs that wait", "enact-paused", "kib"),
            64.0,
        ),
        at_most(
            "disk of a run that waits, × its messages",
            value("Runs that wait", "enact-paused-sqlite", "ratio"),
            2.0,
        ),
    ];
    Ok(judged.into_iter().flatten().collect())
}

fn at_most(target: &str, measured: Option<f64>, bound: f64) -> Option<Judged> {
    judged(format!("{target}: at most"), measured, bound, |a, b| a <= b)
}

fn at_least(target: &str, measured: Option<f64>, bound: f64) -> Option<Judged> {
    judged(format!("{target}: at least"), measured, bound, |a, b| {
        a >= b
    })
}

fn judged(
    target: String,
    measured: Option<f64>,
    bound: f64,
    is_met: fn(f64, f64) -> bool,
) -> Option<Judged> {
    let measured = measured?;
    Some(Judged {
        target,
        measured,
        bound,
        is_met: is_met(measured, bound),
    })
}
