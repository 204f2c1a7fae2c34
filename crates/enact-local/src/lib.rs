//! Language models in files on this machine.
//!
//! A [`Shelf`] knows the GGUF files of this machine by name. They are [added](Shelf::add) where they
//! lie, or [pulled](Shelf::pull) from a [`Hub`]: with resume, and with a checksum that has to be right.
//!
//! With the feature `llama`, `LocalModel` runs such a file inside the process. Its build needs cmake, a
//! C++ compiler and libclang, so the feature is off unless it is asked for.

mod checksum;
mod error;
mod gguf;
mod hub;
#[cfg(feature = "llama")]
mod llama;
mod progress;
mod pull;
mod shelf;

pub use checksum::Checksum;
pub use error::{ShelfError, ShelfErrorKind};
pub use hub::Hub;
#[cfg(feature = "llama")]
pub use llama::{Loading, LocalModel};
pub use progress::Progress;
pub use pull::Wanted;
pub use shelf::{Kept, Shelf};

/// The page of the book that needs this crate.
#[cfg(all(doctest, feature = "llama"))]
#[doc = include_str!(concat!("../../../", "docs/guide/local-models.md"))]
struct GuideLocalModels;
