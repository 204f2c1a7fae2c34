//! What must hold for the log and the world of every run.

use std::collections::{BTreeMap, HashMap};

use enact::Decision;
use enact::run::{Answerer, Done, Event, QuestionKind};
use enact::tool::Effect;

use crate::agent::Agent;
use crate::play::Played;

/// What became of one call of a step.
#[derive(Debug, Default)]
struct Fate {
    tool: String,
    must_be_confirmed: bool,
    /// Questions by id: kind, and the answer that counts.
    questions: HashMap<String, (Option<QuestionKind>, Option<Decision>)>,
    starts: u64,
    finishes: u64,
    safe_restarts_allowed: bool,
}

/// Checks that a log keeps the promises by itself.
pub fn log(agent: &Agent, played: &Played) {
    let run = played.run();
    assert!(run.termination().is_some(), "the run is over");
    let mut fates: HashMap<String, Fate> = HashMap::new();
    for event in run.events() {
        match event {
            Event::Replied(replied) => {
                let Some(step) = replied.stepped() else {
                    continue;
                };
                fates.drain().for_each(|(_, fate)| settled(&fate));
                for planned in step
                    .calls
                    .iter()
                    .filter(|planned| planned.refusal.is_none())
                {
                    let is_tool = agent
                        .kinds
                        .iter()
                        .any(|kind| kind.name == planned.call.name);
                    if is_tool {
                        let fate = Fate {
                            tool: planned.call.name.clone(),
                            must_be_confirmed: planned.confirm,
                            ..Fate::default()
                        };
                        fates.insert(planned.call.id.clone(), fate);
                    }
                }
            }
            Event::Asked(question) => {
                let fate = fates
                    .get_mut(&question.call_id)
                    .expect("a call of the step");
                let new = (Some(question.kind), None);
                let old = fate.questions.insert(question.confirmation_id.clone(), new);
                assert!(old.is_none(), "two questions have one id");
            }
            Event::Answered {
                confirmation_id,
                decision,
                by,
            } => {
                let fate = fate_of(&mut fates, confirmation_id);
                if *by == Answerer::Expiry {
                    assert_eq!(*decision, Decision::Reject(None), "expiry never approves");
                }
                let question = fate.questions.get_mut(confirmation_id).unwrap();
                assert!(question.1.is_none(), "a question was answered twice");
                question.1 = Some(decision.clone());
                if let Decision::Edit { name, .. } = decision {
                    fate.tool.clone_from(name);
                }
            }
            Event::Withdrawn { confirmation_id } => {
                let fate = fate_of(&mut fates, confirmation_id);
                fate.questions.get_mut(confirmation_id).unwrap().1 = None;
            }
            Event::ToolStarted { call_id } => {
                let fate = fates.get_mut(call_id).expect("a call of the step");
                assert_eq!(fate.finishes, 0, "a finished call was started again");
                fate.starts += 1;
                let effect = agent.kind(&fate.tool).effect;
                fate.safe_restarts_allowed = effect != Effect::Effectful;
                approved(fate);
            }
            Event::ToolFinished(Done { call_id, .. }) | Event::Recalled { call_id, .. } => {
                let fate = fates.get_mut(call_id).expect("a call of the step");
                fate.finishes += 1;
                assert_eq!(fate.finishes, 1, "a call has two results");
            }
            _ => {}
        }
    }
}

fn fate_of<'a>(fates: &'a mut HashMap<String, Fate>, confirmation_id: &str) -> &'a mut Fate {
    fates
        .values_mut()
        .find(|fate| fate.questions.contains_key(confirmation_id))
        .expect("a question of the step")
}

/// A start needs its approvals, each used once.
fn approved(fate: &Fate) {
    let answers = |kind: QuestionKind, fits: fn(&Decision) -> bool| {
        let of_kind = fate
            .questions
            .values()
            .filter(|(asked, _)| *asked == Some(kind));
        of_kind
            .filter(|(_, answer)| answer.as_ref().is_some_and(fits))
            .count() as u64
    };
    let approves = |decision: &Decision| {
        matches!(
            decision,
            Decision::Approve | Decision::ApproveAlways | Decision::Edit { .. }
        )
    };
    let confirmed = answers(QuestionKind::Confirm, approves);
    let again = answers(QuestionKind::InDoubt, approves);
    let told = answers(QuestionKind::Clarify, |decision| {
        matches!(decision, Decision::Answer(_))
    });
    let first = if fate.must_be_confirmed { confirmed } else { 1 };
    assert!(first >= 1, "a call ran that nobody had approved: {fate:?}");
    if !fate.safe_restarts_allowed {
        assert!(
            fate.starts <= first + again + told,
            "a call with effects ran more often than it was allowed to: {fate:?}"
        );
    }
    let open = fate.questions.values().any(|(_, answer)| answer.is_none());
    assert!(
        !open,
        "a call ran while a question about it was open: {fate:?}"
    );
}

/// Before the next step every call has its result.
fn settled(fate: &Fate) {
    assert_eq!(fate.finishes, 1, "a call has no result: {fate:?}");
}

/// Checks that two plays of one run did the same.
pub fn same_work(agent: &Agent, plain: &Played, crashed: &Played) {
    for (key, (call, times)) in &crashed.world.effects {
        let kind = agent.kind(&call.name);
        let is_once = kind.effect != Effect::Effectful || *times <= 1;
        assert!(is_once, "{key} took effect {times} times: {call:?}");
    }
    let is_cancelled = |played: &Played| played.world.is_cancelled;
    if agent.is_unattended() || is_cancelled(plain) || is_cancelled(crashed) {
        // A call in doubt is given up there, so the rest may differ. And what was under way when
        // somebody cancelled the run may differ, too.
        return;
    }
    assert_eq!(
        plain.run().trajectory(),
        crashed.run().trajectory(),
        "the trajectories differ"
    );
    assert_eq!(
        plain.run().outputs(),
        crashed.run().outputs(),
        "the outputs differ"
    );
    assert_eq!(plain.run().termination(), crashed.run().termination());
    assert_eq!(plain.run().history(), crashed.run().history());
    assert_eq!(
        plain.world.asked, crashed.world.asked,
        "a reply was asked for twice"
    );
    assert_eq!(done(plain), done(crashed), "the work differs");
}

/// What was done, and how often as the outside sees it.
fn done(played: &Played) -> BTreeMap<String, u64> {
    let mut done = BTreeMap::new();
    for (call, _) in played.world.effects.values() {
        *done
            .entry(format!("{} {:?}", call.name, call.args))
            .or_default() += 1;
    }
    done
}
