//! What a [`tracing`](https://docs.rs/tracing) subscriber sees of a run.
//!
//! Each call or resumption of a module is a span `invoke_agent`; inside it, each request to a
//! model is a span `chat` and each tool call a span `execute_tool`. The work of a tool happens inside
//! its span, so an agent that a tool calls is nested below that tool. All spans have the target
//! [`TARGET`] and the level `INFO`, and their fields follow OpenTelemetry's conventions for
//! generative AI. Without a subscriber, spans cost nothing.
//!
//! Prompts, thoughts, arguments, observations and outputs are left out unless
//! [`Settings::content_in_spans`](crate::Settings::content_in_spans) or the variable
//! [`CAPTURE_VARIABLE`] includes them. Keys never appear in a span.

/// The target of all spans of enact.
pub const TARGET: &str = "enact";

/// The environment variable that includes content in spans if set to `true`.
pub const CAPTURE_VARIABLE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// `invoke_agent`, `chat` or `execute_tool`.
pub const OPERATION: &str = "gen_ai.operation.name";
/// The name of the signature, if it has one.
pub const AGENT_NAME: &str = "gen_ai.agent.name";
/// The run: the same in all of its spans, before and after a pause.
pub const RUN: &str = "gen_ai.conversation.id";
/// The provider of the model.
pub const PROVIDER: &str = "gen_ai.provider.name";
/// The model.
pub const MODEL: &str = "gen_ai.request.model";
/// The sampling temperature, if it is set.
pub const TEMPERATURE: &str = "gen_ai.request.temperature";
/// The token limit of the reply, if it is set.
pub const MAX_TOKENS: &str = "gen_ai.request.max_tokens";
/// The seed, if it is set.
pub const SEED: &str = "gen_ai.request.seed";
/// `text` or `json`.
pub const OUTPUT_TYPE: &str = "gen_ai.output.type";
/// Why the model stopped. A list in the conventions; one word in the span.
pub const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// Input tokens; for an agent, those of its requests in this span.
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Output tokens.
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// Input tokens read from the provider's cache.
pub const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// Tokens spent on reasoning.
pub const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
/// The tool.
pub const TOOL_NAME: &str = "gen_ai.tool.name";
/// The id of the call, as in the log.
pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// `function`.
pub const TOOL_TYPE: &str = "gen_ai.tool.type";
/// The error as one word.
pub const ERROR_TYPE: &str = "error.type";
/// The host of the model's server.
pub const SERVER_ADDRESS: &str = "server.address";
/// The port of the model's server.
pub const SERVER_PORT: &str = "server.port";

/// The signature as an arrow string.
pub const SIGNATURE: &str = "enact.signature";
/// The predictor that asks the model: `step`, `extract`, `summarise`, `judge` or `condense`.
pub const PREDICTOR: &str = "enact.predictor";
/// The cost of an agent's requests in this span, if prices are known.
pub const COST: &str = "enact.run.cost";
/// How the work on a run ended: a termination reason, `paused` or `interrupted`.
pub const ENDING: &str = "enact.run.ending";

/// Content: the system part of a prompt, as JSON.
pub const SYSTEM_INSTRUCTIONS: &str = "gen_ai.system_instructions";
/// Content: the input messages, as JSON.
pub const INPUT_MESSAGES: &str = "gen_ai.input.messages";
/// Content: the output messages, as JSON.
pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
/// Content: the arguments of a tool call, as JSON.
pub const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// Content: the observation.
pub const TOOL_RESULT: &str = "gen_ai.tool.call.result";

/// The fields with content.
pub const CONTENT: [&str; 5] = [
    SYSTEM_INSTRUCTIONS,
    INPUT_MESSAGES,
    OUTPUT_MESSAGES,
    TOOL_ARGUMENTS,
    TOOL_RESULT,
];

// Used by the bridge from tracing to OpenTelemetry.
pub(crate) const SPAN_NAME: &str = "otel.name";
pub(crate) const SPAN_KIND: &str = "otel.kind";
pub(crate) const STATUS: &str = "otel.status_code";
pub(crate) const STATUS_TEXT: &str = "otel.status_description";
