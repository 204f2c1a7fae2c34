//! Language models in files on this machine.
//!
//! A [`Shelf`] knows the GGUF files of this machine by name. They are [added](Shelf::add) where they
//! lie, or [pulled](Shelf::pull) from a [`Hub`]: with resume, and with a checksum that has to be right.
//!
//! The crate `enact-llama` runs such a file inside the process.

mod checksum;
mod error;
mod gguf;
mod hub;
mod progress;
mod pull;
mod shelf;

pub use checksum::Checksum;
pub use error::{ShelfError, ShelfErrorKind};
pub use gguf::is_gguf;
pub use hub::Hub;
pub use progress::Progress;
pub use pull::Wanted;
pub use shelf::{Kept, Shelf};
