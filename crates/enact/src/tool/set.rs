//! A set of tools with distinct names.

use std::fmt;
use std::sync::Arc;

use super::Tool;

/// The tools of an agent, in the order in which the model sees them.
///
/// Cheap to clone. Names are checked when an agent is built from the set.
#[derive(Clone, Default)]
pub struct Tools {
    list: Vec<Arc<dyn Tool>>,
}

impl Tools {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        self.list.push(Arc::new(tool));
        self
    }

    /// The same with one more that is shared already.
    #[must_use]
    pub fn with_shared(mut self, tool: Arc<dyn Tool>) -> Self {
        self.list.push(tool);
        self
    }

    /// The same with all tools of another set.
    #[must_use]
    pub fn and(mut self, other: Tools) -> Self {
        self.list.extend(other.list);
        self
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.list.iter().find(|tool| tool.spec().name == name)
    }

    /// The tools in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<dyn Tool>> {
        self.list.iter()
    }

    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|tool| tool.spec().name.as_str())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Refuses names that a model could not call, names that enact keeps for itself, and two
    /// tools of one name.
    pub fn check(&self, reserved: &[&str]) -> Result<(), ToolSetError> {
        for (index, name) in self.names().enumerate() {
            if !is_callable(name) {
                return Err(ToolSetError::InvalidName(name.to_owned()));
            }
            if reserved.contains(&name) {
                return Err(ToolSetError::ReservedName(name.to_owned()));
            }
            if self.names().take(index).any(|earlier| earlier == name) {
                return Err(ToolSetError::DuplicateName(name.to_owned()));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

fn is_callable(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Tools that cannot be one set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolSetError {
    /// The name cannot be called by models.
    #[error("tool name `{0}` cannot be called: use 1 to 64 of the characters a-z A-Z 0-9 _ -")]
    InvalidName(String),
    /// The name belongs to enact.
    #[error("tool name `{0}` is reserved: rename the tool")]
    ReservedName(String),
    /// The name stands for two tools.
    #[error("two tools are called `{0}`: rename one of them")]
    DuplicateName(String),
}
