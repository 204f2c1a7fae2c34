//! The person: answers some questions, ignores others, and now and then takes an answer back.

use enact::driver::{Answer, Effects as _};
use enact::react::RunState;
use enact::run::{Answerer, Event, QuestionKind};
use enact::tool::Effect;
use enact::{Decision, Question, Run};
use serde_json::Value;

use crate::engine::{Engine, Entry};
use crate::work::{about, answers, result};

impl Engine<'_> {
    /// A sitting: the person answers some of the questions, in some order.
    pub fn ask_person(&self, state: &mut RunState, questions: &[Question]) {
        let length = self.length();
        let ignored =
            |question: &&Question| question.expires_at.is_some() && self.is_ignored(question);
        let mut answering: Vec<&Question> = questions
            .iter()
            .filter(|question| !ignored(question))
            .collect();
        if answering.is_empty() {
            self.insides().world.clock += 86_400;
            let expired = state.expire(self.now());
            assert_eq!(expired.len(), questions.len(), "what is ignored expires");
            return;
        }
        answering.sort_by_key(|question| {
            self.dice
                .roll((length, &question.confirmation_id), u64::MAX)
        });
        let sitting = 1 + self.dice.roll(("sitting", length), answering.len() as u64);
        for question in answering.into_iter().take(sitting as usize) {
            let id = &question.confirmation_id;
            let decision = self.decide(state.run(), question);
            if self.rethinks(state.run(), id) {
                let first = self.first_thought(question);
                let event = state.answer(id, first).expect("it is open");
                self.write(state, event);
                let confirmation_id = id.clone();
                self.write(state, Event::Withdrawn { confirmation_id });
            }
            let event = state.answer(id, decision).expect("it is open");
            self.write(state, event);
            let again = state.answer(id, Decision::Feedback("again".to_owned()));
            assert!(again.is_err(), "an answered question takes no answer");
        }
    }

    /// What a person answers who is there while the run waits. Who thinks twice is not.
    pub fn answer_in_place(&self, run: &Run, questions: &[Question]) -> Option<Answer> {
        let length = self.length();
        let question = questions.iter().find(|question| {
            let id = &question.confirmation_id;
            self.dice.percent(("in place", length, id), 30)
                && !self.is_ignored(question)
                && !self.rethinks(run, id)
        })?;
        let decision = self.decide(run, question);
        self.insides().world.in_place += 1;
        Some(Answer {
            confirmation_id: question.confirmation_id.clone(),
            decision,
        })
    }

    fn write(&self, state: &mut RunState, event: Event) {
        for record in state.run().following([event], self.now()) {
            self.push(Entry::Record(record.clone()));
            state.apply(record);
        }
    }

    /// Whether the person says no at first, and has not taken it back yet.
    fn rethinks(&self, run: &Run, id: &str) -> bool {
        let has_rethought = run.events().any(
            |event| matches!(event, Event::Withdrawn { confirmation_id } if confirmation_id == id),
        );
        self.dice.percent(("rethinks", id), 10) && !has_rethought
    }

    /// What the person says and takes back.
    fn first_thought(&self, question: &Question) -> Decision {
        let call = &question.tool_call;
        let thought = self.dice.roll(("first", &question.confirmation_id), 4);
        match (question.kind, thought) {
            (QuestionKind::Clarify, 1..) => Decision::Answer("wrong".to_owned()),
            (QuestionKind::Confirm, 1) => Decision::Approve,
            (QuestionKind::Confirm, 2) => Decision::ApproveAlways,
            (QuestionKind::Confirm, 3) => Decision::Edit {
                name: call.name.clone(),
                args: [("n".to_owned(), Value::from(999))].into_iter().collect(),
            },
            _ => Decision::Reject(None),
        }
    }

    /// The person remembers what they were about to take back.
    pub fn finish_rethinking(&self) {
        let mut state = self.replay();
        let said = match state.run().events().next_back() {
            Some(Event::Answered {
                confirmation_id,
                by: Answerer::Person,
                ..
            }) => confirmation_id.clone(),
            _ => return,
        };
        if self.rethinks(state.run(), &said) {
            let confirmation_id = said;
            self.write(&mut state, Event::Withdrawn { confirmation_id });
        }
    }

    /// The person decides by what is asked, never by when.
    fn decide(&self, run: &Run, question: &Question) -> Decision {
        let call = &question.tool_call;
        let dice = |sides| self.dice.roll((about(call), &question.question), sides);
        match question.kind {
            QuestionKind::InDoubt => self.tell_truth(run, question),
            QuestionKind::Clarify if dice(10) == 0 => Decision::Reject(None),
            QuestionKind::Clarify => Decision::Answer(format!("answer {}", dice(9))),
            _ if self.agent.kind(&call.name).is_allowed_for_good => Decision::ApproveAlways,
            _ => match dice(8) {
                0 => Decision::Reject(None),
                1 => Decision::Reject(Some("no".to_owned())),
                2 => Decision::Feedback("think again".to_owned()),
                3 => Decision::Edit {
                    name: "tool_0".to_owned(),
                    args: [("n".to_owned(), Value::from(100 + dice(7)))]
                        .into_iter()
                        .collect(),
                },
                _ => Decision::Approve,
            },
        }
    }

    fn is_ignored(&self, question: &Question) -> bool {
        question.kind == QuestionKind::Confirm
            && !self
                .agent
                .kind(&question.tool_call.name)
                .is_allowed_for_good
            && self
                .dice
                .percent(("ignored", about(&question.tool_call)), 20)
    }

    /// Looks whether the call in doubt took effect.
    fn tell_truth(&self, run: &Run, question: &Question) -> Decision {
        let call = &question.tool_call;
        let kind = self.agent.kind(&call.name);
        assert_eq!(kind.effect, Effect::Effectful, "others run again unasked");
        let mut records = run.records().iter();
        let step = records.rposition(|record| record.event.is_step()).unwrap();
        let prefix = format!("run:{step}:");
        let insides = self.insides();
        let mut effects = insides.world.effects.iter();
        let happened =
            effects.any(|(key, (known, _))| key.starts_with(&prefix) && known.id == call.id);
        if !happened {
            return Decision::Approve;
        }
        Decision::Answer(result(call, &answers(run, step, call)))
    }
}
