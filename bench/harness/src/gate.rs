//! The regression gate: instructions a step of enact against those of the floor, and what they may be.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::contender::{self, Contender};
use crate::instructions::{self, Counting};
use crate::server::Server;

/// How often a ratio is counted before it is too high. Luck only adds instructions.
const ROUNDS: usize = 3;

/// What is counted.
#[derive(Args)]
pub(crate) struct Gate {
    /// The folder of the programs of the contenders.
    #[arg(long)]
    programs: PathBuf,
    /// The bounds.
    #[arg(long)]
    bounds: PathBuf,
    /// Lowers the bounds to the ratios of now. It never raises one.
    #[arg(long)]
    tighten: bool,
}

/// The most instructions that a step of enact may need, divided by those of the raw reqwest loop.
#[derive(Serialize, Deserialize)]
struct Bounds {
    /// In runs of 10 steps.
    most_10: f64,
    /// In runs of 200 steps with 1 KiB each.
    most_200: f64,
}

impl Gate {
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(&self.bounds)
            .with_context(|| format!("cannot read {}", self.bounds.display()))?;
        let bounds: Bounds = serde_json::from_str(&text)?;
        let server = Server::start(&self.programs.join("bench-server"))?;
        let contenders = contender::in_rust(&self.programs);
        let find = |name: &str| {
            let found = contenders.iter().find(|contender| contender.name == name);
            found.context("no such contender")
        };
        let (enact, floor) = (find("enact-native")?, find("floor-reqwest")?);
        let least = |what: &str, counting: Counting, most: f64| {
            let mut ratio = f64::INFINITY;
            for _ in 0..ROUNDS {
                ratio = ratio.min(self::ratio(&server, enact, floor, what, counting)?);
                if ratio <= most {
                    break;
                }
            }
            anyhow::Ok(ratio)
        };
        let short = least("10 steps", instructions::SHORT, bounds.most_10)?;
        let long = least("200 steps", instructions::LONG, bounds.most_200)?;
        let too_high = [
            judge("10 steps", short, bounds.most_10),
            judge("200 steps", long, bounds.most_200),
        ];
        let too_high: Vec<String> = too_high.into_iter().flatten().collect();
        anyhow::ensure!(
            too_high.is_empty(),
            "enact needs more instructions a step than it may:\n{}\nFind the cause with \
             callgrind_annotate.",
            too_high.join("\n")
        );
        if self.tighten {
            let text = serde_json::to_string_pretty(&bounds.tightened(short, long))? + "\n";
            std::fs::write(&self.bounds, text)?;
        }
        Ok(())
    }
}

impl Bounds {
    /// The bounds that these ratios just meet.
    fn tightened(&self, short: f64, long: f64) -> Self {
        let round = |ratio: f64| (ratio * 1000.0).ceil() / 1000.0;
        Self {
            most_10: round(short).min(self.most_10),
            most_200: round(long).min(self.most_200),
        }
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
    println!("{what}: enact {enact:.0}, floor {floor:.0} instructions a step: {ratio:.4}");
    Ok(ratio)
}

/// What to say about a ratio that is too high.
fn judge(what: &str, ratio: f64, most: f64) -> Option<String> {
    (ratio > most)
        .then(|| format!("  {what}: {ratio:.4} × the floor, and at most {most} is allowed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_above_a_bound_passes() {
        assert_eq!(judge("10 steps", 1.51, 1.51), None);
        let told = judge("10 steps", 1.511, 1.51).unwrap();
        assert!(told.contains("1.5110 × the floor"), "{told}");
    }

    #[test]
    fn bounds_are_never_raised() {
        let bounds = Bounds {
            most_10: 1.51,
            most_200: 0.155,
        };
        let tight = bounds.tightened(1.4321, 0.16);
        assert_eq!((tight.most_10, tight.most_200), (1.433, 0.155));
    }

    #[test]
    fn the_bounds_in_the_file_are_no_higher_than_what_was_reached_once() {
        let bounds: Bounds = serde_json::from_str(include_str!("../../gate.json")).unwrap();
        assert!(bounds.most_10 <= 1.51 && bounds.most_200 <= 0.155);
    }
}
