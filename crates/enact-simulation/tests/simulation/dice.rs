//! Chance without a memory: the same question gets the same answer, whatever was asked before.

use std::hash::{DefaultHasher, Hash, Hasher as _};

/// Dice with a seed.
#[derive(Debug, Clone, Copy)]
pub struct Dice {
    seed: u64,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// A number below `sides`, the same for the same `about`.
    pub fn roll(self, about: impl Hash, sides: u64) -> u64 {
        // Without keys, so that it is the same in every process.
        let mut hasher = DefaultHasher::new();
        self.seed.hash(&mut hasher);
        about.hash(&mut hasher);
        hasher.finish() % sides
    }

    /// Whether something happens that does so this often in a hundred.
    pub fn percent(self, about: impl Hash, chance: u64) -> bool {
        self.roll(about, 100) < chance
    }
}
