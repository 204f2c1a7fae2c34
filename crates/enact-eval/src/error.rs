//! Errors of evaluations.

/// A metric could not decide whether an answer is correct.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MetricError {
    kind: &'static str,
    message: String,
}

impl MetricError {
    pub(crate) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// The metric: `judge` or `command`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }
}
