//! Demonstrations: worked examples that stand before the task.

use serde::{Deserialize, Serialize};

use crate::run::{Entry, History};
use crate::signature::{TypedSignature, Values};

/// A worked example: inputs and outputs, with the steps between them if there are some.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Demo {
    entries: Vec<Entry>,
}

impl Demo {
    /// An example of inputs and the outputs they lead to. Fields may be missing.
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

    /// A filled-in typed signature as an example. Fails only if a field cannot be written as JSON.
    pub fn of<S: TypedSignature>(example: S) -> Result<Self, serde_json::Error> {
        let (inputs, outputs) = example.split();
        Ok(Self::new(values_of(&inputs)?, values_of(&outputs)?))
    }

    /// The entries that stand for the example in a prompt.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

fn values_of(fields: &impl Serialize) -> Result<Values, serde_json::Error> {
    serde_json::from_value(serde_json::to_value(fields)?)
}

/// A whole conversation as an example: for `step`, with its calls and observations.
impl From<&History> for Demo {
    fn from(history: &History) -> Self {
        Self {
            entries: history.entries().to_vec(),
        }
    }
}
