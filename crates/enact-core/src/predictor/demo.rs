//! Demonstrations: worked examples before the task.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::run::{Entry, History};
use crate::signature::{TypedSignature, Values};

/// A worked example: inputs and outputs, optionally with the steps between them.
///
/// ```
/// use enact::{Demo, Predict, values};
///
/// let qa = Predict::builder("question -> answer")
///     .demos([Demo::new(
///         values! { question: "Capital of Italy?" },
///         values! { answer: "Rome" },
///     )])
///     .build()?;
/// # Ok::<_, enact::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Demo {
    entries: Vec<Entry>,
}

impl Demo {
    /// Creates an example from inputs and outputs. Fields can be missing.
    pub fn new(inputs: Values, outputs: Values) -> Self {
        let outputs = Entry::Outputs {
            values: outputs,
            thought: String::new(),
            call_id: None,
        };
        Self {
            entries: vec![Entry::Inputs { values: inputs }, outputs],
        }
    }

    /// Creates an example from a typed signature. Fails only if a field can't be serialised.
    pub fn of<S: TypedSignature>(example: S) -> Result<Self, serde_json::Error> {
        let (inputs, outputs) = example.split();
        Ok(Self::new(values_of(&inputs)?, values_of(&outputs)?))
    }

    /// The entries of the example in a prompt.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries of example number `number` in a prompt: its call ids differ from those of other examples
    /// and of the conversation.
    pub(super) fn numbered(&self, number: usize) -> Vec<Entry> {
        let renamed = |id: &str| format!("demo_{number}_{id}");
        let mut entries = self.entries.clone();
        for (position, entry) in entries.iter_mut().enumerate() {
            match entry {
                Entry::Assistant { calls, .. } => {
                    calls
                        .iter_mut()
                        .for_each(|call| Arc::make_mut(call).id = renamed(&call.id));
                }
                Entry::Results { results } => {
                    results
                        .iter_mut()
                        .for_each(|result| result.call_id = renamed(&result.call_id));
                }
                Entry::Outputs { call_id, .. } => {
                    let id = call_id.take().unwrap_or_else(|| position.to_string());
                    *call_id = Some(renamed(&id));
                }
                _ => {}
            }
        }
        entries
    }
}

fn values_of(fields: &impl Serialize) -> Result<Values, serde_json::Error> {
    serde_json::from_value(serde_json::to_value(fields)?)
}

/// Creates an example from a whole conversation: for `step`, with its calls and observations.
impl From<&History> for Demo {
    fn from(history: &History) -> Self {
        Self {
            entries: history.entries().to_vec(),
        }
    }
}
