//! How a run returns its outputs.

use serde::{Deserialize, Serialize};

/// How a run with tools returns its outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Completion {
    /// The model calls `submit` with the declared outputs: no further request is needed.
    #[default]
    Submit,
    /// The model calls `finish` without arguments, and a second predictor extracts the outputs.
    Finish,
}

impl Completion {
    /// The name of the completing tool.
    pub fn tool_name(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Finish => "finish",
        }
    }
}
