//! A small real model inside the process. It has no wit, so these tests ask for none: every reply is
//! valid by construction, every run ends, nothing is read twice.
//!
//! They need the file that `.ci/local-model` fetches, named by `ENACT_TEST_MODEL`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod loaded;
mod loading;
mod replies;
mod reuse;
mod tasks;
mod watched;
