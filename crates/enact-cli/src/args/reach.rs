//! The flags about tools that reach further.

use std::path::PathBuf;

use clap::Args;

/// How far `http_get` and `shell` reach.
#[derive(Debug, Args)]
pub(crate) struct ReachArgs {
    /// A host that `http_get` may read from: a name, `*.name` for all below it, `*` for any, with
    /// `:PORT` for another port than 80 and 443. Can be given several times.
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,

    /// Let `http_get` read from private addresses, too: this machine and its network.
    #[arg(long)]
    pub(crate) allow_private: bool,

    /// The folder in which `shell` starts its commands.
    #[arg(long, value_name = "DIR")]
    pub(crate) shell_folder: Option<PathBuf>,

    /// Variables that commands of `shell` may see, beside PATH, HOME and the like.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) shell_env: Vec<String>,
}
