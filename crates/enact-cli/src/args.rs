//! What can be typed.

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

/// Agents that work with tools until the outputs you declared are there.
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
    /// Run an agent: declare what goes in and what must come out, hand over tools.
    Run(Box<RunArgs>),
    /// Hold a conversation with an agent.
    Chat(Box<ChatArgs>),
    /// Try an agent on a dataset, and report how well it does.
    Eval(Box<EvalArgs>),
    /// List the providers that can be asked, and their models.
    Models(ModelsArgs),
    /// List tools: what they take, whose they are, what they change, and whether they ask.
    Tools(Box<ToolsArgs>),
    /// Fetch, register, list and remove model files.
    Model(ModelArgs),
    /// Offer an agent as a tool to an MCP client, over standard input and output.
    Mcp(Box<ServeMcpArgs>),
    /// Write an agent file to begin with.
    Init(InitArgs),
    /// Check agent files.
    Check(CheckArgs),
    /// Store, list and remove the keys of providers.
    Keys(KeysArgs),
    /// Print a script that completes commands and options in a shell.
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for every command.
    Man(ManArgs),
    /// Watch an agent at work; needs no model and no key.
    Demo,
    /// List the runs that are kept.
    Runs(RunsArgs),
    /// Show a run.
    Show(ShowArgs),
    /// Resume a run that waits for a person or was interrupted.
    Resume(Box<ResumeArgs>),
    /// End a run that waits or was interrupted, for good.
    Cancel(OneRunArgs),
    /// Delete runs.
    Rm(RmArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// List the models of this provider alone, a name on each line.
    pub(crate) provider: Option<String>,

    /// Name all providers that have no key.
    #[arg(long)]
    pub(crate) all: bool,

    /// Print a JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where runs are kept.
#[derive(Debug, Args)]
pub(crate) struct StoreArg {
    /// The file that keeps runs, or `none` [default: ENACT_STORE, else in the platform's data folder].
    #[arg(long, value_name = "PATH")]
    pub(crate) store: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OneRunArgs {
    /// The run: its id, a unique ending of it, or `last` for the newest.
    pub(crate) run: String,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Only runs with this status.
    #[arg(long, value_parser = status())]
    pub(crate) status: Option<RunStatus>,

    /// Only runs of this agent: its file name without `.toml`.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// At most this many, the newest.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: u32,

    /// Keep the list on the screen up to date until Ctrl-C.
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

    /// In which form.
    #[arg(long = "as", value_enum, default_value_t)]
    pub(crate) form: FormArg,

    /// Print the requests of `--as prompts` as a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The run: its id, a unique ending of it, or `last` [default: the newest paused run]
    pub(crate) run: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreArg,

    /// Let the call of this question run.
    #[arg(long, value_name = "ID")]
    pub(crate) approve: Vec<String>,

    /// Let it run, and every other call of its tool in this run, unasked.
    #[arg(long, value_name = "ID")]
    pub(crate) always: Vec<String>,

    /// Do not let it run.
    #[arg(long, value_name = "ID")]
    pub(crate) reject: Vec<String>,

    /// Why not: told to the model with every `--reject`.
    #[arg(long, value_name = "TEXT", requires = "reject")]
    pub(crate) message: Option<String>,

    /// Run it with these arguments instead: `{"args": {…}}`, with `"name"` for another tool.
    #[arg(long, num_args = 2, value_names = ["ID", "JSON"])]
    pub(crate) edit: Vec<String>,

    /// Do not run it; tell the model this.
    #[arg(long, num_args = 2, value_names = ["ID", "TEXT"])]
    pub(crate) feedback: Vec<String>,

    /// What the tool asked for; or, of a call that a crash left in doubt: it happened, and this is
    /// what it gave.
    #[arg(long, num_args = 2, value_names = ["ID", "TEXT"])]
    pub(crate) answer: Vec<String>,

    /// The whole command of an MCP server again, if it holds a secret: secrets are not stored with the
    /// run. Can be given several times.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) mcp: Vec<String>,

    /// The whole address of an MCP server again, if it holds a secret.
    #[arg(long, value_name = "URL")]
    pub(crate) mcp_url: Vec<String>,

    /// Resume a run that was not begun by this user on this machine, without asking: start the
    /// commands and contact the addresses that its log names.
    #[arg(long)]
    pub(crate) trust: bool,

    /// Go on although the end of the log cannot be read.
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
    /// Step by step, with times and tokens.
    #[default]
    Trace,
    /// Thought, call and observation of every call, numbered.
    Trajectory,
    /// The transcript as JSON, for `--history`.
    History,
    /// The reasoning as text: `Thought:`, `Action:`, `Observation:`, `Final Answer:`.
    Scratchpad,
    /// Every request to a model, word for word.
    Prompts,
    /// The log: one JSON object a line.
    Events,
    /// What `enact run --json` prints.
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

OPENAI_API_KEY holds the key, if the server wants one; other providers have variables of their own:
`enact models` tells them.";

#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// What goes in and what must come out, such as "question, k: int = 3 -> answer"; left out with
    /// `--agent`, or with an agent.toml in this folder.
    pub(crate) signature: Option<String>,

    /// The inputs, one by one.
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
