//! A run survives the end of its processes, wherever it comes: SIGKILL at random moments, and at
//! those where it hurts most.

mod dice;
mod model;
mod moment;
mod phase;
mod trial;

use self::dice::{Dice, SEED, seed};
use self::phase::{Phase, Tally};
use self::trial::Trial;

/// How many living processes are killed at least.
const KILLS: usize = 200;

/// How often these phases are hit at least.
const HITS: [(Phase, usize); 6] = [
    (Phase::BeforeTheRun, 1),
    (Phase::WhileTheModelIsAsked, 5),
    (Phase::WaitingForAPerson, 5),
    (Phase::AnsweredAndNotStarted, 1),
    (Phase::InDoubtWithTheEffect, 5),
    (Phase::InDoubtWithoutTheEffect, 5),
];

#[test]
fn promise_1_no_effect_twice_and_none_lost_however_often_a_process_is_killed() {
    let seed = seed();
    println!("{SEED}={seed}");
    let mut dice = Dice::new(seed);
    let mut tally = Tally::default();
    let begun = std::time::Instant::now();
    let is_enough = |tally: &Tally| {
        let has_hit = |(phase, hits): (Phase, usize)| tally.of(phase) >= hits;
        tally.kills() >= KILLS && HITS.into_iter().all(has_hit)
    };
    while !is_enough(&tally) {
        assert!(
            tally.kills() < 10 * KILLS,
            "the moments are missed: {tally}"
        );
        Trial::new(&mut dice).play(&mut dice, &mut tally);
    }
    println!("{tally}in {:?}", begun.elapsed());
}
