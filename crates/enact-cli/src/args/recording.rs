//! Flags for recordings.

use std::path::PathBuf;

use clap::Args;

/// Where exchanges with models are recorded or replayed.
#[derive(Debug, Args)]
pub(crate) struct RecordingArgs {
    /// Record exchanges with models to this file, for `--replay`. If the file exists, new exchanges are
    /// appended.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,

    /// Reply from this recording instead of a model. A request that was not recorded fails with an
    /// error that shows the difference.
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
}
