//! Playing runs on the toy engine, with the loop of enact.

use enact::driver::{Stop, drive};
use enact::{ErrorKind, Run};
use futures_executor::block_on;

use crate::agent::Agent;
use crate::dice::Dice;
use crate::engine::{Crashes, Engine, Entry, Moment, World};

/// A run that was played to its end.
pub struct Played {
    run: Run,
    pub world: World,
    journal: Vec<Entry>,
    moments: Vec<Moment>,
}

impl Played {
    /// The log of the run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// How many entries its journal has.
    pub fn entries(&self) -> usize {
        self.journal.len()
    }
}

/// Plays a run from its beginning.
pub fn play(agent: &Agent, dice: Dice, crashes: Crashes) -> Played {
    to_the_end(Engine::new(agent, dice, crashes))
}

/// Plays a run to its end that crashed right after this entry of its journal.
pub fn resume_after(agent: &Agent, dice: Dice, plain: &Played, entry: usize) -> Played {
    let before = (&*plain.journal, &*plain.moments);
    let engine = Engine::crashed_after(agent, dice, before, entry);
    engine.finish_rethinking();
    to_the_end(engine)
}

fn to_the_end(engine: Engine<'_>) -> Played {
    let run = loop {
        let mut state = engine.replay();
        let stop = block_on(drive(&mut state, &engine));
        if engine.is_dead() {
            engine.crash();
            continue;
        }
        match stop {
            Ok(Stop::Finished) => break state.into_run(),
            Ok(Stop::Paused(questions)) => engine.ask_person(&mut state, &questions),
            Ok(stop) => panic!("{stop:?}"),
            Err(_) if state.run().termination().is_some() => break state.into_run(),
            // Whoever called the run calls it again.
            Err(error) => {
                let kind = error.kind();
                let is_known = matches!(kind, ErrorKind::Model(_) | ErrorKind::Interrupted);
                assert!(is_known, "{error:?}");
            }
        }
    };
    let insides = engine.into_insides();
    Played {
        run,
        world: insides.world,
        journal: insides.journal,
        moments: insides.moments,
    }
}
