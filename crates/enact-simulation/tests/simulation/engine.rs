//! A toy engine: it journals to a `Vec`, and its process dies at random.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, poll_fn};
use std::mem::take;
use std::sync::{Mutex, MutexGuard};
use std::task::Poll;
use std::time::Duration;

use enact::Run;
use enact::Timestamp;
use enact::driver::{Acted, Answer, Answered, Asking, Doing, Durability, Effect, Effects, Stopped};
use enact::model::{ModelError, Reply, Usage};
use enact::react::{CallCheck, RunState, ToolCall};
use enact::run::{Call, Done, Event, Observation, Question, Record, TraceStep};
use enact::tool::ToolSpec;
use futures_util::stream;

use crate::agent::{Agent, is_outcome};
use crate::dice::Dice;
use crate::work::result;

/// More than any run can have: a run that comes here goes in circles.
const TOO_MANY_ENTRIES: usize = 1_000;

/// When the process dies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Crashes {
    Never,
    AllOver,
}

/// What happened outside the journal.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// How often each call took effect, by idempotency key, with what it was.
    pub effects: BTreeMap<String, (Call, u64)>,
    /// How often a model was asked.
    pub asked: u64,
    /// Seconds.
    pub clock: i64,
    pub crashes: u64,
    pub interruptions: u64,
    /// How often a reply was read from the journal instead of asking for it again.
    pub replayed: u64,
    /// Whether somebody has cancelled the run.
    pub is_cancelled: bool,
    /// Calls that were let go of, by idempotency key: they must not take effect any more.
    pub abandoned: BTreeSet<String>,
    /// How often a person answered without a pause.
    pub in_place: u64,
}

/// A line of the journal.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A record of the log.
    Record(Record),
    /// What a model answered when the log had this many records. It is paid for, even if the process
    /// dies before the log says what came of it.
    Answered(usize, Result<Reply, ModelError>),
}

/// What was the case when an entry was written.
#[derive(Debug, Clone)]
pub struct Moment {
    world: World,
    running: BTreeSet<String>,
}

/// What an engine has, in the process and outside.
#[derive(Debug, Default)]
pub struct Insides {
    pub journal: Vec<Entry>,
    pub world: World,
    /// One for each entry, unless the process dies all over: those are not started from.
    pub moments: Vec<Moment>,
    /// Calls that this process started and that did nothing yet.
    running: BTreeSet<String>,
    /// Records that are durable with the next ones. They die with the process.
    held: Vec<Record>,
    is_dead: bool,
    is_interrupted: bool,
}

pub struct Engine<'a> {
    pub agent: &'a Agent,
    pub dice: Dice,
    crashes: Crashes,
    insides: Mutex<Insides>,
}

impl<'a> Engine<'a> {
    pub fn new(agent: &'a Agent, dice: Dice, crashes: Crashes) -> Self {
        let engine = Self {
            agent,
            dice,
            crashes,
            insides: Mutex::default(),
        };
        engine.push(Entry::Record(Record {
            position: 0,
            at: Timestamp::UNIX_EPOCH,
            event: Event::Started(agent.started().into()),
        }));
        engine
    }

    /// The engine right after this entry of a journal, where its process dies.
    pub fn crashed_after(
        agent: &'a Agent,
        dice: Dice,
        (journal, moments): (&[Entry], &[Moment]),
        entry: usize,
    ) -> Self {
        let Moment { world, running } = moments[entry].clone();
        let insides = Insides {
            journal: journal[..=entry].to_vec(),
            world,
            running,
            ..Insides::default()
        };
        let engine = Self {
            agent,
            dice,
            crashes: Crashes::Never,
            insides: Mutex::new(insides),
        };
        engine.crash();
        engine
    }

    pub fn into_insides(self) -> Insides {
        self.insides.into_inner().unwrap()
    }

    pub fn insides(&self) -> MutexGuard<'_, Insides> {
        self.insides.lock().unwrap()
    }

    /// How long the journal is: what chance is asked about.
    pub fn length(&self) -> usize {
        self.insides().journal.len()
    }

    pub fn is_dead(&self) -> bool {
        self.insides().is_dead
    }

    /// The process ends. Calls under way may have happened; what they gave is lost.
    pub fn crash(&self) {
        let running = {
            let mut insides = self.insides();
            insides.world.crashes += 1;
            insides.held.clear();
            insides.is_dead = false;
            take(&mut insides.running)
        };
        if running.is_empty() {
            return;
        }
        let length = self.length();
        let open = self.replay().open_calls().into_iter();
        let open = open.filter(|call| running.contains(&call.call.id));
        for (index, call) in open.enumerate() {
            if self.dice.percent(("happened", length, index), 50) {
                self.execute(&call);
            }
        }
    }

    /// Another process takes the run up from the journal, sometimes from its text.
    pub fn replay(&self) -> RunState {
        let mut insides = self.insides();
        insides.is_interrupted = false;
        let records = insides.journal.iter().filter_map(|entry| match entry {
            Entry::Record(record) => Some(record.clone()),
            Entry::Answered(..) => None,
        });
        let mut run = Run::try_from(records.collect::<Vec<_>>()).expect("a journal has a log");
        if self.dice.percent(("text", insides.journal.len()), 10) {
            let text = serde_json::to_string(&run).unwrap();
            let back: Run = serde_json::from_str(&text).unwrap();
            assert_eq!(back, run, "a run goes through JSON unchanged");
            run = back;
        }
        let (program, wording) = (self.agent.program.clone(), self.agent.wording.clone());
        RunState::resume(program, wording, run).expect("a log resumes")
    }

    /// Writes to the journal, for good.
    pub fn push(&self, entry: Entry) {
        let mut insides = self.insides();
        assert!(
            insides.journal.len() < TOO_MANY_ENTRIES,
            "it goes in circles"
        );
        insides.world.clock += 1;
        if let Entry::Record(record) = &entry {
            match &record.event {
                Event::ToolStarted { call_id } => {
                    let is_new = insides.running.insert(call_id.clone());
                    assert!(is_new, "a call was started twice");
                }
                // A start may be written down after the call was made: with what it gave.
                Event::ToolFinished(finished) => {
                    insides.running.remove(&finished.call_id);
                }
                Event::Asked(question) => {
                    insides.running.remove(&question.call_id);
                }
                event if is_outcome(event) => {
                    let known = insides.journal.iter().filter(|entry| match entry {
                        Entry::Record(record) => is_outcome(&record.event),
                        Entry::Answered(..) => false,
                    });
                    let known = 1 + known.count() as u64;
                    assert_eq!(insides.world.asked, known, "a reply was lost");
                }
                _ => {}
            }
        }
        insides.journal.push(entry);
        if self.crashes == Crashes::Never {
            let moment = Moment {
                world: insides.world.clone(),
                running: insides.running.clone(),
            };
            insides.moments.push(moment);
        }
    }

    /// The tool does what it does.
    fn execute(&self, call: &ToolCall) -> Acted {
        let kind = self.agent.kind(&call.call.name);
        self.insides().running.remove(&call.call.id);
        if call.answers.len() < kind.asks {
            return Acted::Asks {
                call_id: call.call.id.clone(),
                question: format!("Question {}?", call.answers.len()),
            };
        }
        let mut insides = self.insides();
        let key = call.idempotency_key.clone();
        let is_abandoned = insides.world.abandoned.contains(&key);
        assert!(!is_abandoned, "an abandoned call took effect");
        let effect = insides.world.effects.entry(key);
        effect.or_insert_with(|| ((*call.call).clone(), 0)).1 += 1;
        let observation = match kind.fails {
            true => Observation::error(format!("Error executing {}: it fails", kind.name)),
            false => Observation::value(result(&call.call, &call.answers)),
        };
        let done = Done::new(&call.call.id, observation);
        Acted::Done {
            done: done.spending(Duration::from_millis(3), Usage::default(), 0.0),
            failure: None,
        }
    }

    /// The process may die here. A dead one does nothing more.
    fn survives(&self, place: &str, chance: u64) -> Result<(), Stopped> {
        let mut insides = self.insides();
        let about = (place, insides.journal.len(), insides.world.crashes);
        if self.crashes == Crashes::AllOver && self.dice.percent(about, chance) {
            insides.is_dead = true;
        }
        match insides.is_dead {
            true => Err(Stopped::Unwind),
            false => Ok(()),
        }
    }

    /// Somebody cancels some runs: once a model has answered so often, and sometimes only while calls
    /// are under way.
    fn is_cancelled(&self) -> bool {
        let mut insides = self.insides();
        if !insides.world.is_cancelled && self.dice.percent("cancelled", 10) {
            let replies = 1 + self.dice.roll("cancelled after", 4);
            let is_waiting = self.dice.percent("cancelled under way", 50);
            insides.world.is_cancelled =
                insides.world.asked >= replies && !(is_waiting && insides.running.is_empty());
        }
        insides.world.is_cancelled
    }

    /// Makes durable what was to be so with the next records.
    fn flush(&self) {
        let held = take(&mut self.insides().held);
        for record in held {
            self.push(Entry::Record(record));
        }
    }

    /// The answer that the journal has for this place of the log.
    fn journaled(&self, position: usize) -> Option<Result<Reply, ModelError>> {
        let mut insides = self.insides();
        let known = insides.journal.iter().find_map(|entry| match entry {
            Entry::Answered(place, outcome) if *place == position => Some(outcome.clone()),
            _ => None,
        });
        insides.world.replayed += u64::from(known.is_some());
        known
    }
}

impl Effects for Engine<'_> {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.insides().world.clock).unwrap()
    }

    fn proceed(&self) -> Result<(), Stopped> {
        if self.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        let mut insides = self.insides();
        let about = ("stop", insides.journal.len(), insides.world.interruptions);
        if !insides.is_interrupted
            && self.crashes == Crashes::AllOver
            && self.dice.percent(about, 3)
        {
            insides.is_interrupted = true;
            insides.world.interruptions += 1;
        }
        match insides.is_interrupted {
            true => Err(Stopped::Interrupted),
            false => Ok(()),
        }
    }

    fn append<'a>(
        &'a self,
        records: Vec<Record>,
        durability: Durability,
    ) -> Effect<'a, Vec<Record>> {
        Box::pin(async move {
            self.survives("before a record", 4)?;
            self.insides().held.extend_from_slice(&records);
            if durability == Durability::Now {
                self.flush();
                self.survives("after a record", 8)?;
            }
            Ok(records)
        })
    }

    fn ask<'a>(&'a self, asking: Asking<'a>) -> Effect<'a, Answered> {
        Box::pin(async move {
            self.survives("before a request", 4)?;
            let position = asking.run().records().len();
            let outcome = match self.journaled(position) {
                Some(known) => known,
                None => {
                    let run = asking.run();
                    let outcome = self.agent.model(self.dice, run, asking.predictor);
                    self.flush();
                    self.insides().world.asked += 1;
                    self.push(Entry::Answered(position, outcome.clone()));
                    outcome
                }
            };
            self.survives("after a reply", 8)?;
            Ok(Answered {
                outcome,
                took: Duration::from_millis(5),
            })
        })
    }

    fn act<'a>(&'a self, _run: &Run, calls: Vec<ToolCall>) -> Doing<'a> {
        Box::pin(stream::unfold(calls, move |mut calls| async move {
            let which = self
                .dice
                .roll(("order", self.length()), calls.len().max(1) as u64);
            let turns = self.dice.roll(("turns", self.length(), which), 3);
            for _ in 0..turns {
                let_others_go_first().await;
            }
            if calls.is_empty() {
                return None;
            }
            let call = calls.remove(which as usize);
            let acted = self.execute(&call);
            // Between the effect and its record.
            let acted = self.survives("after a call", 10).map(|()| acted);
            Some((acted, calls))
        }))
    }

    fn abandon<'a>(&'a self, run: &'a Run, calls: Vec<ToolCall>) -> Effect<'a, ()> {
        let mut insides = self.insides();
        assert!(insides.world.is_cancelled, "nobody cancelled the run");
        for call in calls {
            let is_started = run.events().any(
                |event| matches!(event, Event::ToolStarted { call_id } if *call_id == call.call.id),
            );
            assert!(is_started, "a call was abandoned that was never started");
            insides.world.abandoned.insert(call.idempotency_key);
        }
        Box::pin(async { Ok(()) })
    }

    fn check<'a>(&'a self, _run: &'a Run, calls: Vec<&'a Call>) -> Effect<'a, Vec<CallCheck>> {
        Box::pin(async move { Ok(self.agent.check(&calls)) })
    }

    fn ends<'a>(&'a self, run: &'a Run, step: &'a TraceStep) -> Effect<'a, bool> {
        let about = ("ends", step.iteration, run.trajectory().to_string());
        let ends = self.dice.percent(about, 20);
        Box::pin(async move {
            self.survives("after a condition", 8)?;
            Ok(ends)
        })
    }

    fn tools<'a>(
        &'a self,
        run: &'a Run,
        _time: Option<Duration>,
    ) -> Effect<'a, Option<Vec<ToolSpec>>> {
        Box::pin(async move {
            self.survives("while tools are listed", 2)?;
            Ok(self.agent.tools(run))
        })
    }

    fn wait<'a>(&'a self, run: &'a Run, questions: &'a [Question]) -> Effect<'a, Option<Answer>> {
        Box::pin(async move {
            let answer = self.answer_in_place(run, questions);
            self.survives("while a person thinks", 5)?;
            Ok(answer)
        })
    }
}

fn let_others_go_first() -> impl Future<Output = ()> {
    let mut is_second = false;
    poll_fn(move |context| {
        if std::mem::replace(&mut is_second, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
}
