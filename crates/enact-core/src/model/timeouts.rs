//! Time limits of clients.

use std::time::Duration;

/// Time limits of a request.
///
/// ```
/// use std::time::Duration;
/// use enact::model::Timeouts;
///
/// let patient = Timeouts { idle: Duration::from_secs(600), ..Timeouts::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection is established.
    pub connect: Duration,
    /// From sending the request to the first byte of the reply. Local models process the whole prompt
    /// first. Non-streamed replies are bound only by `total`.
    pub first_byte: Duration,
    /// Between two parts of the reply.
    pub idle: Duration,
    /// For the whole request.
    pub total: Duration,
}

impl Default for Timeouts {
    /// 10 seconds to connect, 5 minutes to the first byte, 2 minutes between parts, 30 minutes in
    /// total.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
            total: Duration::from_secs(1800),
        }
    }
}
