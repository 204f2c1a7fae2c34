//! What a tool says of itself.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use super::Confirmation;
use crate::lean::is_default;

/// What a call may change in the world. Decides what happens to a call that a crash left in doubt.
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
    /// Changes nothing: may be repeated freely.
    ReadOnly,
    /// Repeating it with the same idempotency key changes nothing more.
    Idempotent,
    /// Every call counts: never repeated unasked.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name that the model calls it by.
    pub name: String,
    /// Where it comes from, such as `built-in`, `agent` or `mcp:git:5f3a9c01`; none for a tool of the
    /// program itself. Two tools of one name from different sources are different tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the arguments: an object.
    pub parameters: Value,
    /// What a call may change.
    #[serde(default, skip_serializing_if = "is_default")]
    pub effect: Effect,
    /// Whether a person is asked first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub confirmation: Confirmation,
    /// What the tool itself says about asking, where a rule from outside says something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_confirmation: Option<Confirmation>,
    /// Whether its answers change by themselves, so that the same call is worth making again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub volatile: bool,
    /// Whether enact itself answers its calls, from the log of the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) reads_record: bool,
    /// Whether it is the memory of the run, which is its log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) keeps_notes: bool,
    /// Whether its calls run one after the other even when the model asks for several at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub serial: bool,
    /// How long one call may take.
    #[serde(
        rename = "timeout_ns",
        default = "usual_timeout",
        with = "crate::tool::nanos",
        skip_serializing_if = "is_usual_timeout"
    )]
    pub timeout: Duration,
}

impl ToolSpec {
    /// How long a call may take unless the tool says otherwise. Logs leave it out: another one would
    /// change what they say, and is a new version of their format.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

    /// The source of tools that are other agents.
    pub(crate) const AGENT: &'static str = "agent";

    /// A tool with effects that runs unasked and in parallel, within 30 seconds.
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

    /// The same from this source. Never put a secret there: it is written to logs.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same with another effect.
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

    /// The same under a rule from outside.
    pub(super) fn ruled(self, rule: Confirmation) -> Self {
        let own = self.own_confirmation.unwrap_or(self.confirmation);
        Self {
            own_confirmation: (own != rule).then_some(own),
            confirmation: rule,
            ..self
        }
    }

    /// The same, with answers that change by themselves.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.volatile = true;
        self
    }

    /// The same, of a tool whose calls enact itself answers, from the log of the run.
    #[doc(hidden)]
    #[must_use]
    pub fn reads_record(mut self) -> Self {
        self.reads_record = true;
        self
    }

    /// The same, of a tool that is the memory of the run, which is its log.
    #[doc(hidden)]
    #[must_use]
    pub fn keeps_notes(mut self) -> Self {
        self.keeps_notes = true;
        self
    }

    /// The same, one call at a time.
    #[must_use]
    pub fn serial(mut self) -> Self {
        self.serial = true;
        self
    }

    /// The same with another time limit.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The names of the arguments that must be given, in the order of the schema.
    pub fn required(&self) -> Vec<&str> {
        self.parameters["required"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default()
    }
}
