//! The options of the commands that have a say in a run, and of the agents that do parts of its work.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Time;

/// Commands that check calls and end runs. They get JSON on standard input and answer by exit code and
/// JSON on standard output.
#[derive(Debug, Clone, Default, Args, Deserialize, JsonSchema)]
#[command(next_help_heading = "Hooks")]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub(crate) struct HookArgs {
    /// Command to run before each call: it allows, changes or vetoes the call, or has a person asked.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) before_call: Option<CommandLine>,

    /// Command to run after each call: it can replace the result.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) after_call: Option<CommandLine>,

    /// Command to run after each step that called tools: exit code 0 ends the loop, 1 continues.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) ends_when: Option<CommandLine>,

    /// Environment variables that these commands see, in addition to PATH, HOME and similar.
    #[arg(
        id = "hook_env",
        long = "hook-env",
        value_name = "NAME,…",
        value_delimiter = ','
    )]
    #[schemars(extend("items" = {"type": "string", "format": "variable"}))]
    pub(crate) env: Vec<String>,

    /// Time limit for each of these commands [default: 30s].
    #[arg(id = "hook_timeout", long = "hook-timeout", value_name = "TIME")]
    pub(crate) timeout: Option<Time>,
}

/// A command: in one text, as typed, or as a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum CommandLine {
    /// The program and its arguments in one text, such as "./check.sh --strict".
    Text(#[schemars(length(min = 1))] String),
    /// The program, and each argument.
    Words(#[schemars(length(min = 1))] Vec<String>),
}

impl CommandLine {
    /// The program and its arguments; none if a quote is open.
    pub(crate) fn words(&self) -> Option<Vec<String>> {
        match self {
            Self::Text(text) => shlex::split(text),
            Self::Words(words) => Some(words.clone()),
        }
    }
}

impl FromStr for CommandLine {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::Text(text.to_owned()))
    }
}

/// Agents that do a part of the work of a run.
#[derive(Debug, Clone, Default, Args, Deserialize, JsonSchema)]
#[command(next_help_heading = "Reasoning")]
#[serde(default)]
pub(crate) struct PartArgs {
    /// Agent file that produces the outputs if the loop ends without them.
    #[arg(long, value_name = "FILE")]
    pub(crate) extraction: Option<PathBuf>,

    /// Agent file that summarises what no longer fits into a prompt.
    #[arg(long, value_name = "FILE")]
    pub(crate) compaction: Option<PathBuf>,
}
