//! Signature-driven ReAct agents: declare what goes in and what must come out, hand over tools, and
//! get an agent that thinks, acts and observes until the declared outputs are committed.
//!
//! ```
//! use enact::model::{ScriptedModel, call};
//! use enact::{ReAct, Signature, ToolError, tool, tools};
//! use serde_json::json;
//!
//! /// Answer the question with the tools at hand.
//! #[derive(Signature)]
//! struct Weather {
//!     #[input]
//!     question: String,
//!     #[output]
//!     answer: String,
//!     /// Degrees Celsius.
//!     #[output]
//!     celsius: f64,
//! }
//!
//! /// Current weather in a city.
//! #[tool(read_only)]
//! async fn weather(
//!     /// City name, such as "Paris".
//!     city: String,
//! ) -> Result<String, ToolError> {
//!     Ok(format!("{city}: 20 °C, light wind"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), enact::Error> {
//! // A script stands for the model here; `model::OpenAi` asks a real one.
//! let model = ScriptedModel::new([
//!     call("weather", json!({"city": "Paris"})).thinking("I look it up."),
//!     call("submit", json!({"answer": "It is mild.", "celsius": 20})),
//! ]);
//! let agent = ReAct::<Weather>::new(tools![weather])?.with_model(model);
//! let input = WeatherInput { question: "Weather in Paris?".into() };
//! let done = agent.call(input).await?.finished()?;
//! assert_eq!(done.celsius, 20.0);
//! assert_eq!(done.trajectory().steps()[0].tool_name, "weather");
//! # Ok(())
//! # }
//! ```
//!
//! # What is where
//!
//! | module | what it holds |
//! | --- | --- |
//! | the root | [`ReAct`], [`Predict`], [`ChainOfThought`]; what a call takes ([`Call`]) and gives ([`Outcome`], [`Prediction`], [`Paused`], [`Error`]) |
//! | [`signature`](mod@signature) | fields, types, arrow strings, checks of values |
//! | [`tool`](mod@tool) | what an agent can do: [`Tool`], [`FnTool`], what a running call knows |
//! | [`model`] | whom it asks: [`LanguageModel`], the OpenAI-compatible client, retries, the scripted model |
//! | [`adapter`] | how tasks are put into words, and replies read |
//! | [`run`] | the log of a run, and its views: history, trajectory, questions |
//! | [`predictor`] | the inner requests of a module, demonstrations, saved state |
//! | [`telemetry`] | the spans of a run, for `tracing` and OpenTelemetry |
//! | [`react`] | the pure core: what a run does next, as a function of its log |
//!
//! Macros: [`derive@Signature`], [`signature!`], [`macro@tool`], [`macro@toolbox`], [`tools!`],
//! [`values!`].
//!
//! # How to
//!
//! - **Ask a model once**, without tools: [`Predict`]; after reasoning: [`ChainOfThought`].
//! - **Go on a conversation**: [`Call::history`] with the [`Prediction::history`] of an earlier call.
//! - **Ask a person first**: `#[tool(require_confirmation)]`. The call ends in [`Outcome::Paused`];
//!   [`ReAct::resume`] takes it up with a [`Decision`], in another process if need be.
//! - **Go on after a failure**: every [`Error`] carries its run ([`Error::into_run`]), and
//!   [`ReAct::resume`] goes on from there.
//! - **Set the model and the adapter** for a scope or the program: [`scope`], [`configure`].
//! - **Watch** a run: [`Call::on_update`].
//! - **Test** without a model: [`model::ScriptedModel`], or [`model::Replaying`] what one said.
//!
//! The book in the `docs` folder of the repository has a guide, the concepts, and a reference; the
//! `examples` folder of this crate has a program for each of these.
//!
//! # Features
//!
//! `openai` and `anthropic` (the HTTP clients) and `builtin-tools` (calculator, clock, notes, files, commands, pages) are on by default.
//! Without them there is no HTTP in the dependency tree.

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
pub mod telemetry;
pub mod tool;

pub use adapter::{AdapterChoice, Completion};
pub use driver::{Listener, Update};
pub use enact_macros::{Signature, signature, tool, toolbox};
pub use error::{Error, ErrorKind};
pub use model::LanguageModel;
pub use module::{
    AgentTool, Call, ChainOfThought, Confirmations, HandOver, Outcome, PauseContext, Paused,
    Predict, Prediction, ReAct, RunStream,
};
pub use predictor::Demo;
pub use react::Verdict;
pub use run::{Decision, History, Question, Run, TerminationReason};
pub use settings::{Settings, configure, scope, secrets};
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
        // What the function does belongs to the span of its call.
        let span = tracing::Span::current();
        match tokio::task::spawn_blocking(move || span.in_scope(function)).await {
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

/// Every snippet in the README and the book is compiled, and run unless it needs a server.
#[cfg(all(doctest, feature = "openai", feature = "builtin-tools"))]
mod book {
    macro_rules! pages {
        ($($name:ident: $path:literal),* $(,)?) => {
            $(#[doc = include_str!(concat!("../../../", $path))] struct $name;)*
        };
    }

    pages! {
        Readme: "README.md",
        GuideFirstAgent: "docs/guide/first-agent.md",
        GuideTools: "docs/guide/tools.md",
        GuideApproval: "docs/guide/approval.md",
        GuideFollowUps: "docs/guide/follow-ups.md",
        GuideStreaming: "docs/guide/streaming.md",
        GuideTesting: "docs/guide/testing.md",
        GuideErrors: "docs/guide/errors.md",
        ConceptsSignatures: "docs/concepts/signatures.md",
        ConceptsAdapters: "docs/concepts/adapters.md",
        ConceptsRuns: "docs/concepts/runs.md",
        ConceptsLimitsAndEndings: "docs/concepts/limits-and-endings.md",
        ConceptsPromises: "docs/concepts/promises.md",
        ReferenceArrowGrammar: "docs/reference/arrow-grammar.md",
        ReferenceLogFormat: "docs/reference/log-format.md",
        ReferenceSettings: "docs/reference/settings.md",
        ComingFromDspy: "docs/coming-from/dspy.md",
        ComingFromUdspy: "docs/coming-from/udspy.md",
        ComingFromLangGraph: "docs/coming-from/langgraph.md",
    }
}
