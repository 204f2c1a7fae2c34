//! The flags about MCP servers, and those of `enact mcp`.

use std::path::PathBuf;

use clap::Args;
use enact_mcp::{EmptyPattern, Pattern};
use serde::{Deserialize, Serialize};

use super::{AgentArgs, Time};
use crate::mcp::{store_addresses, store_commands};

/// Whose tools are handed over, beside the built-in ones: said by flags, and noted with the run.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "MCP servers")]
#[serde(default)]
pub(crate) struct McpArgs {
    /// A server to start, with its arguments: --mcp "npx -y @modelcontextprotocol/server-memory".
    /// Its tools are handed over. Can be given several times. Write a secret as '${NAME}', in single
    /// quotes: it is read from the environment, also when the run is resumed.
    #[arg(long, value_name = "COMMAND")]
    #[serde(rename = "commands", serialize_with = "store_commands")]
    pub(crate) mcp: Vec<String>,

    /// A server to reach over HTTP. Can be given several times.
    #[arg(long, value_name = "URL")]
    #[serde(rename = "urls", serialize_with = "store_addresses")]
    pub(crate) mcp_url: Vec<String>,

    /// A file that lists servers, as `{"mcpServers": {…}}`. Can be given several times.
    #[arg(long, value_name = "FILE")]
    #[serde(rename = "configs")]
    pub(crate) mcp_config: Vec<PathBuf>,

    /// Variables that servers, and `${NAME}` in a file that lists them, may see, beside PATH, HOME
    /// and the like.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    #[serde(rename = "env")]
    pub(crate) mcp_env: Vec<String>,

    /// Only those tools of servers: names, with `*` for any characters.
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

    /// Not those tools of servers.
    #[arg(long, value_name = "PATTERN,…", value_delimiter = ',', value_parser = pattern)]
    #[serde(rename = "deny")]
    pub(crate) mcp_deny: Vec<String>,
}

/// A pattern, as it is written.
fn pattern(text: &str) -> Result<String, EmptyPattern> {
    Ok(text.parse::<Pattern>()?.to_string())
}

const SERVE_EXAMPLES: &str = "\
The agent is one tool: its inputs are the arguments, its outputs the result. When it has to ask a
person, the client's person is asked, if the client can.

Examples:
  enact mcp \"question -> answer: float\" --tools calculator --model llama3.1
  enact mcp \"task -> report\" --name auditor --files ./books --allow write_file
  enact mcp --agent agent.toml --name accountant

What a client is told to start, as most of them write it down:
  {\"mcpServers\": {\"auditor\": {\"command\": \"enact\", \"args\": [\"mcp\", \"task -> report\"]}}}

OPENAI_API_KEY holds the key, if the server of the model wants one.";

#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub(crate) struct ServeMcpArgs {
    /// What goes in and what must come out.
    #[arg(conflicts_with = "agent_file")]
    pub(crate) signature: Option<String>,

    /// What the tool is called.
    #[arg(long, value_name = "NAME", default_value = "agent")]
    pub(crate) name: String,

    /// What the tool does, for whoever is to call it; what the agent file says, else the
    /// instructions, unless given.
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}
