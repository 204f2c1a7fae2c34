//! The first program of the README.

include!("program.rs");
