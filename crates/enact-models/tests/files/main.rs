//! The shelf and the hub, as those who keep model files meet them.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod hub;
mod pull;
mod shelf;
