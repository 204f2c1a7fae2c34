//! One run whose processes are killed until it is done.

use std::sync::Arc;

use enact::Run;
use enact::run::store::{RunFilter, Store as _};
use enact::run::{Decision, Event, QuestionKind};
use enact_sqlite::SqliteStore;
use enact_test_server::TestServer;
use tempfile::TempDir;

use super::dice::Dice;
use super::model::{FILE, Model, steps_taken};
use super::moment::{End, Moment, Process};
use super::phase::{Phase, Tally, asked_about};
use crate::command::Said;
use crate::place::Place;

/// How many of a hundred processes are to be killed.
const KILLED: u64 = 75;

pub(super) struct Trial {
    place: Place,
    model: Arc<Model>,
    server: TestServer,
    runtime: tokio::runtime::Runtime,
    /// The log as it was found last.
    run: Option<Run>,
    /// What was found after each process.
    found: Vec<Found>,
}

/// What was found after a process had ended.
struct Found {
    /// How many requests had come to the model.
    asked: usize,
    /// How many of its replies were in the log.
    kept: usize,
    /// Whether the process was killed where it may have asked for the next one.
    may_have_asked: bool,
}

impl Trial {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let model = Arc::new(Model::new(dice));
        let asked = Arc::clone(&model);
        Self {
            place: Place::new(),
            model,
            server: TestServer::answering_blocking(move |received| asked.turn(received)),
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
            run: None,
            found: Vec::new(),
        }
    }

    /// Starts process after process until the run is done, and checks all that was promised.
    pub(super) fn play(mut self, dice: &mut Dice, tally: &mut Tally) {
        tally.runs += 1;
        loop {
            let process = self.next_process(dice);
            tally.processes += 1;
            let end = if dice.percent(KILLED) {
                Moment::draw(dice, &process).strike(process, &self.place, &self.model)
            } else {
                End::ByItself(process.command.spawn().wait_with_output().unwrap())
            };
            let asked = self.server.requests().len();
            self.look();
            let phase = self.phase();
            self.found.push(Found {
                asked,
                kept: replies(self.run.as_ref()),
                may_have_asked: matches!(end, End::Killed) && phase.may_have_asked(),
            });
            match end {
                End::Killed => tally.count(phase),
                End::ByItself(output) => {
                    let is_over = self.check_end(&Said::of(&output));
                    if is_over {
                        break;
                    }
                }
            }
        }
        self.check_requests();
        check_approvals(self.run.as_ref().unwrap());
    }

    /// The process that goes on with the run.
    fn next_process(&self, dice: &mut Dice) -> Process {
        let Some(run) = &self.run else {
            return Process {
                command: self.place.run(&self.server),
                records: 0,
                answers: 0,
                appends: false,
            };
        };
        let written = self.written();
        let mut args = vec!["resume", run.id(), "--json"];
        let mut answers = 0;
        let mut appends = false;
        let questions = run.open_questions();
        for question in &questions {
            // Some answers come later, in a process of their own.
            if dice.percent(10) {
                continue;
            }
            answers += 1;
            let text = question.tool_call.args["text"].as_str().unwrap();
            // What a person would do: look at the file.
            let happened = written.contains(text);
            if question.kind == QuestionKind::InDoubt && happened {
                args.extend(["--answer", &question.confirmation_id, "appended"]);
            } else {
                assert!(!happened, "asked for, and done already: {text:?}");
                args.extend(["--approve", &question.confirmation_id]);
                appends = true;
            }
        }
        Process {
            command: self.place.enact(args),
            records: run.records().len(),
            answers,
            appends,
        }
    }

    fn written(&self) -> String {
        self.place.written(FILE).unwrap_or_default()
    }

    /// Looks at a copy of the store, so that the next process finds the original as the last one
    /// left it.
    fn look(&mut self) {
        let copy = TempDir::new().unwrap();
        // A process that is killed while it creates the store leaves a journal of the other kind.
        for suffix in ["", "-wal", "-journal"] {
            let original = self.place.store_file(suffix);
            if original.exists() {
                let name = original.file_name().unwrap();
                std::fs::copy(&original, copy.path().join(name)).unwrap();
            }
        }
        let stored = self.runtime.block_on(async {
            let store = SqliteStore::open(copy.path().join("runs.db"))
                .await
                .unwrap();
            let kept = store.list(&RunFilter::all()).await.unwrap();
            assert!(kept.len() <= 1, "{kept:?}");
            match kept.first() {
                Some(one) => Some(store.load(&one.run_id).await.unwrap()),
                None => None,
            }
        });
        let run = stored.map(|stored| {
            assert_eq!(stored.damage, None);
            stored.run
        });
        let before = self.run.as_ref().map_or(&[][..], Run::records);
        let now = run.as_ref().map_or(&[][..], Run::records);
        assert!(now.starts_with(before), "a record was lost or changed");
        self.run = run;
    }

    fn phase(&self) -> Phase {
        let written = self.written();
        let lines: Vec<&str> = written.lines().collect();
        let kept = replies(self.run.as_ref());
        let requests = self.server.requests();
        let is_asked = requests.iter().any(|one| steps_taken(&one.json()) == kept);
        Phase::of(self.run.as_ref(), &lines, is_asked)
    }

    /// Checks how a process ended that was not killed. Says whether the run is over.
    fn check_end(&self, said: &Said) -> bool {
        let run = self.run.as_ref().unwrap();
        let Some(outputs) = run.outputs() else {
            assert_eq!(said.code, 3, "{said:?}");
            assert!(!run.open_questions().is_empty(), "{said:?}");
            return false;
        };
        assert_eq!(said.code, 0, "{said:?}");
        let lines = self.model.lines();
        assert_eq!(said.json()["outputs"]["answer"], lines.join(", "));
        assert_eq!(outputs["answer"], lines.join(", "));
        assert_eq!(self.written().lines().collect::<Vec<_>>(), lines);
        true
    }

    /// A reply that is in the log was paid for, and is never asked for again.
    fn check_requests(&self) {
        let requests = self.server.requests();
        let asked_for: Vec<usize> = requests
            .iter()
            .map(|one| steps_taken(&one.json()))
            .collect();
        for Found { asked, kept, .. } in &self.found {
            let later = &asked_for[*asked..];
            assert!(
                later.iter().all(|reply| reply >= kept),
                "{kept} replies were kept, and then asked for: {later:?}"
            );
        }
        // Each reply was asked for once, and at most once more for each process that was killed
        // before it was kept.
        for reply in 0..self.model.steps() {
            let times = asked_for.iter().filter(|one| **one == reply).count();
            let is_without = |found: &&Found| found.kept == reply && found.may_have_asked;
            let without = self.found.iter().filter(is_without).count();
            assert!(
                (1..=1 + without).contains(&times),
                "reply {reply} was asked for {times} times, and {without} processes were killed"
            );
        }
    }
}

/// How many replies of the model a log keeps.
fn replies(run: Option<&Run>) -> usize {
    run.map_or(0, |run| run.steps().len())
}

/// Every start of a call uses up an approval that came after the start before.
fn check_approvals(run: &Run) {
    let mut approved: Vec<&str> = Vec::new();
    for event in run.events() {
        match event {
            Event::Answered {
                confirmation_id,
                decision: Decision::Approve,
                ..
            } => approved.push(asked_about(run, confirmation_id)),
            Event::ToolStarted { call_id } => {
                let used = approved.iter().position(|id| id == call_id);
                let used = used.unwrap_or_else(|| panic!("`{call_id}` ran without an approval"));
                approved.remove(used);
            }
            _ => {}
        }
    }
    assert_eq!(approved, Vec::<&str>::new(), "approved, and never run");
}
