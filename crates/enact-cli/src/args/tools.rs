//! The flags that say which tools are handed over, and those of `enact tools`.

use std::path::PathBuf;

use clap::Args;

use super::{McpArgs, ReachArgs};

/// Which built-in tools an agent has, and under which rules.
#[derive(Debug, Args)]
pub(crate) struct ToolArgs {
    /// Tools to hand over: ask_user (asks you), calculator, current_time, note, http_get (with
    /// `--allow-host`), shell (with `--shell-folder`), and those of `--files`; `enact tools` lists
    /// them.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,

    /// A folder to work in, and not to leave. Hands over list_files, read_file, search_files,
    /// write_file and append_file, unless `--tools` names some of them.
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Option<PathBuf>,

    /// Let these tools run unasked, whatever they say of themselves.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) allow: Vec<String>,

    /// Ask before every call of these tools.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) ask: Vec<String>,

    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

const EXAMPLES: &str = "\
Without `--agent`, `--tools`, `--files` and servers it lists all built-in tools.

Examples:
  enact tools
  enact tools --agent agent.toml
  enact tools --tools shell --shell-folder . --allow shell
  enact tools --mcp \"npx -y @modelcontextprotocol/server-memory\" --json

Exit codes: 0 listed, 1 a server cannot be used, 2 the command is wrong";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ToolsArgs {
    /// The tools of the agent of this file; flags win over it.
    #[arg(long = "agent", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) own: ToolArgs,

    /// Print a JSON array.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) mcp: McpArgs,
}
