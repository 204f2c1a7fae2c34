//! What keeps secrets out of a log: nothing is written down with one in it, and what follows from the
//! log, such as the next prompt, has none either.

use super::event::Event;
use crate::model::Secrets;
use crate::tool::ToolSpec;

impl Event {
    /// The event without secrets.
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
