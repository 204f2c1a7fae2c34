//! The commands for stored runs: list, show, resume, cancel, delete.

mod decisions;
mod end;
mod list;
mod prompts;
mod remove;
mod resume;
mod show;
mod table;

pub(crate) use self::end::cancel;
pub(crate) use self::list::list;
pub(crate) use self::remove::remove;
pub(crate) use self::resume::resume;
pub(crate) use self::show::{show, show_steps};
