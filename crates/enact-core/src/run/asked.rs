//! The view of a run's questions: what was asked, and what became of it.

use serde::Serialize;

use super::event::Event;
use super::log::Run;
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
    fn new(question: Question) -> Self {
        Self {
            question,
            status: ConfirmationStatus::Pending,
            decision: None,
            by: None,
            is_used: false,
        }
    }

    fn answer(&mut self, decision: &Decision, by: Answerer) {
        self.status = ConfirmationStatus::from(decision);
        self.decision = Some(decision.clone());
        self.by = Some(by);
    }

    fn reopen(&mut self) {
        *self = Self::new(self.question.clone());
    }
}

/// Every question of the run, in the order in which they came up.
pub(super) fn of(run: &Run) -> Vec<AskedQuestion> {
    let mut asked: Vec<AskedQuestion> = Vec::new();
    // Where the questions of the current step begin: those before are settled.
    let mut current = 0;
    let mut thought = "";
    for record in run.records() {
        match &record.event {
            Event::Stepped(step) => {
                current = asked.len();
                thought = step.thought();
            }
            Event::Asked(question) => {
                let mut question = (**question).clone();
                question.thought = thought.trim().to_owned();
                question.expires_at = run.started().limits.expiry(record.at);
                // A tool that changed is asked about again: what was said of it before is void.
                let earlier = asked[current..].iter_mut();
                for known in earlier.filter(|known| {
                    !known.is_used && known.question.tool_call.id == question.tool_call.id
                }) {
                    known.is_used = true;
                    known.status = ConfirmationStatus::Superseded;
                }
                asked.push(AskedQuestion::new(question));
            }
            Event::Answered {
                confirmation_id,
                decision,
                by,
            } => {
                if let Some(known) = find(&mut asked[current..], confirmation_id) {
                    known.answer(decision, *by);
                }
            }
            Event::Withdrawn { confirmation_id } => {
                if let Some(known) = find(&mut asked[current..], confirmation_id) {
                    known.reopen();
                }
            }
            Event::ToolStarted { call_id } | Event::ToolFinished { call_id, .. } => {
                for known in &mut asked[current..] {
                    known.is_used |=
                        known.decision.is_some() && known.question.tool_call.id == *call_id;
                }
            }
            Event::Finished { .. } | Event::Failed { .. } => {
                for known in &mut asked {
                    known.is_used = true;
                    if known.status == ConfirmationStatus::Pending {
                        known.status = ConfirmationStatus::Rejected;
                    }
                }
            }
            _ => {}
        }
    }
    asked
}

fn find<'a>(asked: &'a mut [AskedQuestion], id: &str) -> Option<&'a mut AskedQuestion> {
    asked
        .iter_mut()
        .find(|known| known.question.confirmation_id == id)
}
