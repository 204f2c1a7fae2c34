//! How asking a model can fail.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::secrets::Secrets;

/// What went wrong with a model request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, Serialize, Deserialize)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The key is missing, wrong, or not allowed to do this.
    Authentication,
    /// There is no such model, or no such address.
    NotFound,
    /// The prompt does not fit into the model's context.
    ContextLength,
    /// Too many requests; see [`ModelError::retry_after`].
    RateLimit,
    /// The provider failed.
    Server,
    /// No connection, or it broke.
    Connection,
    /// The reply took too long.
    Timeout,
    /// The provider refused the content.
    ContentFilter,
    /// The provider refused the request as malformed.
    InvalidRequest,
    /// The provider takes no tools with this model, or not in the way they were asked for.
    ToolsRefused,
    /// The provider does not hold this model to a response format, or not to this one.
    FormatRefused,
    /// The reply was not what the protocol promises.
    Protocol,
}

impl ModelErrorKind {
    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimit | Self::Server | Self::Connection | Self::Timeout | Self::Protocol
        )
    }

    /// Whether another model may answer what this one did not. What a provider refuses for its
    /// content is not carried from door to door.
    pub fn may_spare_others(self) -> bool {
        !matches!(self, Self::ContentFilter)
    }

    /// The kind as one word, such as `rate_limit`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A model request failed. The message never holds a key or a prompt.
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
    /// An error of a kind, with a message that says what to do.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
            status: None,
            source: None,
        }
    }

    /// The same, to be retried no sooner than after this long.
    #[must_use]
    pub fn with_retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// The same, with the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// The same, caused by another error.
    #[must_use]
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(std::sync::Arc::new(source));
        self
    }

    /// The same, with something added to its message.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> Self {
        self.message = format!("{}; {note}", self.message);
        self
    }

    /// The same without secrets. A cause that tells one is not passed on.
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

    /// What went wrong.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// How long the provider asked to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The HTTP status, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.kind.is_retryable()
    }
}
