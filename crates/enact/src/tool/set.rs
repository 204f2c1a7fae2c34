//! A set of tools with distinct names.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use enact_signature::Values;

use super::{Confirmation, Tool, ToolContext, ToolFuture, ToolSpec};

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

    /// The same with another rule for asking about the tool of this name.
    pub fn with_confirmation(
        mut self,
        name: &str,
        confirmation: Confirmation,
    ) -> Result<Self, ToolSetError> {
        let Some(place) = self.list.iter_mut().find(|tool| tool.spec().name == name) else {
            return Err(ToolSetError::UnknownName(name.to_owned()));
        };
        *place = Arc::new(Ruled {
            spec: place.spec().clone().with_confirmation(confirmation),
            tool: Arc::clone(place),
        });
        Ok(self)
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

/// A tool under a rule from outside.
struct Ruled {
    spec: ToolSpec,
    tool: Arc<dyn Tool>,
}

impl Tool for Ruled {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, args: Values, context: ToolContext) -> ToolFuture<'a> {
        self.tool.call(args, context)
    }

    fn abandon<'a>(
        &'a self,
        context: ToolContext,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        self.tool.abandon(context)
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
    /// No tool has the name.
    #[error("there is no tool `{0}` to set a rule for")]
    UnknownName(String),
    /// The name stands for two tools.
    #[error("two tools are called `{0}`: rename one of them")]
    DuplicateName(String),
}
