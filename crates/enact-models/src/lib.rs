//! Local model files.
//!
//! A [`Shelf`] manages the GGUF files of this machine by name. They are [added](Shelf::add) where they
//! are, or [pulled](Shelf::pull) from a [`Hub`]: interrupted downloads resume, and checksums are verified.
//!
//! The crate `enact-llama` runs such a file in the process.

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
