//! enact

// The macros write `::enact`, also where enact itself uses them.
extern crate self as enact;

pub mod adapter;
mod driver;
mod error;
pub mod model;
mod module;
pub mod predictor;
pub mod react;
pub mod run;
mod settings;
pub mod signature;
pub mod tool;

pub use adapter::{AdapterChoice, Completion};
pub use driver::{Listener, Update};
pub use enact_macros::{Signature, signature, tool, toolbox};
pub use error::{Error, ErrorKind};
pub use model::LanguageModel;
pub use module::{Call, ChainOfThought, Outcome, Paused, Predict, Prediction, ReAct};
pub use predictor::Demo;
pub use run::{Decision, History, Question, Run, TerminationReason};
pub use settings::{Settings, configure, scope};
pub use signature::{Dynamic, Field, Signature, Type, TypedSignature, Values};
pub use tokio_util::sync::CancellationToken;
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
        $crate::Tools::new()$(.with(<$tool as ::core::default::Default>::default()))*
    };
}

/// Values by field name: `values! { question: "Why?", k: 3 }`.
#[macro_export]
macro_rules! values {
    ($($name:ident : $value:expr),* $(,)?) => {
        $crate::Values::from_iter([$((
            ::std::string::String::from(::core::stringify!($name)),
            $crate::__private::serde_json::json!($value),
        )),*])
    };
}
