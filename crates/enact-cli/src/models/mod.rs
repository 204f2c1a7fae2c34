//! Models: choosing and connecting them, and `enact models`.

mod choice;
mod connect;
mod list;
mod memory;
mod probing;
mod tape;

pub(crate) use self::choice::{address, choose};
pub(crate) use self::connect::{Named, built_in_price, connect, is_unknown, joined, store_address};
pub(crate) use self::list::execute;
pub(crate) use self::probing::Probing;
pub(crate) use self::tape::{Tape, recorded_address, recorded_models};
