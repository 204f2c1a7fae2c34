//! Built-in tools: a calculator, a clock, questions to the person, notes, and files confined to a
//! directory. Two further tools need settings: pages of allowed hosts, and shell
//! commands.
//!
//! ```
//! use enact::tool::builtin::{self, Files};
//!
//! # let folder = tempfile::tempdir()?;
//! let tools = enact::Tools::new()
//!     .with(builtin::ask_user())
//!     .with(builtin::calculator())
//!     .with(builtin::current_time())
//!     .with(builtin::note())
//!     .with(builtin::read_observation())
//!     .and(Files::open(folder.path())?.tools());
//! assert_eq!(tools.names().collect::<Vec<_>>(), builtin::NAMES);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calculator;
mod clock;
mod files;
mod note;
mod observation;
mod person;
// For the `enact` command, whose hooks are programs.
#[doc(hidden)]
pub mod process;
mod registry;
mod shell;
mod web;

pub use calculator::{CalculatorError, calculator, evaluate};
pub use clock::current_time;
pub use files::{FileChange, Files, FilesError};
pub use note::note;
pub use observation::read_observation;
pub use person::ask_user;
pub use registry::{FILE_TOOL_NAMES, NAMES, PickError, SET_UP_TOOL_NAMES, pick};
pub use shell::{Shell, ShellError};
pub use web::{HostError, Web};

use enact_core::ToolError;

/// Does blocking work where blocking is allowed. A panic is passed on to the caller.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    enact_core::__private::blocking(work).await?
}
