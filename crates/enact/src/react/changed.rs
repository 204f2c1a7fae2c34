//! Tools that change between steps.

use std::sync::Arc;

use super::program::{Program, ProgramError};
use super::state::{Phase, RunState};
use crate::run::{Event, TerminationReason};
use crate::tool::{ToolSpec, Tools};

impl RunState {
    /// The event that says that the tools are now these; none if they are as they were.
    ///
    /// # Errors
    /// When they cannot be the tools of an agent.
    pub fn tools_changed(&self, tools: &Tools) -> Result<Option<Event>, ProgramError> {
        if self.program.tool_specs().eq(tools.specs()) {
            return Ok(None);
        }
        let tools: Vec<ToolSpec> = tools.specs().cloned().collect();
        self.program.with_tools(tools.clone())?;
        Ok(Some(Event::ToolsChanged { tools }))
    }

    pub(super) fn fold_tools(&mut self, tools: &[ToolSpec]) {
        let changed = match self.program.with_tools(tools.to_vec()) {
            Ok(changed) => changed,
            Err(problem) => {
                self.phase = Phase::Fail {
                    reason: TerminationReason::Failure,
                    message: format!("the tools that the log says cannot be used: {problem}"),
                };
                return;
            }
        };
        self.forget_what_changed(&changed);
        self.program = Arc::new(changed);
        self.rebuild_step_prompt();
        self.forget_prompt_size();
        self.measure_frame();
        if let Phase::Step = self.phase {
            self.continue_loop();
        }
    }

    /// What is known of a tool and what was allowed to it holds no more when it is another one.
    fn forget_what_changed(&mut self, program: &Program) {
        let before = Arc::clone(&self.program);
        let is_same = |name: &str| {
            let spec = |program: &Program| program.tool(name).map(|(spec, _)| spec.clone());
            spec(&before) == spec(program)
        };
        self.allowed.retain(|name, _| is_same(name));
        self.progress.forget();
    }
}
