//! Errors of modules.

use std::error::Error as StdError;
use std::fmt;

use strum::IntoStaticStr;

use crate::model::{ModelError, ModelErrorKind};
use crate::predictor::StateError;
use crate::react::{InputsError, ProgramError, TemplateError};
use crate::run::store::{StoreError, StoreErrorKind};
use crate::run::{AnswerError, HistoryError, Run, RunError, TerminationReason};
use crate::signature::SignatureError;

/// The kind of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The signature is invalid.
    Signature,
    /// The tools are invalid.
    Tools,
    /// A template is invalid.
    Template,
    /// The inputs don't fit the signature.
    Input,
    /// No model is set.
    NoModel,
    /// The cost is limited, and a price is unknown.
    NoPrice,
    /// The model failed.
    Model(ModelErrorKind),
    /// The model never returned outputs that fit the signature.
    NoAnswer,
    /// The run was cancelled.
    Cancelled,
    /// The run was interrupted: it is not over, and can be resumed.
    Interrupted,
    /// The run waits for a person, but the caller required a finished run.
    Paused,
    /// A decision doesn't fit its question.
    Answer,
    /// Saved state doesn't fit.
    State,
    /// A history cannot be read.
    History,
    /// A log cannot be read.
    Log,
    /// The store failed; the run remains as it was stored before.
    Store(StoreErrorKind),
    /// A condition of yours could not be checked: the run is not over, and can be resumed.
    Hook,
    /// Called from a place where it cannot work.
    Misuse,
}

impl ErrorKind {
    /// The kind as one word, such as `no_answer`; for a model's failure, the model error's kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model(kind) => kind.as_str(),
            Self::Store(kind) => kind.as_str(),
            other => other.into(),
        }
    }
}

/// A failure, with its cause and, once a run has started, the run: no results are lost.
#[derive(thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
    run: Option<Box<Run>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
            run: None,
        }
    }

    /// A log whose end cannot be read.
    pub(crate) fn damaged(damage: &str) -> Self {
        let message = format!(
            "the log of the run is damaged: {damage}; what was done since may be done again: look \
             at it, then go on with `despite_damage`"
        );
        Self::new(ErrorKind::Store(StoreErrorKind::Corrupt), message)
    }

    /// Why a run ended without outputs; none if it has outputs, or is not over.
    pub(crate) fn ended(run: &Run) -> Option<Self> {
        let kind = match run.termination()? {
            TerminationReason::Cancelled => ErrorKind::Cancelled,
            TerminationReason::TokenBudget if run.has_overflowed() => {
                ErrorKind::Model(ModelErrorKind::ContextLength)
            }
            _ => ErrorKind::NoAnswer,
        };
        run.failure().map(|message| Self::new(kind, message))
    }

    pub(crate) fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    pub(crate) fn with_run(mut self, run: Run) -> Self {
        self.run = Some(Box::new(run));
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The run so far.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_deref()
    }

    /// Takes the run so far out of the error.
    pub fn into_run(self) -> Option<Run> {
        self.run.map(|run| *run)
    }
}

// The run contains prompts and data, so it is named, not printed.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind)
            .field("message", &self.message)
            .field("source", &self.source)
            .field("run", &self.run.as_deref().map(Run::id))
            .finish()
    }
}

/// Converts an error of a lower layer to one of this kind, with its text, keeping it as the source.
macro_rules! from_cause {
    ($($cause:ty => $kind:expr),* $(,)?) => {$(
        impl From<$cause> for Error {
            fn from(cause: $cause) -> Self {
                let kind: fn(&$cause) -> ErrorKind = $kind;
                Self::new(kind(&cause), cause.to_string()).with_source(cause)
            }
        }
    )*};
}

from_cause! {
    SignatureError => |_| ErrorKind::Signature,
    ProgramError => |error| match error {
        ProgramError::Tools(_) => ErrorKind::Tools,
        ProgramError::Signature(_) | ProgramError::Schema { .. } => ErrorKind::Signature,
    },
    TemplateError => |_| ErrorKind::Template,
    InputsError => |_| ErrorKind::Input,
    StateError => |_| ErrorKind::State,
    HistoryError => |_| ErrorKind::History,
    RunError => |_| ErrorKind::Log,
    AnswerError => |_| ErrorKind::Answer,
    ModelError => |error| ErrorKind::Model(error.kind()),
    StoreError => |error| ErrorKind::Store(error.kind()),
}

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}
