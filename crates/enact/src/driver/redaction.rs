//! What keeps secrets out of a run: nothing is written down with one in it, and what follows from
//! the log, such as the next prompt, has none either.

use std::sync::Arc;

use super::World;
use crate::error::{Error, ErrorKind};
use crate::run::{Event, Started};

impl World {
    /// The event without secrets.
    pub(crate) fn redacted(&self, event: Event) -> Result<Event, Error> {
        let redacted = self.secrets.redact_all(&event).map_err(|error| {
            let message = "an event cannot be told without a secret that is in it";
            Error::new(ErrorKind::Misuse, message).with_source(error)
        })?;
        Ok(match (redacted, &event) {
            (None, _) => event,
            (Some(Event::Started(redacted)), Event::Started(began)) => {
                Event::Started(Arc::new(with_rules_of(began, &redacted)))
            }
            (Some(redacted), _) => redacted,
        })
    }
}

/// A function that says when to ask is lost on the way through JSON.
fn with_rules_of(began: &Started, redacted: &Started) -> Started {
    let mut started = redacted.clone();
    for (tool, before) in started.agent.tools.iter_mut().zip(&began.agent.tools) {
        tool.confirmation = before.confirmation.clone();
    }
    started
}
