//! Tools that change between steps.

use std::sync::Arc;

use super::program::ProgramError;
use super::state::{Phase, RunState};
use crate::run::{Event, TerminationReason};
use crate::tool::ToolSpec;

impl RunState {
    /// The event that says that the tools are now these; none if they are as they were. The tools
    /// are told as the log tells them, without secrets.
    ///
    /// # Errors
    /// When they cannot be the tools of an agent.
    pub fn tools_changed(&self, tools: Vec<ToolSpec>) -> Result<Option<Event>, ProgramError> {
        if self.run.tools_at(self.seen.at) == tools {
            return Ok(None);
        }
        self.program.with_tools(tools.clone())?;
        Ok(Some(Event::tools_changed(tools)))
    }

    pub(super) fn fold_tools(&mut self) {
        let treated = self.seen.take(self.run.tools_record(), self.run.tools());
        let changed = match self.program.with_tools(treated) {
            Ok(changed) => changed,
            Err(problem) => {
                let message = format!("the tools that the log says cannot be used: {problem}");
                self.phase = Phase::Record(Event::failed(TerminationReason::Failure, message));
                return;
            }
        };
        // Whatever was answered was answered by other tools.
        self.progress.forget();
        self.program = Arc::new(changed);
        self.steps.forget();
        self.forget_prompt_size();
    }
}
