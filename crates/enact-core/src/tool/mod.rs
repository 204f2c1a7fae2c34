//! Tools: what an agent can do.
//!
//! A [`Tool`] has a description ([`ToolSpec`]) and an implementation. Write one with `#[tool]`, from a
//! closure ([`FnTool`]) or by hand; only drivers call it, after validating the arguments.

mod confirmation;
mod context;
mod environment;
mod error;
mod function;
mod identity;
pub(crate) mod nanos;
mod output;
mod set;
mod spec;
mod toolbox;

use std::fmt;

use enact_signature::Values;
use futures_util::future::BoxFuture;

pub(crate) use confirmation::asks;
pub use confirmation::{Confirmation, ConfirmationRule};
pub use context::{Progress, ToolContext};
pub use environment::Environment;
pub use error::ToolError;
pub use function::{FnTool, parameters_of, read_args};
pub use output::{IntoToolResult, ToolOutput};
pub(crate) use set::check_names;
pub use set::{ToolSetError, Tools};
pub use spec::{Effect, ToolSpec};
pub use toolbox::Toolbox;

/// The future of one tool call.
pub type ToolFuture<'a> = BoxFuture<'a, Result<ToolOutput, ToolError>>;

/// A tool of an agent. Implemented by `#[tool]`, [`FnTool`] and by hand; called by drivers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "put `#[tool]` on the function, or wrap a closure with `FnTool::new`"
)]
pub trait Tool: Send + Sync {
    /// The name, arguments and effect of the tool. Must not change between
    /// calls.
    fn spec(&self) -> &ToolSpec;

    /// Whether a person has to agree to a call with these arguments. Asked of a tool whose spec says
    /// [`Confirmation::When`], before the call is recorded; the answer is recorded with it.
    fn needs_confirmation(&self, args: &Values) -> bool {
        let _ = args;
        true
    }

    /// Does it. The arguments satisfy the spec's schema.
    fn call<'a>(&'a self, args: Values, context: ToolContext) -> ToolFuture<'a>;

    /// Releases a call that was started and won't be continued, because the run was cancelled or its
    /// time is up. For tools that keep state for it outside this process. The time limit is ten
    /// seconds.
    fn abandon<'a>(&'a self, context: ToolContext) -> BoxFuture<'a, ()> {
        let _ = context;
        Box::pin(std::future::ready(()))
    }
}

impl fmt::Debug for dyn Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tool").field(&self.spec().name).finish()
    }
}
