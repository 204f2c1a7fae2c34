//! Errors of model requests.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::secrets::Secrets;

/// The kind of a [`ModelError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The key is missing or wrong, or lacks a permission.
    Authentication,
    /// The model or the address doesn't exist.
    NotFound,
    /// The prompt doesn't fit into the model's context.
    ContextLength,
    /// Too many requests; see [`ModelError::retry_after`].
    RateLimit,
    /// The provider failed.
    Server,
    /// The connection failed or broke.
    Connection,
    /// The reply took too long.
    Timeout,
    /// The provider's content filter stopped the request or reply.
    ContentFilter,
    /// The provider rejected the request as malformed.
    InvalidRequest,
    /// The provider doesn't accept tools for this model, or not in the form that was sent.
    ToolsRefused,
    /// The provider doesn't enforce this response format for this model.
    FormatRefused,
    /// The reply violates the protocol.
    Protocol,
}

impl ModelErrorKind {
    /// Whether the same request can succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimit | Self::Server | Self::Connection | Self::Timeout | Self::Protocol
        )
    }

    /// Whether another model may answer. A request that was rejected for its content is not sent to
    /// other models.
    pub fn may_spare_others(self) -> bool {
        !matches!(self, Self::ContentFilter)
    }

    /// The kind as one word, such as `rate_limit`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A failed model request. The message never contains a key or a prompt.
///
/// ```
/// use std::time::Duration;
///
/// use enact::model::{ModelError, ModelErrorKind};
///
/// let error = ModelError::new(ModelErrorKind::RateLimit, "too many requests")
///     .with_status(429)
///     .with_retry_after(Duration::from_secs(2));
/// assert!(error.is_retryable());
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    retry_after: Option<Duration>,
    status: Option<u16>,
    source: Option<std::sync::Arc<dyn StdError + Send + Sync>>,
}

impl ModelError {
    /// Creates an error with a message that says what to do.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
            status: None,
            source: None,
        }
    }

    /// Sets how long to wait before a retry.
    #[must_use]
    pub fn with_retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(std::sync::Arc::new(source));
        self
    }

    /// Adds a note to the message.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> Self {
        self.message = format!("{}; {note}", self.message);
        self
    }

    /// Removes secrets. A cause that contains one is dropped.
    #[must_use]
    pub(crate) fn redacted(mut self, secrets: &Secrets) -> Self {
        if let Cow::Owned(message) = secrets.redact(&self.message) {
            self.message = message;
        }
        let mut cause = StdError::source(&self);
        let mut tells = false;
        while let Some(error) = cause {
            tells |= secrets.is_in(&error.to_string());
            cause = error.source();
        }
        if tells {
            self.source = None;
        }
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// How long the provider asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The HTTP status, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// Whether the same request can succeed later.
    pub fn is_retryable(&self) -> bool {
        self.kind.is_retryable()
    }
}
