//! Flags that describe an agent, shared by the commands that start runs.

use std::path::PathBuf;

use clap::Args;

use super::{
    Asking, HookArgs, LimitArgs, McpArgs, PartArgs, Reasoning, RecordingArgs, Replies, RuleArgs,
    StoreArg, ToolArgs,
};

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Agent file, instead of a signature; flags override it. `enact init` creates one.
    #[arg(long = "agent", id = "agent_file", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Model to use: PROVIDER::MODEL, such as anthropic::claude-sonnet-4-5, or the name of a model on
    /// the server of `--base-url`. Repeat the flag to add fallback models, tried in order [default:
    /// ENACT_MODEL, the agent file, a key in the environment, or a local server].
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Vec<String>,

    #[command(flatten)]
    pub(crate) asking: Asking,

    /// Instructions for the model [default: generated from the field names].
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,

    /// Continue an earlier conversation: the output of `--json`, its `history`, a list of chat messages,
    /// or a flat trajectory.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) own: ToolArgs,

    #[command(flatten)]
    pub(crate) replies: Replies,

    #[command(flatten)]
    pub(crate) recording: RecordingArgs,

    /// Reply in recorded order, whatever the request.
    #[arg(long, requires = "replay")]
    pub(crate) replay_loosely: bool,

    #[command(flatten)]
    pub(crate) store: StoreArg,

    #[command(flatten)]
    pub(crate) reasoning: Reasoning,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,

    #[command(flatten)]
    pub(crate) parts: PartArgs,

    #[command(flatten)]
    pub(crate) hooks: HookArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) mcp: McpArgs,
}
