//! Keeps secrets out of a log: they are neither written to it, nor part of anything derived from it, such
//! as the next prompt.

use std::sync::Arc;

use super::event::Event;
use super::started::Started;
use crate::model::Secrets;
use crate::tool::ToolSpec;

impl Event {
    /// Removes secrets from the event.
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

/// Removes secrets from the descriptions of tools.
pub(crate) fn redacted_tools(
    tools: Vec<ToolSpec>,
    secrets: &Secrets,
) -> Result<Vec<ToolSpec>, serde_json::Error> {
    Ok(match secrets.redact_all(&tools)? {
        Some(redacted) => with_rules(redacted, &tools),
        None => tools,
    })
}

/// Restores the rules, since functions are lost in JSON.
fn with_rules(mut tools: Vec<ToolSpec>, before: &[ToolSpec]) -> Vec<ToolSpec> {
    for (tool, before) in tools.iter_mut().zip(before) {
        tool.confirmation = before.confirmation.clone();
        tool.own_confirmation.clone_from(&before.own_confirmation);
    }
    tools
}
