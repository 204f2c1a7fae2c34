//! The flags of `enact keys`.

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Keys are kept in a file that only you can read, in the platform's config folder. A variable such as
ANTHROPIC_API_KEY wins over a stored key.

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
    /// Store the key of a provider: typed without being shown, or from a pipe.
    Set {
        /// The provider, such as anthropic or openai.
        provider: String,
    },
    /// List the providers that have a key, without the keys.
    List,
    /// Remove the stored key of a provider.
    Remove {
        /// The provider.
        provider: String,
    },
}
