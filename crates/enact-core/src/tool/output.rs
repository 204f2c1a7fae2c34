//! The output of a tool.

use serde::Serialize;
use serde_json::Value;

use super::ToolError;
use crate::model::{Image, Usage};

/// The output of a tool: a value, which keeps its type up to the trace, and images.
///
/// ```
/// use enact::ToolOutput;
/// use enact::model::Image;
/// use serde_json::json;
///
/// let plain = ToolOutput::value(json!({"celsius": 20}));
/// assert_eq!(plain.value["celsius"], 20);
///
/// let chart = Image::from_url("https://example.com/chart.png", "image/png");
/// let output = ToolOutput::images("The last seven days.", vec![chart]);
/// assert_eq!(output.images.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ToolOutput {
    /// Any JSON value; `null` for a tool that returns nothing.
    pub value: Value,
    /// Images for the model.
    pub images: Vec<Image>,
    /// Tokens that the tool spent on models of its own; they count for the run.
    pub usage: Usage,
    /// Their cost, in the currency of the agent's prices.
    pub cost: f64,
}

impl ToolOutput {
    /// Creates an output without images.
    pub fn value(value: impl Into<Value>) -> Self {
        Self {
            value: value.into(),
            ..Self::default()
        }
    }

    /// Creates an output of images, with a caption.
    pub fn images(caption: impl Into<String>, images: Vec<Image>) -> Self {
        Self {
            value: Value::String(caption.into()),
            images,
            ..Self::default()
        }
    }
}

/// What a tool function can return on success: any serialisable value, or a [`ToolOutput`].
///
/// `#[tool]` and [`FnTool`](super::FnTool) also accept a `Result`, whose error becomes an error
/// observation. `#[tool]` recognises `Result` by that name: don't use an alias with another name,
/// which would be treated as a value.
pub trait IntoToolResult {
    /// Converts to the form that drivers use.
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
