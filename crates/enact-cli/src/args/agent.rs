//! The flags that say what an agent is, shared by the commands that begin runs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use enact::Completion;

use super::{LimitArgs, McpArgs, RecordingArgs, StoreArg, ToolArgs};

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The file that says what the agent is, instead of a signature; flags win over it. `enact init`
    /// writes one.
    #[arg(long = "agent", id = "agent_file", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// The model to ask: PROVIDER::MODEL, such as anthropic::claude-sonnet-4-5, or a name alone on
    /// the server of `--base-url`. Given again: the model that is asked when those before it fail.
    /// Unless given: ENACT_MODEL, the agent file, a key in the environment, a local server.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Vec<String>,

    /// The server for models that are named without a provider: any that speaks OpenAI's chat
    /// completions; OPENAI_BASE_URL unless given.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// How the task is put into words: auto, native, json, chat, xml or tagged.
    #[arg(long, value_name = "NAME")]
    pub(crate) adapter: Option<String>,

    /// Find out again what the model can do, for `auto`, although it is remembered.
    #[arg(long, conflicts_with = "no_probe")]
    pub(crate) probe: bool,

    /// Do not find out what the model can do, where it is not remembered: trust that it calls tools;
    /// ENACT_PROBE=off says the same.
    #[arg(long)]
    pub(crate) no_probe: bool,

    /// How the agent comes to its outputs.
    #[arg(long, value_enum)]
    pub(crate) completion: Option<CompletionArg>,

    /// What to do, in your words, instead of the default instructions.
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,

    /// Go on from an earlier conversation: what `--json` printed, its `history`, a list of chat
    /// messages, or a flat trajectory map.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) own: ToolArgs,

    /// Sampling temperature.
    #[arg(long, value_name = "T", value_parser = temperature)]
    pub(crate) temperature: Option<f64>,

    /// How many tokens a reply may have; 8192 unless given, and no limit of ours at the hosted APIs of
    /// providers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,

    /// How often a model may be asked in a minute.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) requests_per_minute: Option<u32>,

    /// How many requests to a model may be under way at a time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) concurrent_requests: Option<u32>,

    /// Keep replies in this folder, and give them again to the same request.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) recording: RecordingArgs,

    /// Answer the first request with the first recorded reply, and so on, whatever is asked.
    #[arg(long, requires = "replay")]
    pub(crate) replay_loosely: bool,

    #[command(flatten)]
    pub(crate) store: StoreArg,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) mcp: McpArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum CompletionArg {
    /// It hands the outputs in by a tool, the default.
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

fn temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("give a number of 0 or more".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperatures_are_numbers_of_zero_or_more() {
        assert_eq!(temperature("0.7"), Ok(0.7));
        for bad in ["-1", "NaN", "inf", "warm"] {
            assert!(temperature(bad).is_err(), "{bad}");
        }
    }
}
