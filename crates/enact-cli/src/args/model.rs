//! Flags for model files.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Models are GGUF files, as used by llama.cpp. Downloaded files are stored in ENACT_MODELS, or in
`enact/models` in the platform's data directory; added files stay where they are.

Examples:
  enact model pull owner/repo/file.gguf
  enact model add ~/models/small.gguf --name small
  enact run \"question -> answer\" question=\"Why?\" --model local::small

HF_ENDPOINT sets the address of another hub, HF_TOKEN an access token for gated or private models.
Running models in the process requires a build with `--features local`.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    pub(crate) command: ModelCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Download a model file from the Hugging Face hub; resumes an interrupted download.
    Pull(PullArgs),
    /// Register an existing file.
    Add(AddArgs),
    /// List model files.
    List(ListArgs),
    /// Remove a model; deletes its file if it was downloaded.
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// OWNER/REPO/FILE, or OWNER/REPO if the repository contains a single model file.
    pub(crate) model: String,

    /// Name of the model [default: the file name without its extension].
    #[arg(long)]
    pub(crate) name: Option<String>,

    /// SHA-256 that the file must have [default: the one that the hub reports].
    #[arg(long, value_name = "HEX")]
    pub(crate) sha256: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Model file.
    pub(crate) file: PathBuf,

    /// Name of the model [default: the file name without its extension].
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
    /// Name of the model.
    pub(crate) name: String,
}
