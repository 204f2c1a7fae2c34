//! The command as its users meet it: a process with arguments, variables and streams.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod agent;
mod answers;
mod bounds;
mod chat;
mod command;
mod configured;
mod contested;
mod costs;
mod demo;
mod eval;
mod failures;
mod history;
#[cfg(unix)]
mod hooks;
mod inputs;
mod json;
#[cfg(unix)]
mod killed;
mod listed;
#[cfg(unix)]
mod live;
mod local;
#[cfg(unix)]
mod mcp;
mod models;
mod place;
mod plain;
mod probing;
mod prompts;
#[cfg(unix)]
mod questions;
mod recording;
mod resumed;
mod rules;
mod secrets;
#[cfg(unix)]
mod serving;
mod stored;
mod talking;
mod telemetry;
#[cfg(unix)]
mod terminal;
mod told;
mod tools;
mod trust;
mod tuned;
mod usage;
