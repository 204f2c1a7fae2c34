//! Errors of servers.

/// The kind of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The description of the server is invalid.
    Config,
    /// The program cannot be started, or the address doesn't answer.
    Start,
    /// It runs, but violates the protocol.
    Protocol,
    /// It was not ready in time.
    Timeout,
}

impl ErrorKind {
    /// The kind as one word, for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Config => "mcp_config",
            Self::Start => "mcp_start",
            Self::Protocol => "mcp_protocol",
            Self::Timeout => "mcp_timeout",
        }
    }
}

/// A server that cannot be used. The text names the server and says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    pub(crate) fn with_source(
        self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self {
            source: Some(source.into()),
            ..self
        }
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// The root cause of an error, without addresses: they may contain keys.
pub(crate) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut deepest = error;
    while let Some(deeper) = deepest.source() {
        deepest = deeper;
    }
    let text = deepest.to_string();
    let words = text.split_whitespace();
    let words: Vec<&str> = words.filter(|word| !word.contains("://")).collect();
    words.join(" ")
}
