//! The flags about model files.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Files are GGUF files, as llama.cpp loads them. Those that are pulled lie in ENACT_MODELS, or in
`enact/models` in the data folder of the platform; those that are added stay where they are.

Examples:
  enact model pull owner/repo/file.gguf
  enact model add ~/models/small.gguf --name small
  enact run \"question -> answer\" question=\"Why?\" --model local::small

HF_ENDPOINT is the address of another hub, HF_TOKEN the token for models that are not for everybody.
To run a model inside the process, enact has to be built with `--features local`.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    pub(crate) command: ModelCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Fetch a model file from the Hugging Face hub; goes on where it was broken off.
    Pull(PullArgs),
    /// Register a file that is there.
    Add(AddArgs),
    /// List the model files.
    List(ListArgs),
    /// Forget a model; its file is deleted if it was pulled.
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// OWNER/REPO/FILE, or OWNER/REPO if that has one model file alone.
    pub(crate) model: String,

    /// What to call it; the name of the file without its ending unless given.
    #[arg(long)]
    pub(crate) name: Option<String>,

    /// The SHA-256 that the file must have; the one that the hub tells unless given.
    #[arg(long, value_name = "HEX")]
    pub(crate) sha256: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The file.
    pub(crate) file: PathBuf,

    /// What to call it; the name of the file without its ending unless given.
    #[arg(long)]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print a JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Its name.
    pub(crate) name: String,
}
