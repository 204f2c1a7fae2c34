//! enact

pub mod adapter;
pub mod model;
pub mod run;
pub mod signature;
pub mod tool;

pub use signature::{Dynamic, TypedSignature};
pub use tool::{FnTool, Tool, ToolContext, ToolError, ToolOutput, Tools};

/// What the macros expand to. Not for users.
#[doc(hidden)]
pub mod __private {
    pub use crate::signature::field_type;
    pub use crate::tool::{IntoToolResult, ToolFuture, parameters_of, read_args};
    pub use {enact_signature, schemars, serde, serde_json};

    use crate::tool::ToolError;

    /// Runs a function that may block where blocking is allowed.
    pub async fn blocking<T: Send + 'static>(
        function: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        match tokio::task::spawn_blocking(function).await {
            Ok(value) => Ok(value),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(ToolError::new("the call was cancelled")),
        }
    }
}

/// A set of the tools of these `#[tool]` functions.
#[macro_export]
macro_rules! tools {
    ($($tool:path),* $(,)?) => {
        $crate::Tools::new()$(.with($tool {}))*
    };
}
