//! A set of tools with distinct names.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use enact_signature::{Values, is_tool_name};
use futures_util::future::BoxFuture;

use super::{ConfirmationRule, Tool, ToolContext, ToolError, ToolFuture, ToolSpec, Toolbox};

/// The tools of an agent, in the order in which the model sees them. Those of toolboxes are last.
///
/// Cheap to clone. Names are validated when an agent is built from the set.
///
/// ```
/// use enact::tool::Confirmation;
/// use enact::{Tools, tool, tools};
///
/// /// Deletes a file.
/// #[tool]
/// fn delete(path: String) -> String {
///     format!("deleted {path}")
/// }
///
/// # fn main() -> Result<(), enact::tool::ToolSetError> {
/// let tools: Tools = tools![delete].with_confirmation("delete", Confirmation::Always)?;
/// assert_eq!(tools.names().collect::<Vec<_>>(), ["delete"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Tools {
    list: Vec<Arc<dyn Tool>>,
    /// The tools that are not from a toolbox, as they were added.
    fixed: Vec<Arc<dyn Tool>>,
    boxes: Vec<Arc<dyn Toolbox>>,
    /// Rules from outside, for tools that come back or are described anew.
    rules: Vec<(String, ConfirmationRule)>,
}

impl Tools {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    #[must_use]
    pub fn with(self, tool: impl Tool + 'static) -> Self {
        self.with_shared(Arc::new(tool))
    }

    /// Adds a tool that is already shared.
    #[must_use]
    pub fn with_shared(mut self, tool: Arc<dyn Tool>) -> Self {
        self.fixed.push(tool);
        self.assembled()
    }

    /// Adds all tools of another set.
    #[must_use]
    pub fn and(mut self, other: Tools) -> Self {
        self.fixed.extend(other.fixed);
        self.boxes.extend(other.boxes);
        self.rules.extend(other.rules);
        self.assembled()
    }

    /// Adds the tools of a toolbox. Runs pick up changes of the toolbox between
    /// steps.
    #[must_use]
    pub fn with_toolbox(mut self, toolbox: Arc<dyn Toolbox>) -> Self {
        self.boxes.push(toolbox);
        self.assembled()
    }

    /// Whether its tools can change.
    pub fn may_change(&self) -> bool {
        !self.boxes.is_empty()
    }

    /// The set with the current tools, under the same rules.
    pub(crate) async fn refreshed(&self) -> Result<Self, ToolError> {
        for toolbox in &self.boxes {
            toolbox.refresh().await?;
        }
        Ok(self.clone().assembled())
    }

    /// Lists the fixed tools, then those of toolboxes, with the rules applied.
    fn assembled(mut self) -> Self {
        self.list.clone_from(&self.fixed);
        for toolbox in &self.boxes {
            let taken: Vec<&str> = self.names().collect();
            let more = toolbox.tools(&taken);
            self.list.extend(more);
        }
        for (name, rule) in &self.rules {
            let ruled = self
                .list
                .iter_mut()
                .filter(|tool| tool.spec().name == *name);
            for place in ruled {
                *place = Arc::new(Ruled {
                    spec: place.spec().clone().ruled(rule.confirmation),
                    rule: rule.clone(),
                    tool: Arc::clone(place),
                });
            }
        }
        self
    }

    /// Sets the confirmation rule of a tool.
    pub fn with_confirmation(
        self,
        name: &str,
        rule: impl Into<ConfirmationRule>,
    ) -> Result<Self, ToolSetError> {
        if self.get(name).is_none() {
            return Err(ToolSetError::UnknownName(name.to_owned()));
        }
        Ok(self.with_confirmation_whenever(name, rule))
    }

    /// Sets the confirmation rule of a tool, even if a toolbox doesn't have it at the moment.
    #[must_use]
    pub fn with_confirmation_whenever(
        mut self,
        name: &str,
        rule: impl Into<ConfirmationRule>,
    ) -> Self {
        self.rules.push((name.to_owned(), rule.into()));
        self.assembled()
    }

    /// The tool with this name.
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

    /// The specs of the tools, in order.
    pub(crate) fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.list.iter().map(|tool| tool.spec())
    }

    /// The number of tools.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Rejects names that models can't call, reserved names, and two tools with the same
    /// name.
    pub fn check(&self, reserved: &[&str]) -> Result<(), ToolSetError> {
        check_names(self.names(), reserved)
    }
}

/// Rejects names that can't be in one set.
pub(crate) fn check_names<'a>(
    names: impl Iterator<Item = &'a str>,
    reserved: &[&str],
) -> Result<(), ToolSetError> {
    let mut known = HashSet::new();
    for name in names {
        if !is_tool_name(name) {
            return Err(ToolSetError::InvalidName(name.to_owned()));
        }
        if reserved.contains(&name) {
            return Err(ToolSetError::ReservedName(name.to_owned()));
        }
        if !known.insert(name) {
            return Err(ToolSetError::DuplicateName(name.to_owned()));
        }
    }
    Ok(())
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// A tool with a rule set from outside.
struct Ruled {
    spec: ToolSpec,
    rule: ConfirmationRule,
    tool: Arc<dyn Tool>,
}

impl Tool for Ruled {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Where the rule has no function, the tool's own rule is asked for: that of a tool which the rule
    /// was not made for.
    fn needs_confirmation(&self, args: &Values) -> bool {
        match &self.rule.policy {
            Some(policy) => policy.asks(args),
            None => self.tool.needs_confirmation(args),
        }
    }

    fn call<'a>(&'a self, args: Values, context: ToolContext) -> ToolFuture<'a> {
        self.tool.call(args, context)
    }

    fn abandon<'a>(&'a self, context: ToolContext) -> BoxFuture<'a, ()> {
        self.tool.abandon(context)
    }
}

/// Tools that can't form a set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolSetError {
    /// Models can't call a tool with this name.
    #[error("tool name `{0}` cannot be called: use 1 to 64 of the characters a-z A-Z 0-9 _ -")]
    InvalidName(String),
    /// The name is reserved.
    #[error("tool name `{0}` is reserved: rename the tool")]
    ReservedName(String),
    /// No tool has this name.
    #[error("there is no tool `{0}` to set a rule for")]
    UnknownName(String),
    /// Two tools have this name.
    #[error("two tools are called `{0}`: rename one of them")]
    DuplicateName(String),
}
