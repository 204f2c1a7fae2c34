//! The flags of `enact chat`.

use clap::Args;

use super::{AgentArgs, OutputArgs};

const CHAT_EXAMPLES: &str = "\
Each line you type is a turn, and becomes the first input of the signature. Inputs with a default
are not asked for; other inputs are asked for by name. Lines that start with `/` are commands:
/help lists them. `@notes.txt` in a line adds the content of the file.

Examples:
  enact chat --tools calculator
  enact chat \"task -> summary, open_points: list[str]\" --files ./notes
  enact chat --agent agent.toml
  enact chat --continue
  enact chat --history saved.json

Exit codes:
  0  you quit                           3  without a terminal: a turn waits for an answer
  1  it was interrupted                 2  the command is wrong

OPENAI_API_KEY holds the key, if the server needs one.";

#[derive(Debug, Args)]
#[command(after_help = CHAT_EXAMPLES)]
pub(crate) struct ChatArgs {
    /// Inputs and outputs of each turn [default: "question -> answer"].
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
