//! Questions to people, and the effects of their answers.

use super::calls::{CallState, CallStatus};
use super::check;
use super::identity::Allowed;
use super::state::{Phase, RunState};
use crate::run::{
    AnswerError, Answerer, Asked, Decision, Event, Observation, Origin, Question, QuestionKind,
};
use crate::time::Timestamp;

impl RunState {
    /// The event for a question that a running tool asks.
    pub fn tool_asks(&self, call_id: &str, text: String) -> Event {
        match self.find_call(call_id) {
            Some(state) => Event::asked(Asked {
                text: Some(text),
                ..self.about(state, QuestionKind::Clarify)
            }),
            // Nothing waits for the call any more.
            None => {
                let nobody = format!("Nobody was there to answer: {text}");
                Event::tool_decided(call_id, Observation::error(nobody))
            }
        }
    }

    /// The open questions.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        self.calls().iter().filter_map(|call| match call.status {
            CallStatus::Asked(question) => Some(self.question(question)),
            _ => None,
        })
    }

    pub(super) fn question(&self, index: usize) -> &Question {
        &self.run.questions()[index].question
    }

    /// The event for a person's decision, if it is valid.
    pub fn answer(&self, confirmation_id: &str, decision: Decision) -> Result<Event, AnswerError> {
        let question = self
            .open_questions()
            .find(|question| question.confirmation_id == confirmation_id)
            .ok_or_else(|| AnswerError::Unknown(confirmation_id.to_owned()))?;
        let decision = match question.fitting(decision)? {
            Decision::Edit { name, args } => {
                let (name, args) =
                    check::edit(&self.program, &name, args).map_err(AnswerError::InvalidEdit)?;
                Decision::Edit { name, args }
            }
            other => other,
        };
        Ok(Event::answered(confirmation_id, decision, Answerer::Person))
    }

    /// The events that reject the expired questions.
    pub fn expire(&self, now: Timestamp) -> Vec<Event> {
        let expired = self
            .open_questions()
            .filter(|question| question.expires_at.is_some_and(|at| at <= now));
        expired
            .map(|question| {
                let id = &question.confirmation_id;
                Event::answered(id, Decision::Reject(None), Answerer::Expiry)
            })
            .collect()
    }

    /// A question about a call of the current step.
    pub(super) fn about(&self, state: &CallState, kind: QuestionKind) -> Asked {
        let origin = Origin {
            run_id: self.run.id(),
            step: self.last_step().map_or(0, |step| step.record as u64),
            nth: state.asked,
            tool: self.run.tool_at(self.seen.at, &self.call(state).name),
        };
        Asked::about(origin, kind, self.call(state))
    }

    pub(super) fn fold_answer(&mut self, question: usize) {
        let known = &self.run.questions()[question];
        let (Phase::Act(calls), Some(decision), Some(by)) =
            (&mut self.phase, &known.decision, known.by)
        else {
            return;
        };
        let mut calls = calls.iter_mut();
        let Some(state) = calls.find(|state| state.status == CallStatus::Asked(question)) else {
            return;
        };
        let asked = &known.question;
        state.answered = Some(question);
        let observation = match decision {
            Decision::Approve => None,
            Decision::ApproveAlways => {
                let rule = Allowed {
                    confirmation_id: asked.confirmation_id.clone(),
                    tools: state.tools,
                };
                self.seen.allowed.insert(asked.tool_call.name.clone(), rule);
                None
            }
            Decision::Edit { .. } => {
                state.tools = self.seen.at;
                None
            }
            Decision::Answer(text) if asked.kind == QuestionKind::Clarify => {
                state.answers.push((asked.question.clone(), text.clone()));
                None
            }
            Decision::Answer(text) => Some(Observation::value(text.clone())),
            Decision::Feedback(text) => Some(Observation::value(format!("User feedback: {text}"))),
            Decision::Reject(Some(why)) if by == Answerer::Change => {
                Some(Observation::error(why.clone()))
            }
            Decision::Reject(message) => {
                let text = rejection(asked.kind, message.as_deref(), by);
                Some(Observation::value(text))
            }
        };
        state.status = match observation {
            Some(observation) => CallStatus::settled(&asked.tool_call.id, observation),
            None => CallStatus::Ready,
        };
    }

    pub(super) fn fold_withdrawal(&mut self, question: usize) {
        let known = &self.run.questions()[question].question;
        self.seen
            .allowed
            .retain(|_, rule| rule.confirmation_id != known.confirmation_id);
        let Phase::Act(calls) = &mut self.phase else {
            return;
        };
        let mut calls = calls.iter_mut();
        if let Some(state) = calls.find(|state| state.answered == Some(question)) {
            if known.kind == QuestionKind::Clarify && state.status == CallStatus::Ready {
                state.answers.pop();
            }
            state.answered = None;
            state.status = CallStatus::Asked(question);
        }
    }
}

/// The observation of a call that doesn't run.
fn rejection(kind: QuestionKind, message: Option<&str>, by: Answerer) -> String {
    let (what, then) = match (kind, by) {
        (QuestionKind::Confirm, Answerer::Expiry) => {
            ("Nobody agreed to this call in time", "It was not executed.")
        }
        (QuestionKind::Confirm, _) => ("The user declined this call", "It was not executed."),
        (QuestionKind::InDoubt, Answerer::Expiry) => (
            "The call was started, and nobody said in time whether it happened",
            "It was not run again.",
        ),
        (QuestionKind::InDoubt, _) => (
            "The call did not happen, and the user declined to run it again",
            "It was not executed.",
        ),
        (QuestionKind::Clarify, Answerer::Expiry) => {
            ("Nobody answered the question in time", "Go on without.")
        }
        (QuestionKind::Clarify, _) => ("The user declined to answer", "Go on without."),
    };
    match message {
        Some(message) => format!("{what}: {message}"),
        None => format!("{what}. {then}"),
    }
}
