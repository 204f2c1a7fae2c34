//! Tools that reach further: pages, commands, and the memory of a run. Against real servers on this
//! machine, and real processes.
#![cfg(all(feature = "builtin-tools", feature = "openai"))]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod reach {
    mod note;
    #[cfg(unix)]
    mod shell;
    mod site;
    mod web;
}
