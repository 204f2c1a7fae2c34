//! Chance that can be had again.

use std::time::Duration;

/// The variable that sets the seed.
pub(super) const SEED: &str = "ENACT_KILL_SEED";

/// A splitmix64 generator: the same draws for the same seed.
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Dice of their own, for another thread.
    pub(super) fn split(&mut self) -> Self {
        Self(self.draw())
    }

    /// A number below this one.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    /// True in this many of a hundred draws.
    pub(super) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    pub(super) fn micros(&mut self, end: u64) -> Duration {
        Duration::from_micros(self.below(end))
    }
}

/// The seed that was asked for, or a new one.
pub(super) fn seed() -> u64 {
    match std::env::var(SEED) {
        Ok(text) => text.trim().parse().unwrap(),
        Err(_) => {
            let now = std::time::SystemTime::now();
            let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
            since.as_secs() ^ u64::from(since.subsec_nanos())
        }
    }
}
