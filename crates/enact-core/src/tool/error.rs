//! Errors of tools.

use std::fmt;

use crate::model::Usage;

/// An error of a tool. It becomes an observation for the model; it never ends the run.
///
/// Any error converts with `?`. Only its text is kept, because the model only sees text.
///
/// ```
/// use enact::{ToolError, tool};
///
/// /// Current weather in a city.
/// #[tool(read_only)]
/// async fn weather(city: String) -> Result<String, ToolError> {
///     match city.as_str() {
///         "Paris" => Ok("20 °C".into()),
///         // The model reads this.
///         other => Err(ToolError::new(format!("no station in {other}; try Paris"))),
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolError {
    message: String,
    is_question: bool,
    usage: Usage,
    cost: f64,
}

impl ToolError {
    /// Creates an error. Its message should help the model to correct itself.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// Creates a question for a person instead of an error: see [`ToolContext::ask`].
    ///
    /// [`ToolContext::ask`]: super::ToolContext::ask
    pub fn question(text: impl Into<String>) -> Self {
        Self {
            is_question: true,
            ..Self::new(text)
        }
    }

    /// Adds the tokens that the tool spent on models of its own, and their cost; both count for
    /// the run.
    #[must_use]
    pub fn costing(mut self, usage: Usage, cost: f64) -> Self {
        self.usage = usage;
        self.cost = cost;
        self
    }

    pub(crate) fn spent(&self) -> (Usage, f64) {
        (self.usage, self.cost)
    }

    /// Returns the question, if this is one.
    pub fn into_question(self) -> Result<String, Self> {
        if self.is_question {
            Ok(self.message)
        } else {
            Err(self)
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

// `ToolError` doesn't implement `std::error::Error`: that would conflict with the conversion from any error.
impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}
