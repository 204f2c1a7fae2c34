//! The regression gate: instructions a step of enact against those of the floor, as they were.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::contender::{self, Contender};
use crate::instructions::{self, Counting};
use crate::server::Server;

/// What is counted.
#[derive(Args)]
pub(crate) struct Gate {
    /// The folder of the programs of the contenders.
    #[arg(long)]
    programs: PathBuf,
    /// The ratios that were.
    #[arg(long)]
    baseline: PathBuf,
    /// Takes the ratios of now as those that were.
    #[arg(long)]
    accept: bool,
}

/// Instructions a step of enact, divided by those of the raw reqwest loop.
#[derive(Serialize, Deserialize)]
struct Baseline {
    /// How much above the ratios is still let through: 0.05 is five per cent.
    tolerance: f64,
    /// Runs of 10 steps.
    ratio_10: f64,
    /// Runs of 200 steps with 1 KiB each.
    ratio_200: f64,
}

impl Gate {
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(&self.baseline)
            .with_context(|| format!("cannot read {}", self.baseline.display()))?;
        let mut baseline: Baseline = serde_json::from_str(&text)?;
        let server = Server::start(&self.programs.join("bench-server"))?;
        let contenders = contender::in_rust(&self.programs);
        let find = |name: &str| {
            let found = contenders.iter().find(|contender| contender.name == name);
            found.context("no such contender")
        };
        let (enact, floor) = (find("enact-native")?, find("floor-reqwest")?);
        let short = ratio(&server, enact, floor, "10 steps", instructions::SHORT)?;
        let long = ratio(&server, enact, floor, "200 steps", instructions::LONG)?;
        if self.accept {
            let round = |ratio: f64| (ratio * 1000.0).round() / 1000.0;
            baseline.ratio_10 = round(short);
            baseline.ratio_200 = round(long);
            let text = serde_json::to_string_pretty(&baseline)? + "\n";
            return Ok(std::fs::write(&self.baseline, text)?);
        }
        let judged = [
            judge("10 steps", short, baseline.ratio_10, baseline.tolerance),
            judge("200 steps", long, baseline.ratio_200, baseline.tolerance),
        ];
        let regressed: Vec<String> = judged.into_iter().flatten().collect();
        anyhow::ensure!(
            regressed.is_empty(),
            "enact needs more instructions a step than it did:\n{}\nFind the cause with \
             callgrind_annotate; if it is worth its price, `bench/gate --accept` writes the new \
             ratios down.",
            regressed.join("\n")
        );
        Ok(())
    }
}

fn ratio(
    server: &Server,
    enact: &Contender,
    floor: &Contender,
    what: &str,
    counting: Counting,
) -> anyhow::Result<f64> {
    let enact = instructions::a_step(server, enact, counting)?;
    let floor = instructions::a_step(server, floor, counting)?;
    let ratio = enact / floor;
    println!("{what}: enact {enact:.0}, floor {floor:.0} instructions a step: {ratio:.3}");
    Ok(ratio)
}

/// What to say about a ratio that is too high.
fn judge(what: &str, ratio: f64, was: f64, tolerance: f64) -> Option<String> {
    let allowed = was * (1.0 + tolerance);
    (ratio > allowed).then(|| {
        format!("  {what}: {ratio:.3} × the floor, where {was:.3} was, and {allowed:.3} is allowed")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_within_the_tolerance_passes() {
        assert_eq!(judge("10 steps", 1.04, 1.0, 0.05), None);
        let told = judge("10 steps", 1.06, 1.0, 0.05).unwrap();
        assert!(told.contains("1.060 × the floor"), "{told}");
    }
}
