//! What keeps secrets out of a log: nothing is written down with one in it, and what follows from the
//! log, such as the next prompt, has none either.

use std::sync::Arc;

use super::event::Event;
use super::started::Started;
use crate::model::Secrets;
use crate::tool::ToolSpec;

impl Event {
    /// The event without secrets.
    pub(crate) fn redacted(self, secrets: &Secrets) -> Result<Self, serde_json::Error> {
        Ok(match (secrets.redact_all(&self)?, &self) {
            (None, _) => self,
            (Some(Self::Started(redacted)), Self::Started(began)) => {
                Self::Started(Arc::new(with_rules_of(began, &redacted)))
            }
            (Some(Self::ToolsChanged { tools }), Self::ToolsChanged { tools: before }) => {
                let tools = with_rules(tools, before);
                Self::ToolsChanged { tools }
            }
            (Some(redacted), _) => redacted,
        })
    }
}

fn with_rules_of(began: &Started, redacted: &Started) -> Started {
    let mut started = redacted.clone();
    started.agent.tools = with_rules(started.agent.tools, &began.agent.tools);
    started
}

/// What tools say of themselves, without secrets.
pub(crate) fn redacted_tools(
    tools: Vec<ToolSpec>,
    secrets: &Secrets,
) -> Result<Vec<ToolSpec>, serde_json::Error> {
    Ok(match secrets.redact_all(&tools)? {
        Some(redacted) => with_rules(redacted, &tools),
        None => tools,
    })
}

/// A function that says when to ask is lost on the way through JSON.
fn with_rules(mut tools: Vec<ToolSpec>, before: &[ToolSpec]) -> Vec<ToolSpec> {
    for (tool, before) in tools.iter_mut().zip(before) {
        tool.confirmation = before.confirmation.clone();
        tool.own_confirmation.clone_from(&before.own_confirmation);
    }
    tools
}
