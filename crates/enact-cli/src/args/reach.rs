//! The flags about tools that reach further, and those of `enact tools`.

use std::path::PathBuf;

use clap::Args;

use super::McpArgs;

/// How far `http_get` and `shell` reach.
#[derive(Debug, Args)]
pub(crate) struct ReachArgs {
    /// A host that `http_get` may read from: a name, `*.name` for all below it, `*` for any, with
    /// `:PORT` for another port than 80 and 443. Can be given several times.
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,

    /// Let `http_get` read from private addresses, too: this machine and its network.
    #[arg(long)]
    pub(crate) allow_private: bool,

    /// The folder in which `shell` starts its commands.
    #[arg(long, value_name = "DIR")]
    pub(crate) shell_folder: Option<PathBuf>,

    /// Variables that commands of `shell` may see, beside PATH, HOME and the like.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) shell_env: Vec<String>,
}

const TOOLS_EXAMPLES: &str = "\
Without `--tools`, `--files` and servers it lists all built-in tools.

Examples:
  enact tools
  enact tools --tools shell --shell-folder . --allow shell
  enact tools --mcp \"npx -y @modelcontextprotocol/server-memory\" --json

Exit codes: 0 listed, 1 a server cannot be used, 2 the command is wrong";

#[derive(Debug, Args)]
#[command(after_help = TOOLS_EXAMPLES)]
pub(crate) struct ToolsArgs {
    /// Only these built-in tools.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,

    /// The folder of list_files and the like.
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

    /// Print a JSON array.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) mcp: McpArgs,
}
