//! How a recording can be of no use.

use std::io;
use std::path::PathBuf;

/// A recording that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be opened, read or written.
    #[error("the recording `{}` cannot be used: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line is not what a recording consists of.
    #[error("the recording `{}` is damaged in line {line}: {problem}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Which line; the first is 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A newer release wrote it.
    #[error(
        "the recording `{}` has the format {version}, and this release reads up to {}: use a \
         newer one",
        path.display(),
        super::FORMAT
    )]
    Newer {
        /// Which file.
        path: PathBuf,
        /// The version of its format.
        version: u64,
    },
    /// Nothing was recorded of this model.
    #[error(
        "the recording `{}` has nothing of the model `{model}`: it has {}",
        path.display(),
        if has.is_empty() { "nothing at all" } else { has }
    )]
    NoModel {
        /// Which file.
        path: PathBuf,
        /// The model.
        model: String,
        /// The models that it has something of.
        has: String,
    },
    /// The file is about a model of this name that can do other things.
    #[error(
        "the recording `{}` is of another model called `{model}`: name another file, or remove it",
        path.display()
    )]
    OtherModel {
        /// Which file.
        path: PathBuf,
        /// The model.
        model: String,
    },
}
