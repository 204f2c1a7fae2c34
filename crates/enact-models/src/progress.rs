//! How far something is.

/// How many bytes are done, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Done so far.
    pub done: u64,
    /// In all.
    pub total: u64,
}
