//! Evaluations as their users meet them.

mod bench;
mod compare;
mod datasets;
mod interrupted;
mod reports;
#[cfg(unix)]
mod terminal;
