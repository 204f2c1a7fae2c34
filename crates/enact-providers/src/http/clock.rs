//! The time limits of a request.

use std::time::Duration;

use enact_core::model::failure::{Failures, Limit};
use enact_core::model::{Delivery, ModelError, Timeouts};
use tokio::time::Instant;

/// Only the usage can follow the finish reason; it is not worth a long wait.
const COST_PATIENCE: Duration = Duration::from_secs(5);

/// Monitors the time limits of a request.
#[derive(Debug)]
pub(crate) struct Clock {
    timeouts: Timeouts,
    first_byte: Instant,
    total: Instant,
    has_begun: bool,
    /// The time spent waiting for more of the reply, whatever else arrived.
    silent: Duration,
    /// The deadline for the usage, once the reply is complete.
    cost: Option<Instant>,
}

impl Clock {
    pub(crate) fn start(timeouts: Timeouts, delivery: Delivery) -> Self {
        let now = Instant::now();
        let total = later(now, timeouts.total);
        Self {
            timeouts,
            first_byte: match delivery {
                Delivery::Streamed => later(now, timeouts.first_byte),
                // It arrives when everything is written.
                Delivery::Whole => total,
            },
            total,
            has_begun: false,
            silent: Duration::ZERO,
            cost: None,
        }
    }

    /// The deadline for more of the reply.
    pub(crate) fn deadline(&self, now: Instant) -> Instant {
        let next = match (self.cost, self.has_begun) {
            (Some(cost), _) => cost,
            (None, true) => later(now, self.timeouts.idle.saturating_sub(self.silent)),
            (None, false) => self.first_byte,
        };
        next.min(self.total)
    }

    /// More of the reply has arrived.
    pub(crate) fn goes_on(&mut self) {
        self.has_begun = true;
        self.silent = Duration::ZERO;
    }

    /// Something has arrived since then, but nothing of the reply.
    pub(super) fn stands_still(&mut self, since: Instant) {
        self.silent += since.elapsed();
    }

    /// The reply is complete except for its usage.
    pub(super) fn awaits_cost(&mut self) {
        let cost = Instant::now() + COST_PATIENCE;
        self.cost.get_or_insert(cost);
    }

    /// The error for the exceeded limit.
    pub(crate) fn expired(&self, failures: Failures<'_>) -> ModelError {
        let timeouts = &self.timeouts;
        let (limit, after) = if Instant::now() >= self.total {
            (Limit::Total, timeouts.total)
        } else if self.has_begun {
            (Limit::Idle, timeouts.idle)
        } else {
            (Limit::FirstByte, timeouts.first_byte)
        };
        failures.timeout(limit, Some(after))
    }
}

/// A duration beyond the range of the clock means never.
fn later(from: Instant, duration: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
    from.checked_add(duration).unwrap_or_else(|| from + FAR)
}
