//! A set of tools with distinct names.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use enact_signature::{Values, is_tool_name};
use futures_util::future::BoxFuture;

use super::{ConfirmationRule, Tool, ToolContext, ToolError, ToolFuture, ToolSpec, Toolbox};

/// The tools of an agent, in the order in which the model sees them: those of toolboxes last.
///
/// Cheap to clone. Names are checked when an agent is built from the set.
#[derive(Clone, Default)]
pub struct Tools {
    list: Vec<Arc<dyn Tool>>,
    /// Those of the list that are not from a toolbox, as they were put in.
    fixed: Vec<Arc<dyn Tool>>,
    boxes: Vec<Arc<dyn Toolbox>>,
    /// Rules from outside, for tools that come back or are described anew.
    rules: Vec<(String, ConfirmationRule)>,
}

impl Tools {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more.
    #[must_use]
    pub fn with(self, tool: impl Tool + 'static) -> Self {
        self.with_shared(Arc::new(tool))
    }

    /// The same with one more that is shared already.
    #[must_use]
    pub fn with_shared(mut self, tool: Arc<dyn Tool>) -> Self {
        self.fixed.push(tool);
        self.assembled()
    }

    /// The same with all tools of another set.
    #[must_use]
    pub fn and(mut self, other: Tools) -> Self {
        self.fixed.extend(other.fixed);
        self.boxes.extend(other.boxes);
        self.rules.extend(other.rules);
        self.assembled()
    }

    /// The same with the tools of a toolbox, whichever it has: runs pick up changes between their
    /// steps.
    #[must_use]
    pub fn with_toolbox(mut self, toolbox: Arc<dyn Toolbox>) -> Self {
        self.boxes.push(toolbox);
        self.assembled()
    }

    /// Whether its tools may change.
    pub fn may_change(&self) -> bool {
        !self.boxes.is_empty()
    }

    /// The set as it now is, under the same rules.
    pub(crate) async fn refreshed(&self) -> Result<Self, ToolError> {
        for toolbox in &self.boxes {
            toolbox.refresh().await?;
        }
        Ok(self.clone().assembled())
    }

    /// The list: what was put in, then what toolboxes have, all under the rules.
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

    /// The same with another rule for asking about the tool of this name.
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

    /// The same with another rule for asking about the tool of this name, whenever a toolbox has it.
    #[must_use]
    pub fn with_confirmation_whenever(
        mut self,
        name: &str,
        rule: impl Into<ConfirmationRule>,
    ) -> Self {
        self.rules.push((name.to_owned(), rule.into()));
        self.assembled()
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

    /// What they say of themselves, in order.
    pub(crate) fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.list.iter().map(|tool| tool.spec())
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
        check_names(self.names(), reserved)
    }
}

/// Refuses names that cannot be those of one set.
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

/// A tool under a rule from outside.
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
