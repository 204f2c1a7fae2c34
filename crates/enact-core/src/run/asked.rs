//! The questions of a run, with their status.

use serde::Serialize;

use super::question::{Answerer, ConfirmationStatus, Decision, Question};

/// A question of a run with its status.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AskedQuestion {
    /// The question.
    #[serde(flatten)]
    pub question: Question,
    /// Its status.
    pub status: ConfirmationStatus,
    /// The decision, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Answerer>,
    /// Whether the decision has taken effect, so that it cannot be withdrawn.
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
