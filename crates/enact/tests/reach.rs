//! Tools that reach further: pages, commands, and the memory of a run. Against real servers on this
//! machine, and real processes.
#![cfg(feature = "tools")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod reach {
    mod cutting;
    mod note;
    #[cfg(unix)]
    mod shell;
    mod site;
    mod web;
}
