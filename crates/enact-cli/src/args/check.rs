//! Flags for agent files.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// File to create. agent.schema.json, for editors, is written beside it. Existing files are not
    /// overwritten.
    #[arg(default_value = "agent.toml")]
    pub(crate) file: PathBuf,
}

const CHECK_EXAMPLES: &str = "\
Reports all mistakes with line and column, without contacting models or starting servers. Agents
that a file refers to are checked too.

Exit codes:
  0  no mistakes                        2  mistakes found";

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Agent files [default: agent.toml].
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Print the JSON Schema of agent files, for editors.
    #[arg(long, conflicts_with = "files")]
    pub(crate) schema: bool,
}
