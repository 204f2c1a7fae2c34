//! What keeps secrets out of a run: nothing is written down with one in it.

use super::World;
use crate::error::{Error, ErrorKind};
use crate::run::{Event, redacted_tools};
use crate::tool::{ToolSpec, Tools};

impl World {
    /// The event without secrets.
    pub(crate) fn redacted(&self, event: Event) -> Result<Event, Error> {
        event.redacted(&self.secrets).map_err(cannot)
    }

    /// What tools say of themselves, as a log tells it: without secrets.
    pub(super) fn listed(&self, tools: &Tools) -> Result<Vec<ToolSpec>, Error> {
        let tools = tools.specs().cloned().collect();
        redacted_tools(tools, &self.secrets).map_err(cannot)
    }
}

fn cannot(error: serde_json::Error) -> Error {
    let message = "an event cannot be told without a secret that is in it";
    Error::new(ErrorKind::Misuse, message).with_source(error)
}
