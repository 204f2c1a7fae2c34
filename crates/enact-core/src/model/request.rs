//! What is asked of a model.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::message::{Prompt, Wire};

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// The name to call it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub parameters: Value,
}

/// The tools of a request: one list shared by all requests of a run.
#[derive(Debug, Default)]
pub struct Functions {
    list: Vec<Function>,
    wire: Wire,
}

impl Functions {
    /// The functions in the order in which the model sees them.
    pub fn new(list: Vec<Function>) -> Self {
        Self {
            list,
            wire: Wire::default(),
        }
    }

    /// The functions in order.
    pub fn list(&self) -> &[Function] {
        &self.list
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Writes the list in a wire form, encoding it at most once for `dialect`.
    pub fn write_wire(
        &self,
        dialect: &'static str,
        out: &mut String,
        encode: impl Fn(&[Function]) -> String,
    ) {
        out.push_str(&self.wire.get(dialect, || encode(&self.list)));
    }
}

/// Whether the model has to call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// Some tool has to be called.
    Required,
    /// This tool has to be called.
    #[serde(rename = "name")]
    Named(String),
    /// No tool may be called.
    None,
}

/// The form in which the reply's text has to come.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// Any text.
    #[default]
    Text,
    /// Some JSON object.
    #[serde(rename = "json")]
    JsonObject,
    /// JSON that satisfies a schema.
    #[serde(untagged)]
    Schema {
        /// A short name for the schema.
        name: String,
        /// The JSON Schema.
        schema: Arc<Value>,
    },
}

/// How the reply is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delivery {
    /// Piece by piece, as it is written: somebody reads along.
    #[default]
    Streamed,
    /// At once, which costs less to ask for and to read. A model that cannot do so may stream.
    Whole,
}

/// How to sample. `None` leaves the choice to the provider.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelOptions {
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Upper bound of the reply's tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Seed for providers that take one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How much a reasoning model should reason, in the provider's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Further fields of the request, sent as they are.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, Value>,
}

/// One request to a model. Cheap to clone: the prompt and the tools are shared.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Request {
    /// The conversation.
    pub prompt: Prompt,
    /// The tools on offer.
    pub tools: Arc<Functions>,
    /// Whether one has to be called.
    pub tool_choice: ToolChoice,
    /// The form of the reply's text.
    pub response_format: ResponseFormat,
    /// Texts at which the model stops writing.
    pub stop: Vec<String>,
    /// Sampling.
    pub options: ModelOptions,
    /// How the reply is to come. The same is asked for either way.
    pub delivery: Delivery,
}

impl Request {
    /// A request with nothing but a conversation.
    pub fn new(prompt: Prompt) -> Self {
        // Shared, because a request is made for each step.
        static NONE: LazyLock<Arc<Functions>> = LazyLock::new(Arc::default);
        Self {
            prompt,
            tools: Arc::clone(&NONE),
            tool_choice: ToolChoice::default(),
            response_format: ResponseFormat::default(),
            stop: Vec::new(),
            options: ModelOptions::default(),
            delivery: Delivery::default(),
        }
    }

    /// The same with tools on offer.
    #[must_use]
    pub fn with_tools(self, tools: Arc<Functions>) -> Self {
        Self { tools, ..self }
    }

    /// The same with a demand on which tool is called.
    #[must_use]
    pub fn with_tool_choice(mut self, tool_choice: ToolChoice) -> Self {
        self.tool_choice = tool_choice;
        self
    }

    /// The same with a demand on the form of the text.
    #[must_use]
    pub fn with_response_format(mut self, response_format: ResponseFormat) -> Self {
        self.response_format = response_format;
        self
    }

    /// The same with texts at which the model stops.
    #[must_use]
    pub fn with_stop(self, stop: Vec<String>) -> Self {
        Self { stop, ..self }
    }

    /// The same with sampling options.
    #[must_use]
    pub fn with_options(self, options: ModelOptions) -> Self {
        Self { options, ..self }
    }

    /// The same with the reply coming in another way.
    #[must_use]
    pub fn with_delivery(self, delivery: Delivery) -> Self {
        Self { delivery, ..self }
    }
}
