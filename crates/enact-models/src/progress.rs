//! Progress reports.

/// The number of bytes done, and the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Done so far.
    pub done: u64,
    /// The total.
    pub total: u64,
}
