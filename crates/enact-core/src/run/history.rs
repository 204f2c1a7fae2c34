//! The transcript of a conversation: inputs, calls, observations and outputs.

use std::sync::Arc;

use enact_signature::Values;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{Image, Part};
use crate::signature::plain_text;

/// A tool call in a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Connects the call to its result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments; empty if the model's could not be parsed.
    pub args: Values,
    /// The arguments as the model wrote them, if they could not be parsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

/// The result of a tool call.
///
/// ```
/// use enact::run::Observation;
///
/// assert_eq!(Observation::value(42).text(), "42");
/// assert!(Observation::error("no such file").is_error);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Observation {
    /// The value, with its type; the message for an error.
    pub value: Value,
    /// Images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Whether there is no result yet; the value describes what the call waits for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pending: bool,
    /// What prompts show instead of a value that is too large for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl Observation {
    /// A result without images.
    pub fn value(value: impl Into<Value>) -> Self {
        Self {
            value: value.into(),
            ..Self::default()
        }
    }

    /// The same with pictures.
    #[must_use]
    pub fn with_images(self, images: Vec<Image>) -> Self {
        Self { images, ..self }
    }

    /// Stands for a result that is not there yet.
    pub(crate) fn pending(message: impl Into<String>) -> Self {
        Self {
            is_pending: true,
            ..Self::value(message.into())
        }
    }

    /// A failure.
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::value(message.into())
        }
    }

    /// The value as text: a string as it is, anything else as compact JSON.
    pub fn text(&self) -> String {
        plain_text(&self.value)
    }
}

/// The observation of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// The observation.
    #[serde(flatten)]
    pub observation: Observation,
}

impl ToolResult {
    /// What a call of a tool gave.
    pub fn new(
        call_id: impl Into<String>,
        name: impl Into<String>,
        observation: Observation,
    ) -> Self {
        Self {
            call_id: call_id.into(),
            name: name.into(),
            observation,
        }
    }
}

/// One entry of a transcript. The same whatever adapter put it into words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Entry {
    /// Instructions from an imported conversation.
    System {
        /// The instructions.
        text: String,
    },
    /// The inputs of a turn, by field.
    Inputs {
        /// Field name to value.
        values: Values,
    },
    /// A message of a person that doesn't consist of inputs.
    User {
        /// Text and images.
        parts: Vec<Part>,
    },
    /// A thought of the model and its tool calls; without calls, just a message.
    Assistant {
        /// The thought, or the text.
        text: String,
        /// The calls in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<Arc<Call>>,
        /// Data that the provider requires unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    /// The observations of the preceding calls, in call order.
    Results {
        /// One per call.
        results: Vec<ToolResult>,
    },
    /// A notice from enact to the model: a reply that could not be read, a limit that is near.
    Notice {
        /// The text.
        text: String,
    },
    /// The committed answer of a turn.
    Outputs {
        /// Field name to value.
        values: Values,
        /// The model's thought when it committed them.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        thought: String,
        /// The id of the committing call, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
    },
    /// A summary that replaces the first `covers` entries in later prompts. The entries themselves stay
    /// in the log.
    Summary {
        /// The summary.
        text: String,
        /// The number of entries that it replaces.
        covers: usize,
    },
}

/// A transcript. Pass it to a later call to continue the conversation.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{ScriptedModel, say};
/// use enact::{History, Predict, values};
///
/// let qa = Predict::builder("question -> answer")
///     .model(ScriptedModel::new([say("Paris"), say("About two million.")]))
///     .build()?;
/// let first = qa.call(values! { question: "Capital of France?" }).await?.finished()?;
///
/// // A history serialises, and a later call continues it.
/// let stored = serde_json::to_string(&first.history)?;
/// let history: History = serde_json::from_str(&stored)?;
/// let second = qa.call(values! { question: "How many people live there?" }).history(&history);
/// assert_eq!(second.await?.finished()?.outputs["answer"], "About two million.");
/// # Ok::<_, Box<dyn std::error::Error>>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct History {
    entries: Vec<Entry>,
}

/// A transcript that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HistoryError {
    message: String,
    /// The element, from 0.
    index: Option<usize>,
}

impl History {
    /// An empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entries in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether the transcript is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Appends an entry.
    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// The entries in a prompt: after a summary, the covered ones are left out, except
    /// the inputs of the current turn.
    pub fn visible(&self) -> Vec<&Entry> {
        visible(&self.entries)
    }
}

/// See [`History::visible`].
pub(crate) fn visible(entries: &[Entry]) -> Vec<&Entry> {
    visible_positions(entries)
        .into_iter()
        .map(|position| &entries[position])
        .collect()
}

/// The positions of the entries that [`visible`] returns, in the same order.
pub(crate) fn visible_positions(entries: &[Entry]) -> Vec<usize> {
    let last_summary = entries
        .iter()
        .enumerate()
        .rev()
        .find_map(|(index, entry)| match entry {
            Entry::Summary { covers, .. } => Some((index, (*covers).min(index))),
            _ => None,
        });
    let Some((summary, covers)) = last_summary else {
        return (0..entries.len()).collect();
    };
    let open_inputs = entries[..covers]
        .iter()
        .rposition(|entry| matches!(entry, Entry::Inputs { .. }))
        .filter(|&inputs| {
            !entries[inputs..]
                .iter()
                .any(|entry| matches!(entry, Entry::Outputs { .. }))
                && !entries[covers..]
                    .iter()
                    .any(|entry| matches!(entry, Entry::Inputs { .. }))
        });
    let mut shown = vec![summary];
    shown.extend(open_inputs);
    let is_summary = |position: &usize| matches!(entries[*position], Entry::Summary { .. });
    shown.extend((covers..entries.len()).filter(|position| !is_summary(position)));
    shown
}

impl From<Vec<Entry>> for History {
    fn from(entries: Vec<Entry>) -> Self {
        Self { entries }
    }
}

impl HistoryError {
    pub(crate) fn new(message: impl Into<String>, index: Option<usize>) -> Self {
        Self {
            message: message.into(),
            index,
        }
    }

    /// The element that could not be read, from 0.
    pub fn index(&self) -> Option<usize> {
        self.index
    }
}
