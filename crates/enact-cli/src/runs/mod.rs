//! The commands about kept runs: list, show, resume, cancel, forget.

mod end;
mod list;
mod resume;
mod show;

pub(crate) use self::end::{cancel, remove};
pub(crate) use self::list::list;
pub(crate) use self::resume::resume;
pub(crate) use self::show::show;
