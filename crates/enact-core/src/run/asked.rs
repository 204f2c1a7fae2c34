//! The questions of a run: what was asked, and what became of it.

use serde::Serialize;

use super::question::{Answerer, ConfirmationStatus, Decision, Question};

/// A question of a run with what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AskedQuestion {
    /// The question.
    #[serde(flatten)]
    pub question: Question,
    /// What became of it.
    pub status: ConfirmationStatus,
    /// What was decided, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// By whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Answerer>,
    /// Whether the decision has been acted on, so that it cannot be taken back.
    pub is_used: bool,
}

impl AskedQuestion {
    pub(super) fn new(question: Question) -> Self {
        Self {
            question,
            status: ConfirmationStatus::Pending,
            decision: None,
            by: None,
            is_used: false,
        }
    }

    pub(super) fn answer(&mut self, decision: &Decision, by: Answerer) {
        self.status = ConfirmationStatus::from(decision);
        self.decision = Some(decision.clone());
        self.by = Some(by);
    }

    pub(super) fn reopen(&mut self) {
        *self = Self::new(self.question.clone());
    }
}
