//! What can be written into an agent file. The JSON Schema of the file is made from these types, so
//! their comments are what editors show.

use std::path::PathBuf;

use enact::tool::builtin::{NAMES, SET_UP_TOOL_NAMES};
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

/// An agent of enact: what goes in, what must come out, whom it asks, what it may do. Paths are
/// relative to the file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "agent.toml")]
pub(super) struct AgentFile {
    /// What goes in and what must come out: an arrow string such as "question, k: int = 3 -> answer",
    /// or the tables `inputs` and `outputs`.
    pub(super) signature: SignatureEntry,
    /// What the agent is for, told to those who may call it as a tool.
    pub(super) description: Option<String>,
    /// What to do, in your words, instead of the default instructions.
    pub(super) instructions: Option<String>,
    /// The model to ask, PROVIDER::MODEL or a name on the server of `base_url`; of a list, the later
    /// ones are asked when those before them fail.
    pub(super) model: Option<OneOrMore>,
    /// The server for models that are named without a provider: any that speaks OpenAI's chat
    /// completions.
    pub(super) base_url: Option<String>,
    /// How the task is put into words.
    pub(super) adapter: Option<AdapterName>,
    /// Whether it may be found out what the model can do, for the adapter `auto`; true unless given.
    pub(super) probe: Option<bool>,
    /// How the agent comes to its outputs: `submit` hands them in by a tool, `finish` has them
    /// extracted.
    pub(super) completion: Option<CompletionName>,
    /// Sampling temperature.
    #[schemars(range(min = 0))]
    pub(super) temperature: Option<f64>,
    /// How many tokens a reply may have; 8192 unless given, and no limit of ours at the hosted APIs of
    /// providers.
    #[schemars(range(min = 1))]
    pub(super) max_tokens: Option<u32>,
    /// How often a model may be asked in a minute.
    #[schemars(range(min = 1))]
    pub(super) requests_per_minute: Option<u32>,
    /// How many requests to a model may be under way at a time.
    #[schemars(range(min = 1))]
    pub(super) concurrent_requests: Option<u32>,
    /// A folder to keep replies in, which are given again to the same request.
    pub(super) cache: Option<PathBuf>,
    /// Built-in tools to hand over.
    #[serde(default)]
    #[schemars(schema_with = "tool_names")]
    pub(super) tools: Vec<String>,
    /// A folder to work in, and not to leave. Hands over all tools for files, unless `tools` names
    /// some of them.
    pub(super) files: Option<PathBuf>,
    /// What the tool `http_get` may read.
    pub(super) http_get: Option<PagesEntry>,
    /// Where and how the tool `shell` works. A person is asked before every command.
    pub(super) shell: Option<ShellEntry>,
    /// Variables of the environment whose values are kept out of runs, recordings and traces, beside
    /// keys of providers and those that ENACT_SECRETS names.
    #[serde(default)]
    pub(super) secrets: Vec<String>,
    /// Whether a person is asked before the calls of a tool, whatever the tool says of itself.
    #[serde(default)]
    pub(super) approval: IndexMap<String, Approval>,
    /// How far a run may go.
    #[serde(default)]
    pub(super) limits: LimitsEntry,
    /// By which rules a run thinks and ends.
    #[serde(default)]
    pub(super) rules: RulesEntry,
    /// What a million tokens of a model cost.
    #[serde(default)]
    pub(super) prices: IndexMap<String, PriceEntry>,
    /// MCP servers whose tools are handed over, by name.
    #[serde(default)]
    pub(super) mcp: IndexMap<String, ServerEntry>,
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
pub(super) enum OneOrMore {
    /// One.
    One(#[schemars(length(min = 1))] String),
    /// The first one, and what is tried after it.
    More(#[schemars(length(min = 1), inner(length(min = 1)))] Vec<String>),
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum AdapterName {
    Auto,
    Native,
    Json,
    Chat,
    Xml,
    Tagged,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CompletionName {
    Submit,
    Finish,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Approval {
    Always,
    Never,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PagesEntry {
    /// Hosts that may be read from: a name, `*.name` for all below it, `*` for any, with `:PORT` for
    /// another port than 80 and 443.
    #[schemars(length(min = 1))]
    pub(super) hosts: Vec<String>,
    /// Whether private addresses may be read from, too: this machine and its network.
    pub(super) private: Option<bool>,
    /// How long reading a page may take, redirects included; "20s" unless given.
    pub(super) timeout: Option<String>,
    /// How many bytes of a page are read at most; 500000 unless given.
    #[schemars(range(min = 1))]
    pub(super) max_bytes: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ShellEntry {
    /// The folder in which commands start.
    pub(super) folder: PathBuf,
    /// Variables that commands may see, beside PATH, HOME and the like.
    #[serde(default)]
    pub(super) env: Vec<String>,
    /// How long a command may take; "60s" unless given.
    pub(super) timeout: Option<String>,
    /// How many bytes of each output are shown, half from its beginning, half from its end; 20000
    /// unless given.
    #[schemars(range(min = 1))]
    pub(super) max_output: Option<u32>,
}

/// What is not given is as without the table.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsEntry {
    /// How many steps it may take before it has to answer; 10 unless given.
    #[schemars(range(min = 1))]
    pub(super) max_iterations: Option<u32>,
    /// How many replies in a row may be unreadable or call nothing that exists; 3 unless given.
    pub(super) max_repairs: Option<u32>,
    /// How many steps in a row may bring nothing new before it is warned, then ended; 3 unless given,
    /// 0 for any.
    pub(super) stall_threshold: Option<u32>,
    /// How many tokens of one observation it is shown; 2000 unless given, 0 for all.
    pub(super) max_observation_tokens: Option<u32>,
    /// How many tool calls may run.
    pub(super) max_tool_calls: Option<u32>,
    /// How many tokens may be read and written, the final answer included.
    #[schemars(range(min = 1))]
    pub(super) token_budget: Option<u64>,
    /// What the run may cost, by `prices`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub(super) cost_budget: Option<f64>,
    /// How long models and tools may work before it has to answer, such as "90s" or "5m"; "30m" unless
    /// given, "none" for no limit.
    pub(super) time_budget: Option<String>,
    /// How long a question may wait, such as "30m" or "2h"; after that the call is rejected.
    pub(super) answer_within: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RulesEntry {
    /// Words in a thought that say that the task is done.
    #[serde(default)]
    pub(super) success_phrases: Vec<String>,
    /// Words in a thought that say that the task cannot be done.
    #[serde(default)]
    pub(super) failure_phrases: Vec<String>,
    /// Whether a model says after each step that called tools if the task is done or cannot be done.
    pub(super) judges: Option<bool>,
    /// Whether a model summarises observations that are too large for a prompt.
    pub(super) condenses: Option<bool>,
    /// Whether a call of a read-only tool runs again although its answer is known.
    pub(super) reads_again: Option<bool>,
    /// What a thought before a call has to be.
    #[serde(default)]
    pub(super) thoughts: ThoughtsEntry,
    /// Which thoughts later prompts show: "all", "none", or { last = 3 }.
    pub(super) thoughts_in_context: Option<ThoughtsInContextEntry>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ThoughtsEntry {
    /// There.
    pub(super) required: Option<bool>,
    /// At least so many characters long.
    pub(super) min_length: Option<u32>,
    /// About the task, not just "I will use the tool".
    pub(super) substantive: Option<bool>,
    /// Another than the last one.
    pub(super) new: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ThoughtsInContextEntry {
    /// All of them or none.
    Word(ThoughtsWord),
    /// Those of the last steps.
    Last(LastThoughts),
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ThoughtsWord {
    All,
    None,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LastThoughts {
    /// Of so many steps.
    pub(super) last: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceEntry {
    /// Tokens read.
    #[schemars(range(min = 0))]
    pub(super) input: f64,
    /// Tokens read from the prompt cache; the price of `input` unless given.
    #[schemars(range(min = 0))]
    pub(super) cached_input: Option<f64>,
    /// Tokens written.
    #[schemars(range(min = 0))]
    pub(super) output: f64,
}

/// A server to start (`command`) or to reach over HTTP (`url`). `${NAME}` stands for a variable.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerEntry {
    /// The program to start.
    pub(super) command: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub(super) args: Vec<String>,
    /// Variables for it alone. Secrets are written as "${NAME}".
    #[serde(default)]
    pub(super) env: IndexMap<String, String>,
    /// The folder that it starts in; that of the file unless given.
    pub(super) cwd: Option<PathBuf>,
    /// The address to reach it at.
    pub(super) url: Option<String>,
    /// Headers of every request. Values are written as "${NAME}", or "Bearer ${NAME}".
    #[serde(default)]
    pub(super) headers: IndexMap<String, String>,
    /// Only those of its tools: names, with `*` for any characters.
    #[serde(default)]
    pub(super) allow: Vec<String>,
    /// Not those of its tools.
    #[serde(default)]
    pub(super) deny: Vec<String>,
    /// How long a call may take, such as "30s"; a minute unless given.
    pub(super) timeout: Option<String>,
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

fn tool_names(_: &mut SchemaGenerator) -> Schema {
    let names = [NAMES, SET_UP_TOOL_NAMES].concat();
    json_schema!({
        "type": "array",
        "items": {"type": "string", "enum": names},
    })
}
