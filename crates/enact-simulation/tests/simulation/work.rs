//! What the calls of the simulation do.

use enact::run::{Call, Event, QuestionKind, canonical_json};
use enact::{Decision, Run};
use serde_json::Value;

/// What a call that works gives.
pub fn result(call: &Call, answers: &[(String, String)]) -> String {
    format!("did {} with {answers:?}", about(call))
}

pub fn about(call: &Call) -> String {
    format!(
        "{} {}",
        call.name,
        canonical_json(&Value::Object(call.args.clone()))
    )
}

/// What a person answered to the questions of a call.
pub fn answers(run: &Run, step: usize, call: &Call) -> Vec<(String, String)> {
    let mut asked: Vec<(String, String, Option<String>)> = Vec::new();
    for record in &run.records()[step..] {
        match &record.event {
            Event::Asked(question)
                if question.call_id == call.id && question.kind == QuestionKind::Clarify =>
            {
                let id = question.confirmation_id.clone();
                asked.push((id, question.text.clone().unwrap(), None));
            }
            Event::Answered {
                confirmation_id,
                decision: Decision::Answer(text),
                ..
            } => {
                for known in asked.iter_mut().filter(|known| known.0 == *confirmation_id) {
                    known.2 = Some(text.clone());
                }
            }
            Event::Withdrawn { confirmation_id } => {
                for known in asked.iter_mut().filter(|known| known.0 == *confirmation_id) {
                    known.2 = None;
                }
            }
            _ => {}
        }
    }
    let answered = asked.into_iter();
    answered
        .filter_map(|(_, question, answer)| Some((question, answer?)))
        .collect()
}
