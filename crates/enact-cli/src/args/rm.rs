//! The flags of `enact rm`.

use clap::Args;

use super::StoreArg;
use super::time::Age;

const RM_EXAMPLES: &str = "\
Examples:
  enact rm 1664d4c8
  enact rm 1664d4c8 last
  enact rm --older-than 30d --yes";

#[derive(Debug, Args)]
#[command(after_help = RM_EXAMPLES)]
pub(crate) struct RmArgs {
    /// Runs: their ids, unique endings of ids, or `last` for the newest run.
    #[arg(value_name = "RUN", required_unless_present = "older_than")]
    pub(crate) runs: Vec<String>,

    /// Delete runs whose last event is older than this, such as 30d, 2w or 12h.
    #[arg(long, value_name = "AGE", conflicts_with = "runs")]
    pub(crate) older_than: Option<Age>,

    /// Delete more than one run without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}
