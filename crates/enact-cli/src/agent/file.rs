//! What can be written into an agent file. The JSON Schema of the file is made from these types, so
//! their comments are what editors show.

use std::path::PathBuf;

use enact::model::Prices;
use enact::tool::Confirmation;
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::{Asking, HookArgs, LimitArgs, PartArgs, Reasoning, Replies, RuleArgs, ToolArgs};
use crate::mcp::Listed;

/// An agent of enact: what goes in, what must come out, whom it asks, what it may do. Paths are
/// relative to the file.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "agent.toml", deny_unknown_fields)]
pub(super) struct AgentFile {
    /// What goes in and what must come out: an arrow string such as "question, k: int = 3 -> answer",
    /// or the tables `inputs` and `outputs`.
    pub(super) signature: SignatureEntry,
    /// Types by name, for the types of fields and for each other.
    #[serde(default)]
    pub(super) types: IndexMap<String, TypeEntry>,
    /// What the agent is for, told to those who may call it as a tool.
    pub(super) description: Option<String>,
    /// What to do, in your words, instead of the default instructions.
    pub(super) instructions: Option<String>,
    /// The model to ask, PROVIDER::MODEL or a name on the server of `base_url`; of a list, the later
    /// ones are asked when those before them fail.
    pub(super) model: Option<OneOrMore>,
    #[serde(flatten)]
    pub(super) asking: Asking,
    #[serde(flatten)]
    pub(super) reasoning: Reasoning,
    #[serde(flatten)]
    pub(super) replies: Replies,
    #[serde(flatten)]
    pub(super) own: ToolArgs,
    /// Variables of the environment whose values are kept out of runs, recordings and traces, beside
    /// keys of providers and those that ENACT_SECRETS names.
    #[serde(default)]
    #[schemars(extend("items" = {"type": "string", "format": "variable"}))]
    pub(super) secrets: Vec<String>,
    /// Whether a person is asked before the calls of a tool, whatever the tool says of itself.
    #[serde(default)]
    #[schemars(
        with = "IndexMap<String, Value>",
        extend("additionalProperties" = {"type": "string", "enum": ["always", "never"]})
    )]
    pub(super) approval: IndexMap<String, Confirmation>,
    /// How far a run may go.
    #[serde(default)]
    pub(super) limits: LimitArgs,
    /// By which rules a run thinks and ends.
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
    /// MCP servers whose tools are handed over, by name.
    #[serde(default)]
    pub(super) mcp: IndexMap<String, Listed>,
    /// Worked examples that are shown before each task.
    #[serde(default)]
    pub(super) demos: Vec<DemoEntry>,
    /// Agents that this one may call, each a tool of its name.
    #[serde(default)]
    pub(super) agents: IndexMap<String, MemberEntry>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum SignatureEntry {
    /// An arrow string.
    Arrow(String),
    /// Fields by name.
    Fields(FieldsEntry),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FieldsEntry {
    /// What goes in.
    pub(super) inputs: IndexMap<String, FieldEntry>,
    /// What must come out.
    pub(super) outputs: IndexMap<String, FieldEntry>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum FieldEntry {
    /// The type alone, such as "list[str]".
    Type(String),
    /// A type with more about it.
    Whole(WholeField),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WholeField {
    /// A type as in an arrow string; `str` unless given.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// What the field means.
    pub(super) description: Option<String>,
    /// The value where none is given.
    pub(super) default: Option<Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum TypeEntry {
    /// A type as in an arrow string, such as "list[str]" or '"good" | "bad"'.
    Type(String),
    /// An object: its properties by name. The name of one that may be left out ends with `?`.
    Object(IndexMap<String, PropertyEntry>),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum PropertyEntry {
    /// The type alone, such as "list[str]".
    Type(String),
    /// A type with more about it.
    Whole(WholeProperty),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WholeProperty {
    /// A type as in an arrow string [default: str].
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// What the property means.
    pub(super) description: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum OneOrMore {
    /// One.
    One(#[schemars(length(min = 1), extend("format" = "model"))] String),
    /// The first one, and what is tried after it.
    More(
        #[schemars(length(min = 1), extend("items" = {"type": "string", "minLength": 1, "format": "model"}))]
         Vec<String>,
    ),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DemoEntry {
    /// What goes in.
    pub(super) inputs: serde_json::Map<String, Value>,
    /// What comes out.
    pub(super) outputs: serde_json::Map<String, Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MemberEntry {
    /// The agent file of it.
    pub(super) file: PathBuf,
    /// When to call it; what its own file says unless given.
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
                "input": price("Tokens read."),
                "cached_input": price(
                    "Tokens read from the prompt cache; the price of `input` unless given."
                ),
                "output": price("Tokens written."),
            },
            "required": ["input", "output"],
        },
    })
}
