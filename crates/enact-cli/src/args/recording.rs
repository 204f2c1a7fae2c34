//! The flags about recordings.

use std::path::PathBuf;

use clap::Args;

/// Where exchanges with models are written to, or come from.
#[derive(Debug, Args)]
pub(crate) struct RecordingArgs {
    /// Write every exchange with a model to this file, for `--replay`. A recording that is there is
    /// gone on with.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,

    /// Ask no model: answer from this recording. A request that was not recorded is an error that
    /// shows the difference.
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
}
