//! The command line.

mod agent;
mod asking;
mod chat;
mod check;
mod eval;
mod headings;
mod hooks;
mod keys;
mod limits;
mod mcp;
mod model;
#[cfg(test)]
mod options_test;
mod output;
mod reasoning;
mod recording;
mod rm;
mod setup;
mod time;
mod tools;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use enact::run::store::RunStatus;

pub(crate) use self::agent::AgentArgs;
pub(crate) use self::asking::{Asking, Pace, Replies};
pub(crate) use self::chat::ChatArgs;
pub(crate) use self::check::{CheckArgs, InitArgs};
pub(crate) use self::eval::{CompareArgs, EvalArgs, EvalCommand};
pub(crate) use self::headings::{command, parse};
pub(crate) use self::hooks::{CommandLine, HookArgs, PartArgs};
pub(crate) use self::keys::{KeysArgs, KeysCommand};
pub(crate) use self::limits::{LimitArgs, usual_limits};
pub(crate) use self::mcp::{McpArgs, ServeMcpArgs};
pub(crate) use self::model::{AddArgs, ListArgs, ModelArgs, ModelCommand, PullArgs, RemoveArgs};
pub(crate) use self::output::OutputArgs;
pub(crate) use self::reasoning::{Reasoning, RuleArgs};
pub(crate) use self::recording::RecordingArgs;
pub(crate) use self::rm::RmArgs;
pub(crate) use self::setup::{CompletionsArgs, ManArgs};
pub(crate) use self::time::{Time, TimeBudget};
pub(crate) use self::tools::{ToolArgs, ToolsArgs};

/// Run ReAct agents from typed signatures.
#[derive(Debug, Parser)]
#[command(name = "enact", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  enact demo
  enact run \"question -> answer\" question=\"What is 17% of 2340?\" --tools calculator
  enact chat --files .
  enact init agent.toml
  enact run --help";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an agent with the given inputs and tools.
    Run(Box<RunArgs>),
    /// Chat with an agent.
    Chat(Box<ChatArgs>),
    /// Evaluate an agent on a dataset.
    Eval(Box<EvalArgs>),
    /// List providers and their models.
    Models(ModelsArgs),
    /// List tools with their arguments, source, side effects and approval rules.
    Tools(Box<ToolsArgs>),
    /// Download, register, list and remove model files.
    Model(ModelArgs),
    /// Serve an agent as a tool to an MCP client, over standard input and output.
    Mcp(Box<ServeMcpArgs>),
    /// Create an agent file.
    Init(InitArgs),
    /// Check agent files.
    Check(CheckArgs),
    /// Store, list and remove the keys of providers.
    Keys(KeysArgs),
    /// Generate a shell completion script.
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands.
    Man(ManArgs),
    /// Watch an agent work; needs no model and no key.
    Demo,
    /// List stored runs.
    Runs(RunsArgs),
    /// Show a run.
    Show(ShowArgs),
    /// Resume a run that is paused or was interrupted.
    Resume(Box<ResumeArgs>),
    /// Cancel a run that is paused or was interrupted; it can't be resumed.
    Cancel(OneRunArgs),
    /// Delete runs.
    Rm(RmArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// List only the models of this provider, one name per line.
    pub(crate) provider: Option<String>,

    /// Also list all providers without a key.
    #[arg(long)]
    pub(crate) all: bool,

    /// Print a JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where runs are stored.
#[derive(Debug, Args)]
pub(crate) struct StoreArg {
    /// File that stores runs, or `none` [default: ENACT_STORE, else in the platform's data directory].
    #[arg(long, value_name = "PATH")]
    pub(crate) store: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OneRunArgs {
    /// Run: its id, a unique ending of the id, or `last` for the newest run.
    pub(crate) run: String,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Show only runs with this status.
    #[arg(long, value_parser = status())]
    pub(crate) status: Option<RunStatus>,

    /// Show only runs of this agent: the name of its file without `.toml`.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// Number of runs to show, newest first.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: u32,

    /// Keep the list up to date until Ctrl-C.
    #[arg(long, conflicts_with = "json")]
    pub(crate) watch: bool,

    /// Print a JSON array.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) one: OneRunArgs,

    /// Output format.
    #[arg(long = "as", value_enum, default_value_t)]
    pub(crate) form: FormArg,

    /// Print the requests of `--as prompts` as a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Run: its id, a unique ending of the id, or `last` [default: the newest paused run].
    pub(crate) run: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreArg,

    /// Approve the call of this question.
    #[arg(long, value_name = "ID")]
    pub(crate) approve: Vec<String>,

    /// Approve the call, and all later calls of its tool in this run.
    #[arg(long, value_name = "ID")]
    pub(crate) always: Vec<String>,

    /// Reject the call.
    #[arg(long, value_name = "ID")]
    pub(crate) reject: Vec<String>,

    /// Reason for each `--reject`, shown to the model.
    #[arg(long, value_name = "TEXT", requires = "reject")]
    pub(crate) message: Option<String>,

    /// Run the call with these arguments instead: `{"args": {…}}`; add `"name"` for another tool.
    #[arg(long, num_args = 2, value_names = ["ID", "JSON"])]
    pub(crate) edit: Vec<String>,

    /// Don't run the call; send this text to the model.
    #[arg(long, num_args = 2, value_names = ["ID", "TEXT"])]
    pub(crate) feedback: Vec<String>,

    /// Answer a tool's question, or provide the result of a call that a crash left in doubt.
    #[arg(long, num_args = 2, value_names = ["ID", "TEXT"])]
    pub(crate) answer: Vec<String>,

    /// Complete command of an MCP server that holds a secret: secrets aren't stored with the run. Can be
    /// repeated.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) mcp: Vec<String>,

    /// Complete address of an MCP server that holds a secret.
    #[arg(long, value_name = "URL")]
    pub(crate) mcp_url: Vec<String>,

    /// Resume a run from another source without asking: this starts the commands and contacts the
    /// addresses in its log.
    #[arg(long)]
    pub(crate) trust: bool,

    /// Resume even if the end of the log is damaged.
    #[arg(long)]
    pub(crate) despite_damage: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
}

fn status() -> impl TypedValueParser<Value = RunStatus> {
    let named = |name: String| RunStatus::ALL.into_iter().find(|one| one.as_str() == name);
    PossibleValuesParser::new(RunStatus::ALL.map(RunStatus::as_str))
        .try_map(move |name| named(name).ok_or("unknown status"))
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum FormArg {
    /// Steps with times and tokens.
    #[default]
    Trace,
    /// Thought, call and observation of each call, numbered.
    Trajectory,
    /// The transcript as JSON, for `--history`.
    History,
    /// The reasoning as text: `Thought:`, `Action:`, `Observation:`, `Final Answer:`.
    Scratchpad,
    /// Every request to a model, verbatim.
    Prompts,
    /// The log: one JSON object per line.
    Events,
    /// The output of `enact run --json`.
    Json,
}

const RUN_EXAMPLES: &str = "\
Inputs:
  name=value    the text itself; lists, dicts and numbers are read as the field's type asks
  name=@file    the content of a file, without its last line break; of an image, the image
  name=-        what comes on standard input, without its last line break
  name=@@text   the text `@text`

Examples:
  enact run \"question -> answer\" question=\"What is 17% of 2340?\" --tools calculator
  enact run \"text, k: int = 3 -> summary, keywords: list[str]\" text=@notes.txt k=5 --json
  enact run --agent agent.toml question=\"What is 17% of 2340?\"
  enact run \"task -> report\" task=\"Which invoices are unpaid?\" --files ./invoices
  enact run \"question -> answer\" question=\"And in euros?\" --history last.json

Exit codes:
  0  the agent came to its outputs      3  it waits for a person's answer
  1  it failed, or was cancelled        4  a limit made it answer before it was done
  2  the command is wrong

OPENAI_API_KEY holds the key, if the server needs one; `enact models` lists the variables of other
providers.";

#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// Inputs and outputs, such as "question, k: int = 3 -> answer"; omit it with `--agent`, or if the
    /// current directory contains an agent.toml.
    pub(crate) signature: Option<String>,

    /// Inputs of the agent.
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) inputs: Vec<String>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }
}
