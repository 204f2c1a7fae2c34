//! The flags that say what an agent is, shared by the commands that begin runs.

use std::path::PathBuf;

use clap::Args;

use super::{
    Asking, HookArgs, LimitArgs, McpArgs, PartArgs, Reasoning, RecordingArgs, Replies, RuleArgs,
    StoreArg, ToolArgs,
};

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

    #[command(flatten)]
    pub(crate) asking: Asking,

    /// What to do, in your words, instead of the default instructions.
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,

    /// Go on from an earlier conversation: what `--json` printed, its `history`, a list of chat
    /// messages, or a flat trajectory map.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) own: ToolArgs,

    #[command(flatten)]
    pub(crate) replies: Replies,

    #[command(flatten)]
    pub(crate) recording: RecordingArgs,

    /// Answer the first request with the first recorded reply, and so on, whatever is asked.
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
