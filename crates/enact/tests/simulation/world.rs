//! The world around a run: what calls did, what the person says, when the process dies.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use enact::react::{Next, RunState, ToolCall};
use enact::run::{Answerer, Call, Event, Observation, QuestionKind, Record, canonical_json};
use enact::tool::Effect;
use enact::{Decision, Question, Run};
use jiff::Timestamp;
use serde_json::Value;

use crate::agent::{Agent, outcomes};
use crate::dice::Dice;

/// More than any run can have: a run that comes here goes in circles.
const TOO_MANY_EVENTS: usize = 1_000;

/// When the process dies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Crashes {
    Never,
    AllOver,
}

/// What happened outside the log.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// How often each call took effect, by idempotency key, with what it was.
    pub effects: BTreeMap<String, (Call, u64)>,
    /// How often a model was asked.
    pub asked: u64,
    /// Seconds.
    clock: i64,
    crashes: u64,
}

/// A run that was played to its end.
pub struct Played {
    pub state: RunState,
    pub world: World,
    /// After each event: the world, and the calls under way.
    moments: Vec<(World, Vec<ToolCall>)>,
}

impl Played {
    pub fn crashes(&self) -> u64 {
        self.world.crashes
    }
}

/// Plays a run from its beginning.
pub fn play(agent: &Agent, dice: Dice, crashes: Crashes) -> Played {
    let record = Record {
        position: 0,
        at: Timestamp::UNIX_EPOCH,
        event: Event::Started(Arc::new(agent.started())),
    };
    let state =
        RunState::begin(agent.program.clone(), agent.wording.clone(), record).expect("a start");
    let mut process = Process {
        agent,
        dice,
        crashes,
        state,
        world: World::default(),
        running: Vec::new(),
        moments: Vec::new(),
    };
    process.remember();
    process.go_on();
    process.into_played()
}

/// Plays a run to its end that crashed right after this event.
pub fn resume_after(agent: &Agent, dice: Dice, plain: &Played, event: usize) -> Played {
    let records = plain.run().records()[..=event].to_vec();
    let run = Run::try_from(records).expect("a prefix of a log is a log");
    let (world, running) = plain.moments[event].clone();
    let mut process = Process {
        agent,
        dice,
        crashes: Crashes::Never,
        state: RunState::resume(agent.program.clone(), agent.wording.clone(), run).expect("a run"),
        world,
        running,
        moments: Vec::new(),
    };
    process.crash();
    process.finish_rethinking();
    process.go_on();
    process.into_played()
}

struct Process<'a> {
    agent: &'a Agent,
    dice: Dice,
    crashes: Crashes,
    state: RunState,
    world: World,
    running: Vec<ToolCall>,
    moments: Vec<(World, Vec<ToolCall>)>,
}

/// What a tool gives back.
enum Given {
    Observation(Observation),
    Question(String),
}

impl Process<'_> {
    fn into_played(self) -> Played {
        Played {
            state: self.state,
            world: self.world,
            moments: self.moments,
        }
    }

    fn remember(&mut self) {
        if self.crashes == Crashes::Never {
            self.moments
                .push((self.world.clone(), self.running.clone()));
        }
    }

    /// The log's length: what chance is asked about.
    fn length(&self) -> usize {
        self.state.run().records().len()
    }

    fn write(&mut self, event: Event) {
        let length = self.length();
        assert!(length < TOO_MANY_EVENTS, "the run goes in circles");
        self.world.clock += 1;
        if let Event::ToolFinished(finished) = &event {
            let call_id = &finished.call_id;
            self.running.retain(|running| running.call.id != *call_id);
        }
        if let Event::Asked(question) = &event {
            let id = &question.call_id;
            self.running.retain(|running| running.call.id != *id);
        }
        self.state.apply(Record {
            position: length as u64,
            at: Timestamp::from_second(self.world.clock).unwrap(),
            event,
        });
        self.remember();
    }

    /// The process ends. Calls under way may have happened; what they gave is lost.
    fn crash(&mut self) {
        self.world.crashes += 1;
        let length = self.length();
        for (index, call) in std::mem::take(&mut self.running).into_iter().enumerate() {
            if self.dice.percent(("happened", length, index), 50) {
                self.execute(&call);
            }
        }
        self.restart();
    }

    /// Another process takes the log up, sometimes from its text.
    fn restart(&mut self) {
        let length = self.length();
        let mut run = self.state.run().clone();
        if self.dice.percent(("text", length), 10) {
            let text = serde_json::to_string(&run).unwrap();
            let back: Run = serde_json::from_str(&text).unwrap();
            assert_eq!(back, run, "a run goes through JSON unchanged");
            run = back;
        }
        self.state = RunState::resume(self.agent.program.clone(), self.agent.wording.clone(), run)
            .expect("a log resumes");
    }

    fn go_on(&mut self) {
        loop {
            let length = self.length();
            let is_battered = self.crashes == Crashes::AllOver;
            if is_battered && self.dice.percent(("crash", length, self.world.crashes), 15) {
                self.crash();
            }
            match self.state.next() {
                Next::Record(event) => self.write(event),
                Next::Model(call) => {
                    self.world.asked += 1;
                    let said = self.agent.model(self.dice, &self.state, call.predictor);
                    let event = self
                        .state
                        .read(said.as_ref().cloned(), Duration::from_millis(5));
                    self.write(event);
                    assert_eq!(self.world.asked, outcomes(&self.state), "a reply was lost");
                }
                Next::Tools(calls) => {
                    for call in calls {
                        let call_id = call.call.id.clone();
                        let is_new = !self.running.iter().any(|other| other.call.id == call_id);
                        assert!(is_new, "a call was started twice");
                        self.running.push(call);
                        self.write(Event::ToolStarted { call_id });
                    }
                }
                Next::Wait => {
                    let nth = self.dice.roll(("order", length), self.running.len() as u64);
                    let call = self.running[nth as usize].clone();
                    let event = match self.execute(&call) {
                        Given::Observation(observation) => Event::tool_finished(
                            call.call.id,
                            observation,
                            Duration::from_millis(3),
                            Default::default(),
                        ),
                        Given::Question(text) => self.state.tool_asks(&call.call.id, text),
                    };
                    // Between the effect and its record.
                    if is_battered && self.dice.percent(("torn", length), 10) {
                        self.running.remove(nth as usize);
                        self.crash();
                        continue;
                    }
                    self.write(event);
                }
                Next::Human(questions) => self.ask_person(&questions),
                Next::Done => return,
            }
        }
    }

    /// The tool does what it does.
    fn execute(&mut self, call: &ToolCall) -> Given {
        let kind = self.agent.kind(&call.call.name);
        if call.answers.len() < kind.asks {
            return Given::Question(format!("Question {}?", call.answers.len()));
        }
        let key = call.idempotency_key.clone();
        let effect = self.world.effects.entry(key);
        effect.or_insert_with(|| (call.call.clone(), 0)).1 += 1;
        Given::Observation(if kind.fails {
            Observation::error(format!("Error executing {}: it fails", kind.name))
        } else {
            Observation::value(result(&call.call, &call.answers))
        })
    }

    /// A sitting: the person answers some of the questions, in some order.
    fn ask_person(&mut self, questions: &[Question]) {
        let length = self.length();
        let ignored =
            |question: &&Question| question.expires_at.is_some() && self.is_ignored(question);
        let mut answering: Vec<&Question> = questions
            .iter()
            .filter(|question| !ignored(question))
            .collect();
        if answering.is_empty() {
            self.world.clock += 86_400;
            let now = Timestamp::from_second(self.world.clock).unwrap();
            let expired = self.state.expire(now);
            assert_eq!(expired.len(), questions.len(), "what is ignored expires");
            for event in expired {
                self.write(event);
            }
            return;
        }
        answering.sort_by_key(|question| {
            self.dice
                .roll((length, &question.confirmation_id), u64::MAX)
        });
        let sitting = 1 + self.dice.roll(("sitting", length), answering.len() as u64);
        for question in answering.into_iter().take(sitting as usize) {
            let id = &question.confirmation_id;
            let decision = self.decide(question);
            if self.rethinks(id) {
                let first = self.first_thought(question);
                let event = self.state.answer(id, first).expect("it is open");
                self.write(event);
                self.write(Event::Withdrawn {
                    confirmation_id: id.clone(),
                });
            }
            let event = self.state.answer(id, decision).expect("it is open");
            self.write(event);
            let again = self
                .state
                .answer(id, Decision::Feedback("again".to_owned()));
            assert!(again.is_err(), "an answered question takes no answer");
        }
        self.restart();
    }

    /// Whether the person says no at first, and has not taken it back yet.
    fn rethinks(&self, id: &str) -> bool {
        let has_rethought = self.state.run().events().any(
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
    fn finish_rethinking(&mut self) {
        let said = match self.state.run().events().next_back() {
            Some(Event::Answered {
                confirmation_id,
                by: Answerer::Person,
                ..
            }) => confirmation_id.clone(),
            _ => return,
        };
        if self.rethinks(&said) {
            self.write(Event::Withdrawn {
                confirmation_id: said,
            });
        }
    }

    /// The person decides by what is asked, never by when.
    fn decide(&self, question: &Question) -> Decision {
        let call = &question.tool_call;
        let dice = |sides| self.dice.roll((about(call), &question.question), sides);
        match question.kind {
            QuestionKind::InDoubt => self.tell_truth(question),
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
    fn tell_truth(&self, question: &Question) -> Decision {
        let call = &question.tool_call;
        let kind = self.agent.kind(&call.name);
        assert_eq!(kind.effect, Effect::Effectful, "others run again unasked");
        let step = self
            .state
            .run()
            .records()
            .iter()
            .rposition(|record| record.event.is_step());
        let prefix = format!("run:{}:", step.unwrap());
        let happened = self
            .world
            .effects
            .iter()
            .any(|(key, (known, _))| key.starts_with(&prefix) && known.id == call.id);
        if !happened {
            return Decision::Approve;
        }
        Decision::Answer(result(
            call,
            &answers(self.state.run(), step.unwrap(), call),
        ))
    }
}

/// What a call that works gives.
fn result(call: &Call, answers: &[(String, String)]) -> String {
    format!("did {} with {answers:?}", about(call))
}

fn about(call: &Call) -> String {
    format!(
        "{} {}",
        call.name,
        canonical_json(&Value::Object(call.args.clone()))
    )
}

/// What a person answered to the questions of a call.
fn answers(run: &Run, step: usize, call: &Call) -> Vec<(String, String)> {
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
