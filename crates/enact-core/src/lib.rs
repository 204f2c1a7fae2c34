//! The core of enact, without HTTP, SQL or tools of its own: signatures, the traits of models and
//! tools, adapters, the log of a run, the pure core, and the loop that drives it.
//!
//! Programs use the crate [`enact`](https://docs.rs/enact), which exports everything here under the same
//! paths, with provider clients and built-in tools. Use this crate if you only need the types: for
//! stores, providers, tools and other extensions of enact.
//!
//! # Modules
//!
//! | module | contents |
//! | --- | --- |
//! | the root | [`ReAct`], [`Predict`], [`ChainOfThought`]; a call ([`Call`]) and its result ([`Outcome`], [`Prediction`], [`Paused`], [`Error`]) |
//! | [`signature`](mod@signature) | fields, types, arrow strings, validation of values |
//! | [`tool`](mod@tool) | tools: [`Tool`], [`FnTool`], the context of a call |
//! | [`model`] | models: [`LanguageModel`], retries and other wrappers, the scripted model |
//! | [`adapter`] | converts tasks to prompts, and parses replies |
//! | [`run`] | the log of a run, and its views: history, trajectory, questions |
//! | [`predictor`] | the inner requests of a module, demonstrations, saved state |
//! | [`telemetry`] | the spans of a run, for `tracing` and OpenTelemetry |
//! | [`react`] | the pure core: what a run does next, as a function of its log |
//! | [`driver`] | the loop, and the interface to the outside world that an engine implements |

// The macros name this crate from outside, and also use that name inside it.
extern crate self as enact_core;

pub mod adapter;
pub mod driver;
mod error;
mod lean;
pub mod model;
pub mod module;
pub mod predictor;
pub mod react;
pub mod run;
mod settings;
pub mod signature;
pub mod telemetry;
mod time;
pub mod tool;

pub use adapter::{AdapterChoice, Completion};
pub use driver::{Listener, Update};
pub use enact_macros::{Signature, signature, tool, toolbox};
pub use error::{Error, ErrorKind};
pub use model::LanguageModel;
pub use module::{
    AgentTool, Builder, Call, ChainOfThought, Confirmations, HandOver, Module, ModuleTool, Outcome,
    PauseContext, Paused, Predict, Prediction, ReAct, ResumeCall, ResumeStoredCall, RunStream,
};
pub use predictor::Demo;
pub use react::Verdict;
pub use run::{Decision, History, Question, Run, TerminationReason};
pub use settings::{Settings, configure, scope, secrets};
pub use signature::{Dynamic, Field, Signature, Type, TypedSignature, Values};
pub use time::{Timestamp, TimestampError};
pub use tokio_util::sync::CancellationToken;
pub use tool::{FnTool, Tool, ToolContext, ToolError, ToolOutput, Tools};

/// What the macros expand to, and what the other crates of enact share. Not for users.
#[doc(hidden)]
pub mod __private {
    pub use crate::model::private::open as open_private;
    pub use crate::signature::field_type;
    pub use crate::tool::{IntoToolResult, ToolFuture, parameters_of, read_args};
    pub use {enact_signature, schemars, serde, serde_json};

    use crate::signature::Values;
    use crate::tool::ToolError;

    /// What a rule says of a call.
    pub fn asks(rule: impl Fn(&Values) -> bool, args: &Values) -> bool {
        rule(args)
    }

    /// Runs a function that may block where blocking is allowed.
    pub async fn blocking<T: Send + 'static>(
        function: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        // The work of the function belongs to the span of its call.
        let span = tracing::Span::current();
        match tokio::task::spawn_blocking(move || span.in_scope(function)).await {
            Ok(value) => Ok(value),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(ToolError::new("the call was cancelled")),
        }
    }
}

/// Creates a set of tools from `#[tool]` functions.
#[macro_export]
macro_rules! tools {
    ($($tool:path),* $(,)?) => {
        $crate::Tools::new()$(.with(<$tool as ::core::default::Default>::default()))*
    };
}

/// Creates values by field name: `values! { question: "Why?", k: 3 }`.
#[macro_export]
macro_rules! values {
    ($($name:ident : $value:expr),* $(,)?) => {
        $crate::Values::from_iter([$((
            ::std::string::String::from(::core::stringify!($name)),
            $crate::__private::serde_json::json!($value),
        )),*])
    };
}
