//! Errors of the shelf and the hub.

use std::error::Error as StdError;
use std::io;
use std::path::Path;

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShelfErrorKind {
    /// The model, file or repository doesn't exist.
    NotFound,
    /// The name doesn't identify a file.
    Ambiguous,
    /// The name is invalid, or belongs to another file.
    Name,
    /// The file is not a usable model.
    NotAModel,
    /// The checksum of the file is wrong or unknown.
    Checksum,
    /// Another process is using it.
    Busy,
    /// The hub could not be reached, or the connection broke.
    Connection,
    /// The hub rejected the request, or sent an unexpected response.
    Hub,
    /// A file or directory cannot be read or written.
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

/// An operation on a model file failed. The message says what to do.
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

    /// A file or directory cannot be used.
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => ShelfErrorKind::NotFound,
            _ => ShelfErrorKind::Io,
        };
        Self::new(kind, format!("`{}`: {error}", path.display())).with_source(error)
    }

    /// The kind of error.
    pub fn kind(&self) -> ShelfErrorKind {
        self.kind
    }
}
