//! Tools that reach further: pages, commands, and the memory of a run. Against real servers on this
//! machine, and real processes.
#![cfg(all(feature = "builtin-tools", feature = "openai"))]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod reach {
    mod cutting;
    mod note;
    #[cfg(unix)]
    mod shell;
    mod site;
    mod web;
}
