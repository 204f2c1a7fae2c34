//! The flags of `enact keys`.

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Keys are stored in a file that only you can read, in the platform's config directory. A variable such
as ANTHROPIC_API_KEY takes precedence over a stored key.

Examples:
  enact keys set anthropic
  pass show openai | enact keys set openai
  enact keys list";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Store the key of a provider, from a hidden prompt or a pipe.
    Set {
        /// Provider, such as anthropic or openai.
        provider: String,
    },
    /// List providers with a key, without showing the keys.
    List,
    /// Remove the stored key of a provider.
    Remove {
        /// Provider.
        provider: String,
    },
}
