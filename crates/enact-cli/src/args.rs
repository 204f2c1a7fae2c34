//! What can be typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use enact::Completion;

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
  enact run --help";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an agent: declare what goes in and what must come out, hand over tools.
    Run(Box<RunArgs>),
    /// Watch an agent at work; needs no model and no key.
    Demo,
    /// List the runs that are kept.
    Runs(RunsArgs),
    /// Show a run.
    Show(ShowArgs),
    /// Go on with a run that waits for a person or was interrupted.
    Resume(ResumeArgs),
    /// End a run that waits or was interrupted, for good.
    Cancel(OneRunArgs),
    /// Forget a run.
    Rm(OneRunArgs),
}

/// Where runs are kept.
#[derive(Debug, Args)]
pub(crate) struct StoreArg {
    /// The file that keeps runs, or `none`; in the data folder of the platform unless given.
    #[arg(long, env = "ENACT_STORE", value_name = "PATH")]
    pub(crate) store: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OneRunArgs {
    /// The id of the run, or enough of its beginning or end to be the only one.
    pub(crate) run: String,

    #[command(flatten)]
    pub(crate) store: StoreArg,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Only those of this status: running, paused, finished or failed.
    #[arg(long, value_enum)]
    pub(crate) status: Option<StatusArg>,

    /// At most this many, the newest.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: u32,

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
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    pub(crate) one: OneRunArgs,

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

    /// Go on although the end of the log cannot be read.
    #[arg(long)]
    pub(crate) despite_damage: bool,

    /// Print one JSON object instead of the steps.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StatusArg {
    Running,
    Paused,
    Finished,
    Failed,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum FormArg {
    /// Step by step, as it was seen when it ran.
    #[default]
    Steps,
    /// Thought, call and observation as text.
    Trajectory,
    /// The transcript as JSON.
    History,
    /// The log: one JSON object a line.
    Events,
    /// What `enact run --json` prints.
    Json,
}

const RUN_EXAMPLES: &str = "\
Inputs:
  name=value    the text itself; lists, dicts and numbers are read as the field's type asks
  name=@file    the content of a file, without its last line break
  name=-        what comes on standard input, without its last line break
  name=@@text   the text `@text`

Examples:
  enact run \"question -> answer\" question=\"What is 17% of 2340?\" --tools calculator
  enact run \"text, k: int = 3 -> summary, keywords: list[str]\" text=@notes.txt k=5 --json
  enact run \"task -> report\" task=\"Which invoices are unpaid?\" --files ./invoices
  enact run \"question -> answer\" question=\"And in euros?\" --history last.json

Exit codes:
  0  the agent came to its outputs      3  it waits for a person's answer
  1  it failed, or was cancelled        4  a limit made it answer before it was done
  2  the command is wrong

OPENAI_API_KEY holds the key, if the server wants one.";

#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// What goes in and what must come out, such as "question, k: int = 3 -> answer".
    pub(crate) signature: String,

    /// The inputs, one by one.
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) inputs: Vec<String>,

    /// The model to ask.
    #[arg(long, env = "ENACT_MODEL", value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// The server to ask: any that speaks OpenAI's chat completions.
    #[arg(
        long,
        env = "OPENAI_BASE_URL",
        hide_env_values = true,
        value_name = "URL"
    )]
    pub(crate) base_url: Option<String>,

    /// How the task is put into words: auto, native, json, chat, xml or tagged.
    #[arg(long, value_name = "NAME")]
    pub(crate) adapter: Option<String>,

    /// How the agent comes to its outputs.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) completion: CompletionArg,

    /// How many steps it may take before it has to answer.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_iterations: u32,

    /// What to do, in your words, instead of the default instructions.
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,

    /// Go on from an earlier conversation: what `--json` printed, its `history`, a list of chat
    /// messages, or a flat trajectory map.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,

    /// Tools to hand over: ask_user (asks you), calculator, current_time, and those of `--files`.
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

    /// How long a question may wait, such as 30m or 2h; after that the call is rejected.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) answer_within: Option<Duration>,

    /// Sampling temperature.
    #[arg(long, value_name = "T", value_parser = temperature)]
    pub(crate) temperature: Option<f64>,

    #[command(flatten)]
    pub(crate) store: StoreArg,

    /// Print one JSON object instead of the steps.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum CompletionArg {
    /// It hands the outputs in by a tool.
    #[default]
    Submit,
    /// It says when it is done, and the outputs are extracted.
    Finish,
}

impl From<CompletionArg> for Completion {
    fn from(arg: CompletionArg) -> Self {
        match arg {
            CompletionArg::Submit => Self::Submit,
            CompletionArg::Finish => Self::Finish,
        }
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let time = text.parse::<jiff::SignedDuration>().ok();
    match time.and_then(|time| Duration::try_from(time).ok()) {
        Some(time) if !time.is_zero() => Ok(time),
        _ => Err("give a time such as 90s, 30m or 2h".to_owned()),
    }
}

fn temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("give a number of 0 or more".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_are_longer_than_nothing() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("2h30m"), Ok(Duration::from_secs(9_000)));
        for bad in ["", "0s", "-1h", "soon", "5"] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn temperatures_are_numbers_of_zero_or_more() {
        assert_eq!(temperature("0.7"), Ok(0.7));
        for bad in ["-1", "NaN", "inf", "warm"] {
            assert!(temperature(bad).is_err(), "{bad}");
        }
    }
}
