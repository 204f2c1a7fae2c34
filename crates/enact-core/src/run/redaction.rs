//! Keeps secrets out of a log: they are neither written to it, nor part of anything derived from it, such
//! as the next prompt.

use super::event::Event;
use crate::model::Secrets;
use crate::tool::ToolSpec;

impl Event {
    /// Removes secrets from the event.
    pub(crate) fn redacted(self, secrets: &Secrets) -> Result<Self, serde_json::Error> {
        Ok(secrets.redact_all(&self)?.unwrap_or(self))
    }
}

/// What tools say of themselves, without secrets.
pub(crate) fn redacted_tools(
    tools: Vec<ToolSpec>,
    secrets: &Secrets,
) -> Result<Vec<ToolSpec>, serde_json::Error> {
    Ok(secrets.redact_all(&tools)?.unwrap_or(tools))
}
