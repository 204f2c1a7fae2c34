//! Requests to models.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::message::{Prompt, Wire};

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// The name by which to call it.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub parameters: Value,
}

/// The tools of a request: a list that all requests of a run share.
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

    /// Whether the list is empty.
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

/// The required format of the reply.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// Any text.
    #[default]
    Text,
    /// Any JSON object.
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

/// How the reply is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delivery {
    /// In chunks as it is written, because it is shown live.
    #[default]
    Streamed,
    /// As a whole, which costs less to request and to read. A model that can't do that may stream.
    Whole,
}

/// Sampling options. `None` leaves the choice to the provider.
///
/// ```
/// use enact::Predict;
/// use enact::model::ModelOptions;
///
/// let mut options = ModelOptions::default();
/// options.temperature = Some(0.0);
/// options.max_tokens = Some(1_000);
/// let qa = Predict::builder("question -> answer").options(options).build()?;
/// # Ok::<_, enact::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelOptions {
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Maximum number of tokens of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Seed, for providers that support one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How much a reasoning model should reason, in the provider's terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Further fields of the request, sent unchanged.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, Value>,
}

/// A request to a model. Cheap to clone: the prompt and the tools are shared.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{LanguageModel as _, Message, Prompt, Request, ScriptedModel, say};
///
/// let model = ScriptedModel::new([say("Paris")]);
/// let prompt: Prompt = [Message::user("Capital of France?")].into_iter().collect();
/// let reply = model.complete(Request::new(prompt)).await?;
/// assert_eq!(reply.text, "Paris");
/// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Request {
    /// The conversation.
    pub prompt: Prompt,
    /// The available tools.
    pub tools: Arc<Functions>,
    /// Whether a tool has to be called.
    pub tool_choice: ToolChoice,
    /// The required format of the reply.
    pub response_format: ResponseFormat,
    /// Texts at which the model stops writing.
    pub stop: Vec<String>,
    /// Sampling options.
    pub options: ModelOptions,
    /// How the reply is delivered. This doesn't affect its content.
    pub delivery: Delivery,
}

impl Request {
    /// Creates a request with only a conversation.
    pub fn new(prompt: Prompt) -> Self {
        // Shared, because each step makes a request.
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

    /// Sets the available tools.
    #[must_use]
    pub fn with_tools(self, tools: Arc<Functions>) -> Self {
        Self { tools, ..self }
    }

    /// Sets whether a tool has to be called.
    #[must_use]
    pub fn with_tool_choice(mut self, tool_choice: ToolChoice) -> Self {
        self.tool_choice = tool_choice;
        self
    }

    /// Sets the required format of the reply.
    #[must_use]
    pub fn with_response_format(mut self, response_format: ResponseFormat) -> Self {
        self.response_format = response_format;
        self
    }

    /// Sets texts at which the model stops writing.
    #[must_use]
    pub fn with_stop(self, stop: Vec<String>) -> Self {
        Self { stop, ..self }
    }

    /// Sets the sampling options.
    #[must_use]
    pub fn with_options(self, options: ModelOptions) -> Self {
        Self { options, ..self }
    }

    /// Sets how the reply is delivered.
    #[must_use]
    pub fn with_delivery(self, delivery: Delivery) -> Self {
        Self { delivery, ..self }
    }
}
