//! What a running tool knows of its call.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::ToolError;
use crate::model::Secrets;

/// Receives what tools report while they run.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// What a running tool knows of its call. Handed to a tool function that has a parameter of this
/// type.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ToolContext {
    /// The run that the call belongs to.
    pub run_id: String,
    /// The call, as the model and the trace know it.
    pub call_id: String,
    /// The same for every attempt at this call, in whatever process: hand it to services that
    /// deduplicate.
    pub idempotency_key: String,
    /// When the call will be given up.
    pub deadline: Option<Instant>,
    /// Cancelled when the run is, or when the deadline has passed.
    pub cancellation: CancellationToken,
    /// How many agents called each other until this call; 0 in a run that nobody called.
    pub depth: u32,
    /// How many tokens the call may spend on models of its own, if that is limited.
    pub tokens_left: Option<u64>,
    /// How much money it may spend on them, if that is limited.
    pub money_left: Option<f64>,
    progress: Option<Progress>,
    secrets: Secrets,
    /// What a person answered to the questions of this call: question, answer.
    answers: Vec<(String, String)>,
}

impl ToolContext {
    /// A context for calling a tool outside a run, as tests do.
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

    /// The same, knowing what a person answered to a question of this call.
    #[must_use]
    pub fn with_answer(mut self, question: impl Into<String>, answer: impl Into<String>) -> Self {
        self.answers.push((question.into(), answer.into()));
        self
    }

    /// Asks a person. The first time this fails, and the failure has to be passed on with `?`: the
    /// run pauses with the question. Once it is answered, the tool is called again, perhaps in
    /// another process, and gets the answer here.
    ///
    /// A question is known by its words, so ask in the same words each time; and ask before the
    /// tool changes anything, because it begins anew.
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

    /// The same, reporting progress to this listener.
    #[must_use]
    pub fn with_progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The same with the values that the run must not show.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// The values that the run must not show.
    ///
    /// A run redacts what a tool returns. A tool that cuts a text has to redact it first, because half
    /// a secret is not found afterwards: with [`ToolContext::redact`] before the cut, or with
    /// [`Secrets::redact_head`] after it.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// A text without the values that the run must not show. Call it before cutting the text.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.secrets.redact(text)
    }

    /// Tells whoever watches the run how far the call is. Does not reach the model.
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
