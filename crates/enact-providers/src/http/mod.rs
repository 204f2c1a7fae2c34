//! The common part of all HTTP clients: the server, an exchange with it, and its
//! events.

mod address;
mod client;
mod clock;
mod exchange;
pub(super) mod json;
mod protocol;
mod sse;

pub(super) use self::address::Address;
pub use self::address::credentials;
pub(super) use self::address::{bad_address, is_loopback, no_client};
pub use self::client::Client;
pub(super) use self::clock::Clock;
pub(super) use self::exchange::{Exchange, transport};
pub(super) use self::protocol::{Decode, DecodeError, End, Protocol, Service, SoFar};
