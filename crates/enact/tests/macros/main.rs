//! The macros, as users see them.

#![expect(clippy::unwrap_used, reason = "what the tests share is test code too")]

mod derive;
mod literal;
mod tool;
mod toolbox;
