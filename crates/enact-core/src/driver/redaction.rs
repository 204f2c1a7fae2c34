//! What keeps secrets out of a run: nothing is written down with one in it, and what follows from
//! the log, such as the next prompt, has none either.

use std::sync::Arc;

use super::World;
use crate::error::{Error, ErrorKind};
use crate::run::{Event, Started};
use crate::tool::ToolSpec;

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
            (Some(Event::ToolsChanged { mut tools }), Event::ToolsChanged { tools: before }) => {
                keep_rules(&mut tools, before);
                Event::ToolsChanged { tools }
            }
            (Some(redacted), _) => redacted,
        })
    }
}

fn with_rules_of(began: &Started, redacted: &Started) -> Started {
    let mut started = redacted.clone();
    keep_rules(&mut started.agent.tools, &began.agent.tools);
    started
}

/// A function that says when to ask is lost on the way through JSON.
fn keep_rules(tools: &mut [ToolSpec], before: &[ToolSpec]) {
    for (tool, before) in tools.iter_mut().zip(before) {
        tool.confirmation = before.confirmation.clone();
        tool.own_confirmation.clone_from(&before.own_confirmation);
    }
}
