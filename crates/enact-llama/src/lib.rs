//! Language models inside the process, by [llama.cpp](https://github.com/ggml-org/llama.cpp).
//!
//! With the feature `llama`, `LocalModel` runs a GGUF file inside the process. Its build needs cmake, a
//! C++ compiler and libclang, so the feature is off unless it is asked for, and without it this crate is
//! empty. The files come from the shelf of the crate `enact-models`, or from anywhere else.

#[cfg(feature = "llama")]
mod model;

#[cfg(feature = "llama")]
pub use model::{Loading, LocalModel};

/// The page of the book that needs this crate.
#[cfg(all(doctest, feature = "llama"))]
#[doc = include_str!(concat!("../../../", "docs/guide/local-models.md"))]
struct GuideLocalModels;
