//! The context of a tool call.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::ToolError;
use crate::model::Secrets;

/// Receives the progress that tools report.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// The context of a tool call. Passed to a tool function that has a parameter of this
/// type.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ToolContext {
    /// The run that the call belongs to.
    pub run_id: String,
    /// The id of the call, as in the log.
    pub call_id: String,
    /// The same for every attempt at this call, in any process: pass it to services that
    /// deduplicate.
    pub idempotency_key: String,
    /// When the call times out.
    pub deadline: Option<Instant>,
    /// Cancelled with the run, or at the deadline.
    pub cancellation: CancellationToken,
    /// The number of agents above this call; 0 in a run that no agent called.
    pub depth: u32,
    /// The tokens that the call can spend on models of its own, if they are limited.
    pub tokens_left: Option<u64>,
    /// The money that it can spend on them, if it is limited.
    pub money_left: Option<f64>,
    progress: Option<Progress>,
    secrets: Secrets,
    /// The answers to questions of this call: question, answer.
    answers: Vec<(String, String)>,
}

impl ToolContext {
    /// Creates a context outside a run, for tests.
    pub fn detached(call_id: impl Into<String>) -> Self {
        let call_id = call_id.into();
        Self::of_call(call_id.clone(), call_id)
    }

    pub(crate) fn of_call(call_id: String, idempotency_key: String) -> Self {
        Self {
            call_id,
            idempotency_key,
            ..Self::default()
        }
    }

    /// Adds the answer to a question of this call.
    #[must_use]
    pub fn with_answer(mut self, question: impl Into<String>, answer: impl Into<String>) -> Self {
        self.answers.push((question.into(), answer.into()));
        self
    }

    /// Asks a person. At first this returns an error, which has to be propagated with `?`: the run pauses
    /// with the question. Once it is answered, the tool is called again, possibly in another
    /// process, and this returns the answer.
    ///
    /// A question is identified by its text, so always use the same words; and ask before the tool
    /// changes anything, because it starts from the beginning.
    ///
    /// ```
    /// # use enact::{ToolContext, ToolError, tool};
    /// /// Books a seat.
    /// #[tool]
    /// async fn book(flight: String, context: ToolContext) -> Result<String, ToolError> {
    ///     let seat = context.ask("Window or aisle?")?;
    ///     Ok(format!("{flight}, {seat}"))
    /// }
    /// ```
    pub fn ask(&self, question: &str) -> Result<String, ToolError> {
        let known = self.answers.iter().find(|(asked, _)| asked == question);
        match known {
            Some((_, answer)) => Ok(answer.clone()),
            None => Err(ToolError::question(question)),
        }
    }

    /// Sets the listener for progress.
    #[must_use]
    pub fn with_progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Sets the values that the run must not show.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// The values that the run must not show.
    ///
    /// A run redacts the result of a tool. A tool that truncates a text has to redact it first, because
    /// part of a secret isn't recognised: use [`ToolContext::redact`] before truncating, or
    /// [`Secrets::redact_head`] after.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Redacts the values that the run must not show. Call it before truncating a text.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.secrets.redact(text)
    }

    /// Reports progress to whoever follows the run. The model doesn't see it.
    pub fn progress(&self, message: impl AsRef<str>) {
        if let Some(progress) = &self.progress {
            progress(message.as_ref());
        }
    }

    /// Whether the call should stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("run_id", &self.run_id)
            .field("call_id", &self.call_id)
            .field("idempotency_key", &self.idempotency_key)
            .finish_non_exhaustive()
    }
}
