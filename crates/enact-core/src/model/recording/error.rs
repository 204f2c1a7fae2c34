//! Errors of recordings.

use std::io;
use std::path::PathBuf;

/// A recording cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be opened, read or written.
    #[error("the recording `{}` cannot be used: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line is not valid in a recording.
    #[error("the recording `{}` is damaged in line {line}: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// The recording was written by a newer release.
    #[error(
        "the recording `{}` has the format {version}, and this release reads up to {}: use a \
         newer one",
        path.display(),
        super::FORMAT
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        version: u64,
    },
    /// The recording doesn't contain this model.
    #[error(
        "the recording `{}` has nothing of the model `{model}`: it has {}",
        path.display(),
        if has.is_empty() { "nothing at all" } else { has }
    )]
    NoModel {
        /// The file.
        path: PathBuf,
        /// The model.
        model: String,
        /// The models in the recording.
        has: String,
    },
    /// The recording contains a model with this name but other capabilities.
    #[error(
        "the recording `{}` is of another model called `{model}`: name another file, or remove it",
        path.display()
    )]
    OtherModel {
        /// The file.
        path: PathBuf,
        /// The model.
        model: String,
    },
}
