//! The flags for MCP servers, and those of `enact mcp`.

use std::path::PathBuf;

use clap::Args;
use enact_mcp::{EmptyPattern, Pattern};
use serde::{Deserialize, Serialize};

use super::{AgentArgs, Time};
use crate::mcp::{store_addresses, store_commands};

/// MCP servers whose tools are used: set by flags, and noted with the run.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "MCP servers")]
#[serde(default)]
pub(crate) struct McpArgs {
    /// Start this server and use its tools: --mcp "npx -y @modelcontextprotocol/server-memory". Can be
    /// repeated. Write a secret as '${NAME}', in single quotes: it is read from the environment, also
    /// when the run is resumed.
    #[arg(long, value_name = "COMMAND")]
    #[serde(rename = "commands", serialize_with = "store_commands")]
    pub(crate) mcp: Vec<String>,

    /// Use the server at this address, over HTTP. Can be repeated.
    #[arg(long, value_name = "URL")]
    #[serde(rename = "urls", serialize_with = "store_addresses")]
    pub(crate) mcp_url: Vec<String>,

    /// Use the servers in this file: `{"mcpServers": {…}}`. Can be repeated.
    #[arg(long, value_name = "FILE")]
    #[serde(rename = "configs")]
    pub(crate) mcp_config: Vec<PathBuf>,

    /// Environment variables for servers, and for `${NAME}` in a file that lists them, besides PATH,
    /// HOME and similar.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    #[serde(rename = "env")]
    pub(crate) mcp_env: Vec<String>,

    /// Use only these tools of servers; `*` matches any characters.
    #[arg(long, value_name = "PATTERN,…", value_delimiter = ',', value_parser = pattern)]
    #[serde(rename = "allow")]
    pub(crate) mcp_allow: Vec<String>,

    /// Time for a call of a server's tool, such as 30s [default: 60s].
    #[arg(long, value_name = "TIME")]
    #[serde(rename = "timeout")]
    pub(crate) mcp_timeout: Option<Time>,

    /// How long a server may take until it is ready, such as 2m [default: 60s].
    #[arg(long, value_name = "TIME")]
    #[serde(rename = "start_timeout")]
    pub(crate) mcp_start_timeout: Option<Time>,

    /// Don't use these tools of servers.
    #[arg(long, value_name = "PATTERN,…", value_delimiter = ',', value_parser = pattern)]
    #[serde(rename = "deny")]
    pub(crate) mcp_deny: Vec<String>,
}

/// Checks a pattern.
fn pattern(text: &str) -> Result<String, EmptyPattern> {
    Ok(text.parse::<Pattern>()?.to_string())
}

const SERVE_EXAMPLES: &str = "\
The agent is one tool: its inputs are the arguments, its outputs the result. If it has to ask a
person, it asks the user of the client, if the client supports it.

Examples:
  enact mcp \"question -> answer: float\" --tools calculator --model llama3.1
  enact mcp \"task -> report\" --name auditor --files ./books --allow write_file
  enact mcp --agent agent.toml --name accountant

Configuration of a client, in the format that most of them use:
  {\"mcpServers\": {\"auditor\": {\"command\": \"enact\", \"args\": [\"mcp\", \"task -> report\"]}}}

OPENAI_API_KEY holds the key, if the model's server needs one.";

#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub(crate) struct ServeMcpArgs {
    /// What goes in and what must come out.
    #[arg(conflicts_with = "agent_file")]
    pub(crate) signature: Option<String>,

    /// Name of the tool.
    #[arg(long, value_name = "NAME", default_value = "agent")]
    pub(crate) name: String,

    /// Description of the tool for its callers [default: the one in the agent file, else the
    /// instructions].
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}
