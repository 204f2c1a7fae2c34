//! How the shelf and the hub can fail.

use std::error::Error as StdError;
use std::io;
use std::path::Path;

/// What went wrong with a model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShelfErrorKind {
    /// There is no such model, file or repository.
    NotFound,
    /// The name does not say which file is meant.
    Ambiguous,
    /// The name cannot be a name, or belongs to another file.
    Name,
    /// The file is no model that can be used.
    NotAModel,
    /// The file is not the one that was promised, or nothing was promised.
    Checksum,
    /// Another process is at it.
    Busy,
    /// The hub could not be reached, or broke off.
    Connection,
    /// The hub refused, or answered something else.
    Hub,
    /// A file or folder cannot be read or written.
    Io,
}

impl ShelfErrorKind {
    /// The kind as one word, such as `not_found`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Ambiguous => "ambiguous",
            Self::Name => "name",
            Self::NotAModel => "not_a_model",
            Self::Checksum => "checksum",
            Self::Busy => "busy",
            Self::Connection => "connection",
            Self::Hub => "hub",
            Self::Io => "io",
        }
    }
}

/// Something could not be done with a model file. The message says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ShelfError {
    kind: ShelfErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl ShelfError {
    pub(crate) fn new(kind: ShelfErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    pub(crate) fn with_source(self, source: impl StdError + Send + Sync + 'static) -> Self {
        Self {
            source: Some(Box::new(source)),
            ..self
        }
    }

    /// A file or folder cannot be used.
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => ShelfErrorKind::NotFound,
            _ => ShelfErrorKind::Io,
        };
        Self::new(kind, format!("`{}`: {error}", path.display())).with_source(error)
    }

    /// What went wrong.
    pub fn kind(&self) -> ShelfErrorKind {
        self.kind
    }
}
