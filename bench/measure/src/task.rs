//! What is asked, and the tool that helps.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// What the scripted model answers.
pub(crate) const ANSWER: &str = "forty-two";
/// What a model is told to do, in the contenders that take instructions.
pub const INSTRUCTIONS: &str = "Answer the question with the tools at hand.";
/// What the observations say, again and again.
const LINE: &str = "All is well in this line. ";

/// The question of a run; the server tells runs apart by its name.
pub fn question(run: &str) -> String {
    format!("What is the answer? [run {run}]")
}

/// The tool: tells an item by its key, at the length that was asked for, and notes the CPU time of
/// the process whenever it is called.
#[derive(Debug, Clone)]
pub struct Lookup {
    length: usize,
    ticks: Option<Arc<Mutex<Vec<Duration>>>>,
}

impl Lookup {
    /// What a model is told about the tool.
    pub const DESCRIPTION: &str = "Looks up an item by its key.";

    pub(crate) fn new(length: usize) -> Self {
        Self {
            length,
            ticks: Some(Arc::default()),
        }
    }

    /// A tool that notes nothing.
    pub fn silent(length: usize) -> Self {
        Self {
            length,
            ticks: None,
        }
    }

    /// What is known about an item.
    pub fn find(&self, key: &str) -> String {
        if let Some(ticks) = &self.ticks
            && let Ok(now) = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        {
            locked(ticks).push(now.into());
        }
        let mut found = String::with_capacity(self.length);
        found.push_str(key);
        found.push_str(" is known: ");
        while found.len() < self.length {
            let rest = self.length - found.len();
            found.push_str(&LINE[..rest.min(LINE.len())]);
        }
        found
    }

    /// The notes so far; forgets them.
    pub(crate) fn take_ticks(&self) -> Vec<Duration> {
        let ticks = self.ticks.as_ref();
        ticks.map_or_else(Vec::new, |ticks| std::mem::take(&mut *locked(ticks)))
    }
}

fn locked(ticks: &Mutex<Vec<Duration>>) -> MutexGuard<'_, Vec<Duration>> {
    ticks.lock().unwrap_or_else(PoisonError::into_inner)
}
