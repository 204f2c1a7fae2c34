//! Repairs that were needed to read a reply.

use serde::{Deserialize, Serialize};

/// A repair that was needed to read a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repair {
    /// The kind of repair.
    pub kind: RepairKind,
    /// The details.
    pub detail: String,
}

/// The kinds of repair.
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
    /// A call written as text was accepted as a call.
    CallInText,
    /// A name was corrected to one that differs only in case and punctuation.
    Name,
    /// The structure differed from the requested one but was unambiguous.
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
