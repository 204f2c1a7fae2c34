//! The enact command.
fn main() {}
