//! Evaluations through the public API: hand-made runs whose true values are known, scripted models,
//! and pages.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod criteria;
mod evaluation;
mod log;
mod pages;
mod reports;
