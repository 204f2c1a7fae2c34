//! The options for built-in tools, and the flags of `enact tools`.

use std::path::PathBuf;

use clap::Args;
use enact::tool::builtin::{FILE_TOOL_NAMES, NAMES, SET_UP_TOOL_NAMES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::McpArgs;
use crate::tools::Reach;

/// The built-in tools of an agent and their rules: set by a file or by flags, and noted with the
/// run.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ToolArgs {
    /// Built-in tools to use: ask_user (asks you), calculator, current_time, note, http_get (with
    /// `--allow-host`), shell (with `--shell-folder`), and the file tools of `--files`; `enact tools`
    /// lists them.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    #[schemars(
        description = "Built-in tools to use.",
        extend("items" = {"type": "string", "enum": ([NAMES, SET_UP_TOOL_NAMES].concat())})
    )]
    pub(crate) tools: Vec<String>,

    /// Directory for the file tools; they can't leave it. Adds list_files, read_file, search_files,
    /// write_file, append_file and edit_file, unless `--tools` names some of them.
    #[arg(long, value_name = "DIR")]
    #[schemars(
        description = "Directory for the file tools; they can't leave it. Adds all file tools, unless \
                       `tools` names\nsome of them."
    )]
    pub(crate) files: Option<PathBuf>,

    /// Run these tools without asking.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    #[serde(skip)]
    pub(crate) allow: Vec<String>,

    /// Ask before every call of these tools.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    #[serde(skip)]
    pub(crate) ask: Vec<String>,

    #[command(flatten)]
    #[schemars(flatten)]
    pub(crate) reach: Reach,
}

impl ToolArgs {
    /// The names of the built-in tools to use.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.tools.iter().map(String::as_str).collect();
        // A directory without any named file tool adds them all.
        if self.files.is_some() && !names.iter().any(|name| FILE_TOOL_NAMES.contains(name)) {
            names.extend(FILE_TOOL_NAMES);
        }
        names
    }

    /// The directories of the tools.
    pub(crate) fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let shell = self.reach.shell.iter_mut();
        let folder = shell.filter_map(|shell| shell.folder.as_mut());
        self.files.iter_mut().chain(folder)
    }

    /// A copy without blanks around names.
    pub(crate) fn trimmed(&self) -> Self {
        let mut trimmed = self.clone();
        let Reach { http_get, shell } = &mut trimmed.reach;
        let lists = [&mut trimmed.tools, &mut trimmed.allow, &mut trimmed.ask];
        let hosts = http_get.iter_mut().map(|pages| &mut pages.hosts);
        let env = shell.iter_mut().map(|shell| &mut shell.env);
        for list in lists.into_iter().chain(hosts).chain(env) {
            list.iter_mut()
                .for_each(|name| *name = name.trim().to_owned());
            list.retain(|name| !name.is_empty());
        }
        trimmed
    }
}

const EXAMPLES: &str = "\
Without an agent file, `--tools`, `--files` or MCP servers, all built-in tools are listed. An
agent.toml in the current directory is used unless `--agent` names another file.

Examples:
  enact tools
  enact tools --agent agent.toml
  enact tools --tools shell --shell-folder . --allow shell
  enact tools --mcp \"npx -y @modelcontextprotocol/server-memory\" --json

Exit codes: 0 listed, 1 a server can't be used, 2 the command is wrong";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ToolsArgs {
    /// Agent file whose tools are listed; flags override it.
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
