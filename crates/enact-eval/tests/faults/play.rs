//! Plays a scenario: the agent, its caller, the people it asks, and what stops it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use enact::model::{Retrying, ScriptStep};
use enact::run::QuestionKind;
use enact::{
    Builder, Call, CancellationToken, Decision, Dynamic, Error, ErrorKind, LanguageModel, Outcome,
    Paused, Question, ReAct, Run, Update, Values, values,
};

use crate::scenario::{Person, Scenario, Stop, When};
use crate::words::spoken;
use crate::world::{Mortal, Paced};

const RUN: &str = "r";

/// What came of a scenario.
pub(crate) struct Played {
    pub(crate) run: Run,
    /// The error of the last call, if it gave one.
    pub(crate) error: Option<ErrorKind>,
    /// How many turns of the script were begun.
    pub(crate) turns: usize,
}

/// Plays a scenario. Given a number, the process dies once so many records are durable, and
/// another one takes the run up from the store.
pub(crate) async fn play(scenario: &Scenario, dies_after: Option<usize>) -> Played {
    let tools = (scenario.tools)();
    let choice: enact::AdapterChoice = scenario.adapter.parse().unwrap();
    let builder = ReAct::builder(scenario.signature)
        .tools(tools)
        .adapter(choice);
    let builder = (scenario.setup)(builder);
    let agent = builder.clone().build().unwrap();
    let turns = scenario.script.iter();
    let turns: Vec<(ScriptStep, Duration)> = turns
        .map(|turn| (spoken(&agent, scenario.adapter, turn), turn.takes))
        .collect();
    let caller = Caller {
        scenario,
        builder,
        turns,
        store: Mortal::new(dies_after),
    };
    caller.play().await
}

struct Caller<'a> {
    scenario: &'a Scenario,
    builder: Builder<ReAct>,
    turns: Vec<(ScriptStep, Duration)>,
    store: Mortal,
}

impl Caller<'_> {
    /// A process with the agent, whose model goes on with the script at this turn.
    fn process(&self, begun: usize) -> (ReAct, Arc<Paced>) {
        let model = Arc::new(Paced::new(&self.turns, begun));
        self.store.watch(&model);
        let shared: Arc<dyn LanguageModel> = if self.scenario.retries {
            Arc::new(Retrying::new(model.clone()))
        } else {
            model.clone()
        };
        let agent = self.builder.clone().model(shared).build().unwrap();
        (agent, model)
    }

    async fn play(self) -> Played {
        let (mut agent, mut model) = self.process(0);
        let stops = Stops::of(self.scenario);
        let call = agent.call(values! { question: "What is an oak?" });
        let call = stops.on(call.run_id(RUN).store(self.store.clone()));
        let mut outcome = call.await;
        let mut resumes = self.scenario.resumes;
        let mut people = People::of(self.scenario);
        loop {
            let stops = match &outcome {
                _ if self.store.is_dead() => {
                    (agent, model) = self.process(self.store.revive());
                    Stops::of(self.scenario)
                }
                Ok(Outcome::Finished(_)) => break,
                Ok(Outcome::Paused(_)) => Stops::none(),
                Err(error) if is_over(error) || resumes == 0 => break,
                Err(_) => {
                    resumes -= 1;
                    Stops::none()
                }
            };
            let mut call = stops.on(agent.resume_stored(self.store.clone(), RUN));
            if let Ok(Outcome::Paused(paused)) = &outcome {
                let decisions = people.decide(paused);
                if decisions.is_empty() && !people.cancel {
                    break;
                }
                for (id, decision) in decisions {
                    call = call.answer(id, decision);
                }
                if people.cancel {
                    call = call.cancel_with(cancelled());
                }
            }
            outcome = call.await;
        }
        let turns = model.begun.load(Ordering::SeqCst);
        match outcome {
            Ok(outcome) => Played {
                run: outcome.run().clone(),
                error: None,
                turns,
            },
            Err(error) => Played {
                error: Some(error.kind()),
                run: error.into_run().unwrap(),
                turns,
            },
        }
    }
}

fn is_over(error: &Error) -> bool {
    error.run().is_none_or(|run| run.termination().is_some())
}

fn cancelled() -> CancellationToken {
    let token = CancellationToken::new();
    token.cancel();
    token
}

/// The people of a scenario. Who is asked the same again says the same again.
struct People {
    waiting: std::vec::IntoIter<Person>,
    decided: HashMap<String, Option<Decision>>,
    cancel: bool,
}

impl People {
    fn of(scenario: &Scenario) -> Self {
        Self {
            waiting: scenario.people.clone().into_iter(),
            decided: HashMap::new(),
            cancel: false,
        }
    }

    /// What is decided about the open questions, by those who decide.
    fn decide(&mut self, paused: &Paused) -> Vec<(String, Decision)> {
        let mut decisions = Vec::new();
        for question in paused.questions() {
            let id = &question.confirmation_id;
            if !self.decided.contains_key(id) {
                let decided = self.ask(question);
                self.decided.insert(id.clone(), decided);
            }
            if let Some(Some(decision)) = self.decided.get(id) {
                decisions.push((id.clone(), decision.clone()));
            }
        }
        decisions
    }

    fn ask(&mut self, question: &Question) -> Option<Decision> {
        // Only a crash leaves calls in doubt, and the scripts know of none.
        if question.kind == QuestionKind::InDoubt {
            return Some(Decision::Approve);
        }
        match self.waiting.next() {
            Some(Person::Says(text)) => Some(question.read(text).unwrap()),
            Some(Person::Decides(decision)) => Some(decision),
            Some(Person::Cancels) => {
                self.cancel = true;
                None
            }
            Some(Person::Leaves) | None => None,
        }
    }
}

/// What stops a call from outside.
struct Stops {
    cancel: CancellationToken,
    interrupt: CancellationToken,
    when: Option<When>,
    is_cancel: bool,
}

impl Stops {
    fn none() -> Self {
        Self {
            cancel: CancellationToken::new(),
            interrupt: CancellationToken::new(),
            when: None,
            is_cancel: false,
        }
    }

    fn of(scenario: &Scenario) -> Self {
        let (when, is_cancel) = match scenario.stop {
            None => (None, false),
            Some(Stop::Cancel(when)) => (Some(when), true),
            Some(Stop::Interrupt(when)) => (Some(when), false),
        };
        Self {
            when,
            is_cancel,
            ..Self::none()
        }
    }

    fn on<B>(self, call: Call<'_, Dynamic, B>) -> Call<'_, Dynamic, B> {
        let call = call
            .cancel_with(self.cancel.clone())
            .interrupt_with(self.interrupt.clone());
        let token = if self.is_cancel {
            self.cancel
        } else {
            self.interrupt
        };
        let Some(when) = self.when else {
            return call;
        };
        if let When::AtOnce = when {
            token.cancel();
        }
        let asked = AtomicUsize::new(0);
        call.on_update(move |update| {
            let is_now = match (when, update) {
                (When::Asking(who, nth), Update::Asking { predictor }) if *predictor == who => {
                    asked.fetch_add(1, Ordering::SeqCst) + 1 == nth
                }
                (When::InTool, Update::Progress { .. }) => true,
                (When::After(is_it), Update::Recorded { record }) => is_it(&record.event),
                _ => false,
            };
            if is_now {
                token.cancel();
            }
        })
    }
}

/// The outputs by name, for messages.
pub(crate) fn shown(outputs: Option<&Values>) -> String {
    outputs.map_or("none".to_owned(), |outputs| {
        serde_json::to_string(outputs).unwrap()
    })
}
