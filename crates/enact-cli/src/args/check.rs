//! The flags about agent files.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Where to write it, with agent.schema.json for editors beside it. No file is replaced.
    #[arg(default_value = "agent.toml")]
    pub(crate) file: PathBuf,
}

const CHECK_EXAMPLES: &str = "\
Tells everything that is wrong, each with its line and column, and asks no model and starts no
server. Agents that a file names are checked with it.

Exit codes:
  0  all is well                        2  something is wrong";

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// The agent files [default: agent.toml].
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Print the JSON Schema of agent files instead, for editors.
    #[arg(long, conflicts_with = "files")]
    pub(crate) schema: bool,
}
