//! The pure core: what a run does next, as a function of its log.
//!
//! [`RunState`] folds events ([`RunState::apply`]) and returns what comes next ([`RunState::next`]). It
//! does no I/O and reads no clock; drivers carry out what it returns and record the result. Everything
//! that it returns is data.

mod answers;
mod asides;
mod changed;
mod check;
mod compact;
mod ending;
mod fold;
mod identity;
mod ids;
mod memory;
mod program;
mod progress;
mod prompt;
mod read;
mod reader;
mod refusal;
mod shorten;
mod spending;
mod state;
mod submitted;
mod template;
mod text;
mod thoughts;
mod verdict;
mod wording;

pub use check::check_call;
pub(crate) use program::check_tools;
pub use program::{InputsError, Program, ProgramError, RESERVED_TOOLS};
pub use read::ReadReply;
pub use state::{ModelCall, Next, RunState, ToolCall};
pub use template::{TemplateError, fill_thought_prompt};
pub use verdict::{CallCheck, Verdict};
pub use wording::Wording;
