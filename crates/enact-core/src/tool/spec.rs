//! The description of a tool.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use super::Confirmation;
use crate::lean::is_default;

/// What a call can change in the world. Determines what happens to a call that a crash left in doubt.
/// Ordered by how careful enact is with such calls.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    IntoStaticStr,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Changes nothing: can be repeated freely.
    ReadOnly,
    /// Repeating it with the same idempotency key has no further effect.
    Idempotent,
    /// Every call counts: never repeated without asking.
    #[default]
    Effectful,
}

impl Effect {
    /// The effect as one word, such as `read_only`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

fn usual_timeout() -> Duration {
    ToolSpec::DEFAULT_TIMEOUT
}

fn is_usual_timeout(timeout: &Duration) -> bool {
    *timeout == ToolSpec::DEFAULT_TIMEOUT
}

/// Name, schema and rules of a tool.
///
/// ```
/// use std::time::Duration;
///
/// use enact::tool::{Effect, ToolSpec};
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
/// let spec = ToolSpec::new("weather", "Current weather in a city.", schema)
///     .with_effect(Effect::ReadOnly)
///     .with_timeout(Duration::from_secs(5));
/// assert_eq!(spec.name, "weather");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name by which the model calls it.
    pub name: String,
    /// The source, such as `built-in`, `agent` or `mcp:git:5f3a9c01`; none for a tool of the program
    /// itself. Tools with the same name from different sources are different tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the arguments: an object.
    pub parameters: Value,
    /// What a call can change.
    #[serde(default, skip_serializing_if = "is_default")]
    pub effect: Effect,
    /// Whether a person is asked first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub confirmation: Confirmation,
    /// The tool's own rule, if another rule overrides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_confirmation: Option<Confirmation>,
    /// Whether results change over time, so that repeating a call is useful.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub volatile: bool,
    /// Whether enact answers its calls from the log of the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) reads_record: bool,
    /// Whether it is the run's memory, which is stored in the log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) keeps_notes: bool,
    /// Whether its calls run one after the other even if the model requests several at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub serial: bool,
    /// The time limit of a call.
    #[serde(
        rename = "timeout_ns",
        default = "usual_timeout",
        with = "crate::tool::nanos",
        skip_serializing_if = "is_usual_timeout"
    )]
    pub timeout: Duration,
}

impl ToolSpec {
    /// The default time limit of a call. Logs leave it out: changing it changes the meaning of logs, and
    /// requires a new version of their format.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

    /// The source of agents as tools.
    pub(crate) const AGENT: &'static str = "agent";

    /// Creates an effectful tool that runs without asking and in parallel, with a limit of 30 seconds.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name: name.into(),
            source: None,
            description: description.into(),
            parameters,
            effect: Effect::default(),
            confirmation: Confirmation::default(),
            own_confirmation: None,
            volatile: false,
            reads_record: false,
            keeps_notes: false,
            serial: false,
            timeout: Self::DEFAULT_TIMEOUT,
        }
    }

    /// Sets the source. Don't put secrets there: it is written to logs.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Sets the effect.
    #[must_use]
    pub fn with_effect(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }

    /// The same with another rule for asking. Where the arguments decide, the
    /// [tool](super::Tool::needs_confirmation) does.
    #[must_use]
    pub fn with_confirmation(mut self, confirmation: Confirmation) -> Self {
        self.confirmation = confirmation;
        self
    }

    /// Overrides the tool's own confirmation rule.
    pub(super) fn ruled(self, rule: Confirmation) -> Self {
        let own = self.own_confirmation.unwrap_or(self.confirmation);
        Self {
            own_confirmation: (own != rule).then_some(own),
            confirmation: rule,
            ..self
        }
    }

    /// Declares that results change over time.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.volatile = true;
        self
    }

    /// Declares that enact answers its calls from the log of the run.
    #[doc(hidden)]
    #[must_use]
    pub fn reads_record(mut self) -> Self {
        self.reads_record = true;
        self
    }

    /// Declares that it is the run's memory, which is stored in the log.
    #[doc(hidden)]
    #[must_use]
    pub fn keeps_notes(mut self) -> Self {
        self.keeps_notes = true;
        self
    }

    /// Runs one call at a time.
    #[must_use]
    pub fn serial(mut self) -> Self {
        self.serial = true;
        self
    }

    /// Sets the time limit of a call.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The names of the required arguments, in the order of the schema.
    pub fn required(&self) -> Vec<&str> {
        self.parameters["required"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default()
    }
}
