//! The flags of `enact completions` and `enact man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  bash  enact completions bash > ~/.local/share/bash-completion/completions/enact
  zsh   enact completions zsh > \"${fpath[1]}/_enact\"
  fish  enact completions fish > ~/.config/fish/completions/enact.fish";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// Shell to generate the script for.
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands to this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
