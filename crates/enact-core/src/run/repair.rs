//! What had to be mended to read a reply.

use serde::{Deserialize, Serialize};

/// Something in a reply that had to be mended to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repair {
    /// What sort of mending.
    pub kind: RepairKind,
    /// What exactly.
    pub detail: String,
}

/// The sorts of mending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// Broken JSON was completed or cleaned.
    Json,
    /// Text around the answer was dropped: fences, comments, thinking tags.
    Surroundings,
    /// A value was converted without loss, such as `"2"` to `2`.
    Coercion,
    /// A call written into the text was taken as a call.
    CallInText,
    /// A name was taken for the nearest one that exists up to case and punctuation.
    Name,
    /// The structure differed from what was asked for but was unmistakable.
    Structure,
}

impl Repair {
    /// A repair of a kind.
    pub fn new(kind: RepairKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }
}
