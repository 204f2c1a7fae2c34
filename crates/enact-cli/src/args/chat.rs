//! The flags of `enact chat`.

use clap::Args;

use super::{AgentArgs, OutputArgs};

const CHAT_EXAMPLES: &str = "\
Each line you type is a turn, and goes to the first input of the signature. Inputs that have a
default are not asked for; further ones that have none are asked for by name. Lines that begin
with `/` are commands: /help lists them. `@notes.txt` in a line adds the content of the file.

Examples:
  enact chat --tools calculator
  enact chat \"task -> summary, open_points: list[str]\" --files ./notes
  enact chat --agent agent.toml
  enact chat --continue
  enact chat --history saved.json

Exit codes:
  0  you left                           3  without a terminal: a turn waits for a person
  1  it was interrupted                 2  the command is wrong

OPENAI_API_KEY holds the key, if the server wants one.";

#[derive(Debug, Args)]
#[command(after_help = CHAT_EXAMPLES)]
pub(crate) struct ChatArgs {
    /// What goes in and what must come out in every turn; "question -> answer" unless given.
    #[arg(conflicts_with = "agent_file")]
    pub(crate) signature: Option<String>,

    /// Continue the newest conversation, with its agent unless another one is given.
    #[arg(long = "continue", conflicts_with = "history")]
    pub(crate) continues: bool,

    /// Print only the outputs, no steps
    #[arg(long, short)]
    quiet: bool,

    /// Print text as it is: no colours, no rendered Markdown, no live line
    #[arg(long)]
    plain: bool,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

impl ChatArgs {
    pub(crate) fn output(&self) -> OutputArgs {
        OutputArgs {
            json: false,
            quiet: self.quiet,
            plain: self.plain,
        }
    }
}
