//! A simulation of runs that crash: random agents, tools, models and people around the pure core.
//!
//! A toy engine stands behind the run: it implements `Effects` as a durable engine outside this
//! repository would, journals to a `Vec`, and its process dies at random. Enact's own loop drives it.
//!
//! Every run is first played without a crash. Then it is played again once for each entry of its
//! journal, with a crash right after that entry, and once with crashes all over. A crash loses whatever
//! was not written: any of the calls under way may have happened or not. Each time the run must
//! come to the same outputs by the same trajectory, with every effect at most once, every approval
//! used at most once, no finished result lost and no reply asked for twice. Some runs end by a condition,
//! some are cancelled, some have tools that change, and some questions are answered without a pause.
//!
//! `ENACT_SIMULATION_SEED` chooses the seed (a failure prints the one to use), and
//! `ENACT_SIMULATION_RUNS` how many runs there are.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

mod agent;
mod check;
mod dice;
mod engine;
mod person;
mod play;
mod work;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use agent::Agent;
use dice::Dice;
use enact::run::{Event, TerminationReason};
use engine::Crashes;
use play::{Played, play, resume_after};

const RUNS: u64 = 10_000;
/// How many runs each random agent gets.
const RUNS_PER_AGENT: u64 = 20;
const SEED: u64 = 20_261_116;

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().expect("a number"))
}

/// What was simulated, to see that it was not nothing.
#[derive(Default)]
struct Tally {
    plays: AtomicU64,
    events: AtomicU64,
    crashes: AtomicU64,
    interruptions: AtomicU64,
    replayed: AtomicU64,
    in_doubt: AtomicU64,
    confirmed: AtomicU64,
    rejected: AtomicU64,
    asked_by_tools: AtomicU64,
    by_rule: AtomicU64,
    expired: AtomicU64,
    withdrawn: AtomicU64,
    in_place: AtomicU64,
    cancelled: AtomicU64,
    abandoned: AtomicU64,
    by_condition: AtomicU64,
    changed: AtomicU64,
}

impl Tally {
    fn count(&self, played: &Played) {
        let (run, world) = (played.run(), &played.world);
        use enact::Decision::{Approve, ApproveAlways, Edit, Reject};
        use enact::run::Answerer;
        use enact::run::QuestionKind::{Clarify, InDoubt};
        let one = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
        one(&self.plays);
        self.events
            .fetch_add(run.records().len() as u64, Ordering::Relaxed);
        self.crashes.fetch_add(world.crashes, Ordering::Relaxed);
        self.interruptions
            .fetch_add(world.interruptions, Ordering::Relaxed);
        self.replayed.fetch_add(world.replayed, Ordering::Relaxed);
        self.in_place.fetch_add(world.in_place, Ordering::Relaxed);
        let abandoned = world.abandoned.len() as u64;
        self.abandoned.fetch_add(abandoned, Ordering::Relaxed);
        match run.loop_ended().or(run.termination()) {
            Some(TerminationReason::Cancelled) => one(&self.cancelled),
            Some(TerminationReason::Custom) => one(&self.by_condition),
            _ => 0,
        };
        for event in run.events() {
            match event {
                Event::Asked(question) if question.kind == InDoubt => one(&self.in_doubt),
                Event::Asked(question) if question.kind == Clarify => one(&self.asked_by_tools),
                Event::Answered { by, .. } if *by == Answerer::Rule => one(&self.by_rule),
                Event::Answered { by, .. } if *by == Answerer::Expiry => one(&self.expired),
                Event::Answered { decision, .. } => match decision {
                    Approve | ApproveAlways | Edit { .. } => one(&self.confirmed),
                    Reject(_) => one(&self.rejected),
                    _ => 0,
                },
                Event::Withdrawn { .. } => one(&self.withdrawn),
                Event::ToolsChanged { .. } => one(&self.changed),
                _ => 0,
            };
        }
    }

    fn report(&self) -> Vec<(&'static str, u64)> {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            ("plays", read(&self.plays)),
            ("events", read(&self.events)),
            ("crashes", read(&self.crashes)),
            ("interruptions", read(&self.interruptions)),
            ("replies read again", read(&self.replayed)),
            ("calls in doubt", read(&self.in_doubt)),
            ("approvals", read(&self.confirmed)),
            ("rejections", read(&self.rejected)),
            ("questions of tools", read(&self.asked_by_tools)),
            ("approvals by rule", read(&self.by_rule)),
            ("expired questions", read(&self.expired)),
            ("answers taken back", read(&self.withdrawn)),
            ("answers in place", read(&self.in_place)),
            ("cancelled runs", read(&self.cancelled)),
            ("abandoned calls", read(&self.abandoned)),
            ("ends by a condition", read(&self.by_condition)),
            ("changes of tools", read(&self.changed)),
        ]
    }
}

fn simulate(agent: &Agent, seed: u64, tally: &Tally) {
    let dice = Dice::new(seed);
    let plain = play(agent, dice, Crashes::Never);
    check::log(agent, &plain);
    tally.count(&plain);
    for after in 0..plain.entries() {
        let crashed = resume_after(agent, dice, &plain, after);
        check::log(agent, &crashed);
        check::same_work(agent, &plain, &crashed);
        tally.count(&crashed);
    }
    let battered = play(agent, dice, Crashes::AllOver);
    check::log(agent, &battered);
    check::same_work(agent, &plain, &battered);
    tally.count(&battered);
}

#[test]
fn promises_1_to_3_hold_whenever_a_run_crashes() {
    let seed = number("ENACT_SIMULATION_SEED").unwrap_or(SEED);
    let runs = number("ENACT_SIMULATION_RUNS").unwrap_or(RUNS);
    println!("ENACT_SIMULATION_SEED={seed} ENACT_SIMULATION_RUNS={runs}");
    let began = Instant::now();
    let tally = Tally::default();
    let next = AtomicU64::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let batch = next.fetch_add(1, Ordering::Relaxed);
                    let first = batch * RUNS_PER_AGENT;
                    if first >= runs {
                        return;
                    }
                    let agent = Agent::random(Dice::new(seed.wrapping_add(first)));
                    for run in first..(first + RUNS_PER_AGENT).min(runs) {
                        let one = seed.wrapping_add(run);
                        let played = std::panic::catch_unwind(AssertUnwindSafe(|| {
                            simulate(&agent, one, &tally)
                        }));
                        if let Err(panic) = played {
                            eprintln!(
                                "run {run} of seed {seed} broke a promise; its tools: {:#?}",
                                agent.kinds
                            );
                            std::panic::resume_unwind(panic);
                        }
                    }
                }
            });
        }
    });
    println!("{runs} runs in {:.1?}", began.elapsed());
    for (what, count) in tally.report() {
        println!("{count:>10} {what}");
        assert!(runs < RUNS || count > 0, "no {what} were simulated");
    }
}
