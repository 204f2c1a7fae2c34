//! The tools as they are now, and as the log of a run says.

use super::{World, record, within};
use crate::error::Error;
use crate::react::RunState;
use crate::tool::ToolSpec;

/// What is known of the tools of a run.
pub(super) enum Toolboxes {
    /// This process has not compared them with those of the log.
    Unseen,
    /// They are what the world has.
    Seen,
}

/// Takes in tools that have changed, and tells whether they have.
pub(super) async fn has_other_tools(
    state: &mut RunState,
    world: &World,
    known: &mut Toolboxes,
) -> Result<bool, Error> {
    let tools = world.tools();
    if let (false, Toolboxes::Seen) = (tools.may_change(), &*known) {
        return Ok(false);
    }
    let refreshed = tokio::select! {
        biased;
        // The loop sees to it.
        () = world.cancellation.cancelled() => return Ok(true),
        () = world.interruption.cancelled() => return Ok(true),
        refreshed = within(state.time_left(), tools.refreshed()) => refreshed,
    };
    // The run goes on with the tools that it has: a call of one that is gone says so.
    let refreshed = match refreshed {
        Some(Ok(refreshed)) => Some(refreshed),
        Some(Err(error)) => {
            tracing::warn!(%error, "the tools could not be listed again");
            None
        }
        // Calls that are left are given up when they are to run.
        None if state.is_acting() => None,
        None => {
            record(state, world, [state.out_of_time()]).await?;
            return Ok(true);
        }
    };
    let refreshed = match (refreshed, &*known) {
        (Some(refreshed), _) => refreshed,
        (None, Toolboxes::Seen) => return Ok(false),
        (None, Toolboxes::Unseen) => tools.clone(),
    };
    // The log, which may be that of another process, says what the run has. From then on it is what
    // was taken in that counts.
    if let Toolboxes::Seen = known
        && tools.specs().eq(refreshed.specs())
    {
        return Ok(false);
    }
    let changed = match state.tools_changed(world.listed(&refreshed)?) {
        Ok(changed) => changed,
        Err(error) => {
            tracing::warn!(%error, "the tools have changed to what cannot be used");
            return Ok(false);
        }
    };
    world.take_tools(refreshed);
    *known = Toolboxes::Seen;
    let is_changed = changed.is_some();
    record(state, world, changed).await?;
    Ok(is_changed)
}

impl World {
    /// Whether the tools are those that a log lists.
    pub(crate) fn has_tools(&self, listed: &[ToolSpec]) -> Result<bool, Error> {
        Ok(self.listed(&self.tools())? == listed)
    }

    /// Whether a tool is the one that a log lists.
    pub(super) fn is_listed(&self, tool: &ToolSpec, listed: &ToolSpec) -> bool {
        if tool.is_same_tool(listed) {
            return true;
        }
        let redacted = self.secrets.redact_all(tool);
        matches!(redacted, Ok(Some(redacted)) if redacted.is_same_tool(listed))
    }
}
