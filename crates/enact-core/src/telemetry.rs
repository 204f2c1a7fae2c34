//! What a [`tracing`](https://docs.rs/tracing) subscriber sees of a run.
//!
//! Every call or resumption of a module is a span `invoke_agent`; inside it, every request to a
//! model is a span `chat` and every tool call a span `execute_tool`. What a tool does happens inside
//! its span, so an agent that is called by a tool hangs below that tool. All spans have the target
//! [`TARGET`] and the level `INFO`, and their fields are named after OpenTelemetry's conventions for
//! generative AI. Nothing is done when nobody listens.
//!
//! Prompts, thoughts, arguments, observations and outputs are left out unless
//! [`Settings::content_in_spans`](crate::Settings::content_in_spans) or the variable
//! [`CAPTURE_VARIABLE`] says otherwise. Keys are never in a span.

/// The target of every span of enact.
pub const TARGET: &str = "enact";

/// The environment variable that puts content into spans, if it is `true`.
pub const CAPTURE_VARIABLE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// `invoke_agent`, `chat` or `execute_tool`.
pub const OPERATION: &str = "gen_ai.operation.name";
/// The name of the signature, if it has one.
pub const AGENT_NAME: &str = "gen_ai.agent.name";
/// The run: the same in every span of it, before and after a pause.
pub const RUN: &str = "gen_ai.conversation.id";
/// Who serves the model.
pub const PROVIDER: &str = "gen_ai.provider.name";
/// The model that is asked.
pub const MODEL: &str = "gen_ai.request.model";
/// The sampling temperature, if it is set.
pub const TEMPERATURE: &str = "gen_ai.request.temperature";
/// The bound on the reply's tokens, if it is set.
pub const MAX_TOKENS: &str = "gen_ai.request.max_tokens";
/// The seed, if it is set.
pub const SEED: &str = "gen_ai.request.seed";
/// `text` or `json`.
pub const OUTPUT_TYPE: &str = "gen_ai.output.type";
/// Why the model stopped writing. A list by the conventions; one word in the span.
pub const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// Tokens read. Of an agent: by its requests in this span.
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Tokens written.
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// Tokens read from the provider's cache.
pub const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// Tokens spent on reasoning.
pub const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
/// The tool.
pub const TOOL_NAME: &str = "gen_ai.tool.name";
/// The call, as the model and the log know it.
pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// `function`.
pub const TOOL_TYPE: &str = "gen_ai.tool.type";
/// What went wrong, as one word.
pub const ERROR_TYPE: &str = "error.type";
/// The host of the model's server.
pub const SERVER_ADDRESS: &str = "server.address";
/// Its port.
pub const SERVER_PORT: &str = "server.port";

/// The signature as an arrow string.
pub const SIGNATURE: &str = "enact.signature";
/// Who asks the model: `step`, `extract`, `summarise`, `judge` or `condense`.
pub const PREDICTOR: &str = "enact.predictor";
/// What the requests of an agent in this span cost, if prices are known.
pub const COST: &str = "enact.run.cost";
/// How the work on a run ended: a termination reason, `paused` or `interrupted`.
pub const ENDING: &str = "enact.run.ending";

/// Content: the system part of a prompt, as JSON.
pub const SYSTEM_INSTRUCTIONS: &str = "gen_ai.system_instructions";
/// Content: what goes in, as JSON.
pub const INPUT_MESSAGES: &str = "gen_ai.input.messages";
/// Content: what comes out, as JSON.
pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
/// Content: the arguments of a tool call, as JSON.
pub const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// Content: the observation.
pub const TOOL_RESULT: &str = "gen_ai.tool.call.result";

/// The fields that hold content.
pub const CONTENT: [&str; 5] = [
    SYSTEM_INSTRUCTIONS,
    INPUT_MESSAGES,
    OUTPUT_MESSAGES,
    TOOL_ARGUMENTS,
    TOOL_RESULT,
];

// Understood by the bridge from tracing to OpenTelemetry.
pub(crate) const SPAN_NAME: &str = "otel.name";
pub(crate) const SPAN_KIND: &str = "otel.kind";
pub(crate) const STATUS: &str = "otel.status_code";
pub(crate) const STATUS_TEXT: &str = "otel.status_description";
