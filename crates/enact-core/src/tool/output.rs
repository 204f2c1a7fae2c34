//! What a tool gives back.

use serde::Serialize;
use serde_json::Value;

use super::ToolError;
use crate::model::{Image, Usage};

/// The result of a tool: a value that keeps its type up to the trace, and pictures.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ToolOutput {
    /// Any JSON value; `null` for a tool that returns nothing.
    pub value: Value,
    /// Pictures that the model shall see.
    pub images: Vec<Image>,
    /// Tokens that the tool spent on models of its own; they count for the run.
    pub usage: Usage,
    /// What they cost, in the currency of the agent's prices.
    pub cost: f64,
}

impl ToolOutput {
    /// A value without pictures.
    pub fn value(value: impl Into<Value>) -> Self {
        Self {
            value: value.into(),
            ..Self::default()
        }
    }

    /// Pictures, with a text that says what they are.
    pub fn images(caption: impl Into<String>, images: Vec<Image>) -> Self {
        Self {
            value: Value::String(caption.into()),
            images,
            ..Self::default()
        }
    }
}

/// What a tool function may return when it succeeds: any serialisable value, or a [`ToolOutput`].
///
/// `#[tool]` and [`FnTool`](super::FnTool) take a `Result` of it and turn its error into an error
/// observation. `#[tool]` knows a `Result` by that name: write it out instead of an alias with
/// another name, which would pass for a value.
pub trait IntoToolResult {
    /// The result in the form that drivers understand.
    fn into_tool_result(self) -> Result<ToolOutput, ToolError>;
}

impl<T: Serialize> IntoToolResult for T {
    fn into_tool_result(self) -> Result<ToolOutput, ToolError> {
        let value = serde_json::to_value(self)
            .map_err(|error| ToolError::new(format!("the result is not JSON: {error}")))?;
        Ok(ToolOutput::value(value))
    }
}

impl IntoToolResult for ToolOutput {
    fn into_tool_result(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}
