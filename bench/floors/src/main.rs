//! The floors: the same work by hand, without a library of agents.

mod append;
mod raw;
mod reply;

use clap::{Parser, Subcommand};
use measure::Work;

/// Loops without a library: what the work costs at least.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    floor: Floor,
}

#[derive(Subcommand)]
enum Floor {
    /// reqwest and serde, as people write it: the transcript is a list, serialised for each request.
    FloorReqwest(Work),
    /// hyper, and a body that is only ever appended to: the least that can be done.
    FloorAppend(Work),
}

fn main() -> anyhow::Result<()> {
    match Options::parse().floor {
        Floor::FloorReqwest(work) => measure::measure("floor-reqwest", &work, |lookup| {
            Ok(raw::Raw::new(&work.base_url, lookup))
        }),
        Floor::FloorAppend(work) => measure::measure("floor-append", &work, |lookup| {
            append::Append::new(&work.base_url, lookup)
        }),
    }
}
