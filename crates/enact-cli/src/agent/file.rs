//! The contents of an agent file. The JSON Schema of the file is generated from these types, so
//! editors show their comments.

use std::path::PathBuf;

use enact::model::Prices;
use enact::tool::Confirmation;
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::{Asking, HookArgs, LimitArgs, PartArgs, Reasoning, Replies, RuleArgs, ToolArgs};
use crate::mcp::Listed;

/// An enact agent: its inputs and outputs, model, tools and limits. Paths are relative to the
/// file.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "agent.toml", deny_unknown_fields)]
pub(super) struct AgentFile {
    /// Inputs and outputs: an arrow string such as "question, k: int = 3 -> answer", or the tables
    /// `inputs` and `outputs`.
    pub(super) signature: SignatureEntry,
    /// Named types, for fields and for each other.
    #[serde(default)]
    pub(super) types: IndexMap<String, TypeEntry>,
    /// What the agent does, for callers that use it as a tool.
    pub(super) description: Option<String>,
    /// Instructions for the model [default: generated from the field names].
    pub(super) instructions: Option<String>,
    /// Model: PROVIDER::MODEL, or the name of a model on the server of `base_url`. A list adds fallback
    /// models, tried in order.
    pub(super) model: Option<OneOrMore>,
    #[serde(flatten)]
    pub(super) asking: Asking,
    #[serde(flatten)]
    pub(super) reasoning: Reasoning,
    #[serde(flatten)]
    pub(super) replies: Replies,
    #[serde(flatten)]
    pub(super) own: ToolArgs,
    /// Environment variables whose values are kept out of runs, recordings and traces, besides provider
    /// keys and the variables in ENACT_SECRETS.
    #[serde(default)]
    #[schemars(extend("items" = {"type": "string", "format": "variable"}))]
    pub(super) secrets: Vec<String>,
    /// Whether a person is asked before a tool is called, whatever the tool itself requires.
    #[serde(default)]
    #[schemars(
        with = "IndexMap<String, Value>",
        extend("additionalProperties" = {"type": "string", "enum": ["always", "never"]})
    )]
    pub(super) approval: IndexMap<String, Confirmation>,
    /// Limits of a run.
    #[serde(default)]
    pub(super) limits: LimitArgs,
    /// Rules for how a run thinks and ends.
    #[serde(default)]
    pub(super) rules: RuleArgs,
    #[serde(flatten)]
    pub(super) parts: PartArgs,
    /// Commands that check calls and end runs.
    #[serde(default)]
    pub(super) hooks: HookArgs,
    /// What a million tokens of a model cost, instead of the built-in prices.
    #[serde(default)]
    #[schemars(schema_with = "prices")]
    pub(super) prices: Prices,
    /// MCP servers to use tools from, by name.
    #[serde(default)]
    pub(super) mcp: IndexMap<String, Listed>,
    /// Worked examples that are shown before each task.
    #[serde(default)]
    pub(super) demos: Vec<DemoEntry>,
    /// Agents that this agent can call, each as a tool with its name.
    #[serde(default)]
    pub(super) agents: IndexMap<String, MemberEntry>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum SignatureEntry {
    /// An arrow string.
    Arrow(String),
    /// Inputs and outputs by name.
    Fields(FieldsEntry),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FieldsEntry {
    /// Inputs of the agent.
    pub(super) inputs: IndexMap<String, FieldEntry>,
    /// Outputs of the agent.
    pub(super) outputs: IndexMap<String, FieldEntry>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum FieldEntry {
    /// Only the type, such as "list[str]".
    Type(String),
    /// A type with further settings.
    Whole(WholeField),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WholeField {
    /// Type, as in an arrow string [default: str].
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// What the field means.
    pub(super) description: Option<String>,
    /// Default value.
    pub(super) default: Option<Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum TypeEntry {
    /// A type as in an arrow string, such as "list[str]" or '"good" | "bad"'.
    Type(String),
    /// An object: its properties by name. A name that ends with `?` is optional.
    Object(IndexMap<String, PropertyEntry>),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum PropertyEntry {
    /// Only the type, such as "list[str]".
    Type(String),
    /// A type with further settings.
    Whole(WholeProperty),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WholeProperty {
    /// Type, as in an arrow string [default: str].
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// What the property means.
    pub(super) description: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum OneOrMore {
    /// A single value.
    One(#[schemars(length(min = 1), extend("format" = "model"))] String),
    /// The first choice, then fallbacks in order.
    More(
        #[schemars(length(min = 1), extend("items" = {"type": "string", "minLength": 1, "format": "model"}))]
         Vec<String>,
    ),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DemoEntry {
    /// Values of the inputs.
    pub(super) inputs: serde_json::Map<String, Value>,
    /// Values of the outputs.
    pub(super) outputs: serde_json::Map<String, Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MemberEntry {
    /// Agent file.
    pub(super) file: PathBuf,
    /// When to call the agent [default: the description in its own file].
    pub(super) description: Option<String>,
}

fn prices(_: &mut SchemaGenerator) -> Schema {
    let price = |about: &str| json!({"type": "number", "minimum": 0, "description": about});
    json_schema!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "input": price("Input tokens."),
                "cached_input": price(
                    "Input tokens read from the prompt cache [default: the price of `input`]."
                ),
                "output": price("Output tokens."),
            },
            "required": ["input", "output"],
        },
    })
}
