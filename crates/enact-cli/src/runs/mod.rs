//! The commands about kept runs: list, show, resume, cancel, forget.

pub(crate) mod end;
pub(crate) mod list;
pub(crate) mod resume;
pub(crate) mod show;

use crate::exit::{Exit, Failure};

/// The exit code of a command that either worked or says why not.
fn ended(outcome: Result<(), Failure>) -> Exit {
    match outcome {
        Ok(()) => Exit::Success,
        Err(failure) => {
            failure.print();
            failure.exit
        }
    }
}
