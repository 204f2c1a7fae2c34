//! How long clients wait.

use std::time::Duration;

/// How long to wait for what.
///
/// ```
/// use std::time::Duration;
/// use enact::model::Timeouts;
///
/// let patient = Timeouts { idle: Duration::from_secs(600), ..Timeouts::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Duration,
    /// From sending the request until the first byte of the reply. Local models read the whole
    /// prompt before they say anything. A reply that is not streamed, because nobody reads along, comes
    /// when it is whole: there only `total` counts.
    pub first_byte: Duration,
    /// Between two pieces of the reply.
    pub idle: Duration,
    /// For the whole request.
    pub total: Duration,
}

impl Default for Timeouts {
    /// 10 seconds to connect, 5 minutes to the first byte, 2 minutes of silence, 30 minutes in
    /// all.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
            total: Duration::from_secs(1800),
        }
    }
}
