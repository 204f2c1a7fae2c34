//! People in the loop: what is asked, and what follows from the answers.

use std::sync::Arc;

use super::check;
use super::identity::Allowed;
use super::state::{Acting, CallState, CallStatus, Phase, RunState};
use crate::run::{
    AnswerError, Answerer, Asked, Decision, Event, Observation, Origin, Question, QuestionKind,
};
use crate::time::Timestamp;

impl RunState {
    /// The event that follows from a question that a running tool asks.
    pub fn tool_asks(&self, call_id: &str, text: String) -> Event {
        let acting = match &self.phase {
            Phase::Act(acting) => acting.calls.iter().find(|state| state.call.id == call_id),
            _ => None,
        };
        match (&self.phase, acting) {
            (Phase::Act(acting), Some(state)) => {
                let origin = self.origin(acting, state);
                Event::asked(Asked {
                    text: Some(text),
                    ..Asked::about(origin, QuestionKind::Clarify, &state.call)
                })
            }
            // Nobody waits for the call any more.
            _ => {
                let nobody = format!("Nobody was there to answer: {text}");
                Event::tool_decided(call_id, Observation::error(nobody))
            }
        }
    }

    /// The questions that wait for an answer.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        let calls = match &self.phase {
            Phase::Act(acting) => acting.calls.as_slice(),
            _ => &[],
        };
        calls.iter().filter_map(|call| match &call.status {
            CallStatus::Asked(question) => Some(&**question),
            _ => None,
        })
    }

    /// The event that follows from a person's decision, unless it does not fit.
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

    /// The events for the questions that nobody has answered in time: they stand as rejected.
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

    pub(super) fn origin<'a>(&'a self, acting: &Acting, state: &CallState) -> Origin<'a> {
        Origin {
            run_id: self.run.id(),
            step: acting.record as u64,
            nth: state.asked,
            tool: self.run.tool_at(self.seen.at, &state.call.name),
        }
    }

    /// Whether a person has allowed the tool for the rest of the run.
    pub(super) fn is_allowed(&self, question: &Question) -> bool {
        question.kind == QuestionKind::Confirm && self.is_tool_allowed(&question.tool_call.name)
    }

    pub(super) fn fold_answer(&mut self, question: usize) {
        let known = &self.run.questions()[question];
        let (Phase::Act(acting), Some(decision), Some(by)) =
            (&mut self.phase, &known.decision, known.by)
        else {
            return;
        };
        let confirmation_id = &known.question.confirmation_id;
        for state in &mut acting.calls {
            let CallStatus::Asked(question) = &state.status else {
                continue;
            };
            if question.confirmation_id != *confirmation_id {
                continue;
            }
            let question = question.clone();
            state.status =
                match decision {
                    Decision::Approve => CallStatus::Ready,
                    Decision::ApproveAlways => {
                        let rule = Allowed {
                            confirmation_id: confirmation_id.clone(),
                            tools: state.tools,
                        };
                        self.allowed.insert(question.tool_call.name.clone(), rule);
                        CallStatus::Ready
                    }
                    Decision::Edit { name, args } => {
                        let call = Arc::make_mut(&mut state.call);
                        call.name.clone_from(name);
                        call.args.clone_from(args);
                        state.tools = self.seen.at;
                        CallStatus::Ready
                    }
                    Decision::Answer(text) if question.kind == QuestionKind::Clarify => {
                        let told = (question.question.clone(), text.clone());
                        state.answers.push(told);
                        CallStatus::Ready
                    }
                    Decision::Answer(text) => CallStatus::Decided(Observation::value(text.clone())),
                    Decision::Feedback(text) => {
                        CallStatus::Decided(Observation::value(format!("User feedback: {text}")))
                    }
                    Decision::Reject(Some(why)) if by == Answerer::Change => {
                        CallStatus::Decided(Observation::error(why.clone()))
                    }
                    Decision::Reject(message) => CallStatus::Decided(Observation::value(
                        rejection(question.kind, message.as_deref(), by),
                    )),
                };
            state.answered = Some(question);
            return;
        }
    }

    pub(super) fn fold_withdrawal(&mut self, question: usize) {
        let known = &self.run.questions()[question];
        let confirmation_id = known.question.confirmation_id.as_str();
        self.allowed
            .retain(|_, rule| rule.confirmation_id != confirmation_id);
        let Phase::Act(acting) = &mut self.phase else {
            return;
        };
        for state in &mut acting.calls {
            let Some(question) = state
                .answered
                .take_if(|question| question.confirmation_id == confirmation_id)
            else {
                continue;
            };
            if question.kind == QuestionKind::Clarify && state.status == CallStatus::Ready {
                state.answers.pop();
            }
            state.call = Arc::new(question.tool_call.clone());
            state.status = CallStatus::Asked(question);
            return;
        }
    }
}

/// What the model is told about a call that does not run.
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
