//! A tool that could not do what it was asked.

use std::fmt;

use crate::model::Usage;

/// A tool's failure. It becomes an observation for the model; it never ends the run.
///
/// Any error converts with `?`; only its text is kept, because only text may reach the model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolError {
    message: String,
    is_question: bool,
    usage: Usage,
    cost: f64,
}

impl ToolError {
    /// A failure, in words that help the model to do better.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// Not a failure, but a question for the person: see [`ToolContext::ask`].
    ///
    /// [`ToolContext::ask`]: super::ToolContext::ask
    pub fn question(text: impl Into<String>) -> Self {
        Self {
            is_question: true,
            ..Self::new(text)
        }
    }

    /// The same, by a tool that spent tokens on models of its own, and what they cost; both count
    /// for the run.
    #[must_use]
    pub fn costing(mut self, usage: Usage, cost: f64) -> Self {
        self.usage = usage;
        self.cost = cost;
        self
    }

    pub(crate) fn spent(&self) -> (Usage, f64) {
        (self.usage, self.cost)
    }

    /// The question, if it is one.
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

// No `std::error::Error` for `ToolError`: it would forbid the conversion from every error.
impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}
