//! Language models in the process, with [llama.cpp](https://github.com/ggml-org/llama.cpp).
//!
//! With the feature `llama`, `LocalModel` runs a GGUF file in the process. The build needs cmake, a C++
//! compiler and libclang, so the feature is off by default, and without it this crate is empty. Model
//! files can come from the shelf of the crate `enact-models`, or from anywhere else.

#[cfg(feature = "llama")]
mod model;

#[cfg(feature = "llama")]
pub use model::{Loading, LocalModel};

/// The page of the book that needs this crate.
#[cfg(all(doctest, feature = "llama"))]
#[doc = include_str!(concat!("../../../", "docs/guide/local-models.md"))]
struct GuideLocalModels;
