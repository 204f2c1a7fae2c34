//! Signature-driven ReAct agents: declare inputs and outputs, add tools, and get an agent that thinks,
//! acts and observes until the declared outputs are committed.
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
//! // A script stands for the model here; `enact::model("anthropic::claude-sonnet-4-5")?` is a real one.
//! let model = ScriptedModel::new([
//!     call("weather", json!({"city": "Paris"})).thinking("I look it up."),
//!     call("submit", json!({"answer": "It is mild.", "celsius": 20})),
//! ]);
//! let agent = ReAct::builder_for::<Weather>().tools(tools![weather]).model(model).build()?;
//! let input = WeatherInput { question: "Weather in Paris?".into() };
//! let done = agent.call(input).await?.finished()?;
//! assert_eq!(done.celsius, 20.0);
//! assert_eq!(done.trajectory().steps()[0].tool_name, "weather");
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//!
//! | module | contents |
//! | --- | --- |
//! | the root | [`ReAct`], [`Predict`], [`ChainOfThought`]; a call ([`Call`]) and its result ([`Outcome`], [`Prediction`], [`Paused`], [`Error`]) |
//! | [`signature`](mod@signature) | fields, types, arrow strings, validation of values |
//! | [`tool`](mod@tool) | tools: [`Tool`], [`FnTool`], the context of a call |
//! | [`model`](mod@model) | models: [`LanguageModel`], provider clients, retries, the scripted model |
//! | [`adapter`] | converts tasks to prompts, and parses replies |
//! | [`run`] | the log of a run, and its views: history, trajectory, questions |
//! | [`predictor`] | the inner requests of a module, demonstrations, saved state |
//! | [`telemetry`] | the spans of a run, for `tracing` and OpenTelemetry |
//! | [`react`] | the pure core: what a run does next, as a function of its log |
//! | [`driver`] | the loop, and the interface to the outside world that an engine implements |
//!
//! Use a provider's model by its name with [`model()`]. `use enact::prelude::*` imports what most
//! programs need, see [`prelude`].
//!
//! Macros: [`derive@Signature`], [`signature!`], [`macro@tool`], [`macro@toolbox`], [`tools!`],
//! [`values!`].
//!
//! # How to
//!
//! - **Ask a model once**, without tools: [`Predict`]; after reasoning: [`ChainOfThought`].
//! - **Continue a conversation**: [`Call::history`] with the [`Prediction::history`] of an earlier call.
//! - **Ask a person first**: `#[tool(require_confirmation)]`. The call ends in [`Outcome::Paused`];
//!   [`ReAct::resume`] resumes it with a [`Decision`], in another process if needed.
//! - **Resume after a failure**: every [`Error`] carries its run ([`Error::into_run`]), which
//!   [`ReAct::resume`] continues.
//! - **Set the model and the adapter** for a scope or the program: [`scope`], [`configure`].
//! - **Follow** a run: [`Call::on_update`].
//! - **Test** without a model: [`model::ScriptedModel`], or a recording with [`model::Replaying`].
//!
//! The [book](crate::docs) has a guide, the concepts and a reference. The `examples` directory of this
//! crate has a program for each of these.
//!
//! # Features
//!
//! | feature | adds | default |
//! | --- | --- | --- |
//! | `providers` | models of hosted providers, and of servers with OpenAI's or Anthropic's protocol: [`providers`] | on |
//! | `tools` | calculator, clock, notes, files, commands, pages: [`tool::builtin`] | on |
//! | `sqlite` | a store of runs in one SQLite file: `enact::sqlite` | off |
//! | `mcp` | tools of MCP servers, and agents as MCP tools: `enact::mcp` | off |
//!
//! Without these features, there is no HTTP in the dependency tree.

#[doc(inline)]
pub use enact_core::*;
#[cfg(feature = "mcp")]
pub use enact_mcp as mcp;
#[cfg(feature = "providers")]
pub use enact_providers as providers;
#[cfg(feature = "providers")]
#[doc(inline)]
pub use enact_providers::model;
#[cfg(feature = "sqlite")]
pub use enact_sqlite as sqlite;

/// Language models: requests, replies and errors; and the clients of
/// providers.
pub mod model {
    #[doc(inline)]
    pub use enact_core::model::*;
    #[cfg(feature = "providers")]
    #[doc(inline)]
    pub use enact_providers::{Anthropic, OpenAi, WithCapabilities, anthropic, openai, probe};
}

/// Tools: what an agent can do.
pub mod tool {
    #[doc(inline)]
    pub use enact_core::tool::*;
    #[cfg(feature = "tools")]
    #[doc(inline)]
    pub use enact_tools as builtin;
}

/// What most programs need: `use enact::prelude::*`.
///
/// ```
/// use enact::prelude::*;
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), enact::Error> {
/// let agent = ReAct::builder("question -> answer: int").tools(tools![add]).build()?;
/// # let _ = agent;
/// # Ok(())
/// # }
/// ```
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::{
        ChainOfThought, Decision, FnTool, LanguageModel, Outcome, Predict, ReAct, Signature,
        ToolContext, ToolError, Tools, signature, tool, toolbox, tools, values,
    };
}

#[cfg(all(any(doc, doctest), feature = "providers", feature = "tools"))]
pub mod docs;
