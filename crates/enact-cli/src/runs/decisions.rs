//! The decisions in the flags of `enact resume`.

use enact::{Decision, Run};
use serde_json::Value;

use crate::args::ResumeArgs;
use crate::exit::Failure;

/// Why decisions are not accepted.
pub(super) enum Wrong {
    /// They contradict each other.
    Command(Failure),
    /// One doesn't fit its question.
    Answer(Failure),
}

impl From<Failure> for Wrong {
    fn from(failure: Failure) -> Self {
        Self::Answer(failure)
    }
}

/// The decisions by the id of their question. Ids can be shortened to their beginning.
pub(super) fn decisions(args: &ResumeArgs, run: &Run) -> Result<Vec<(String, Decision)>, Wrong> {
    let questions = run.open_questions();
    let whole = |given: &str| {
        let mut alike = questions
            .iter()
            .filter(|question| question.confirmation_id.starts_with(given));
        match (alike.next(), alike.next()) {
            (Some(only), None) if !given.is_empty() => Ok(only),
            _ => Err(Failure::usage(
                "answer",
                format!("no open question has the id `{given}`: `enact show` lists them"),
            )),
        }
    };
    let mut decided = Vec::new();
    let reject = Decision::Reject(args.message.clone());
    for (ids, decision) in [
        (&args.approve, Decision::Approve),
        (&args.always, Decision::ApproveAlways),
        (&args.reject, reject),
    ] {
        for id in ids {
            decided.push((whole(id)?.confirmation_id.clone(), decision.clone()));
        }
    }
    for pair in args.edit.chunks_exact(2) {
        let question = whole(&pair[0])?;
        let edit: Value = serde_json::from_str(&pair[1])
            .map_err(|error| Failure::usage("answer", format!("the edit is not JSON: {error}")))?;
        let text = serde_json::json!({ "edit": edit }).to_string();
        match question.read(&text) {
            Ok(edit @ Decision::Edit { .. }) => {
                decided.push((question.confirmation_id.clone(), edit));
            }
            _ => {
                let message = "this edit cannot be read: use {\"args\": {…}}, and \"name\" \
                               for another tool";
                return Err(Failure::usage("answer", message).into());
            }
        }
    }
    for (pairs, decision) in [
        (&args.feedback, Decision::Feedback as fn(String) -> Decision),
        (&args.answer, Decision::Answer),
    ] {
        for pair in pairs.chunks_exact(2) {
            let id = whole(&pair[0])?.confirmation_id.clone();
            decided.push((id, decision(pair[1].clone())));
        }
    }
    // With two answers to one question, it is unclear which was meant.
    for (index, (id, _)) in decided.iter().enumerate() {
        if decided[..index].iter().any(|(earlier, _)| earlier == id) {
            let message = format!("there are two decisions for the question `{id}`: give one");
            return Err(Wrong::Command(Failure::usage("decisions", message)));
        }
    }
    Ok(decided)
}
