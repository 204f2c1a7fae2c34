//! Tools that change between steps.

use std::sync::Arc;

use super::program::ProgramError;
use super::state::{Phase, RunState};
use crate::run::{Event, TerminationReason};
use crate::tool::ToolSpec;

impl RunState {
    /// The event for changed tools; none if they are unchanged. The tools are compared in the form of the
    /// log, without secrets.
    ///
    /// # Errors
    /// If they can't be the tools of an agent.
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
        // Earlier answers came from earlier tools.
        self.progress.forget();
        self.program = Arc::new(changed);
        self.rebuild_step_prompt();
        self.forget_prompt_size();
        self.measure_frame();
        if let Phase::Step = self.phase {
            self.continue_loop();
        }
    }
}
