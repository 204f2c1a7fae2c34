//! A program as a tool of an agent.

use std::sync::Arc;

use serde_json::Value;

use super::compose::{Completed, Module};
use crate::error::Error;
use crate::run::Run;
use crate::signature::Values;
use crate::tool::{Effect, Tool, ToolContext, ToolError, ToolFuture, ToolOutput, ToolSpec};

/// A program as a tool of an agent: its inputs are the arguments, its outputs what the call gives.
///
/// An agent as a tool is an [`AgentTool`](crate::AgentTool): that can pause, be resumed and be
/// followed in its own log. This is for the other programs, and does neither.
///
/// ```
/// use enact::{ModuleTool, Predict, ReAct, Tools};
///
/// let translate = Predict::builder("text, language -> translation").build()?;
/// let translate = ModuleTool::new(translate, "translate", "Translates a text.");
/// let agent = ReAct::builder("task -> report").tools(Tools::new().with(translate)).build()?;
/// # Ok::<_, enact::Error>(())
/// ```
#[derive(Clone)]
pub struct ModuleTool {
    module: Arc<dyn Module>,
    spec: ToolSpec,
}

impl ModuleTool {
    /// A tool of this name. The description tells the agent when to call it.
    pub fn new(
        module: impl Module + 'static,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        let parameters = module.signature().input_schema();
        Self {
            module: Arc::new(module),
            spec: ToolSpec::new(name, description, parameters).with_source("module"),
        }
    }

    /// The same, with what its calls do in the world; [`Effect::Effectful`] unless set. A program
    /// that only asks models may be [`Effect::ReadOnly`].
    #[must_use]
    pub fn with_effect(mut self, effect: Effect) -> Self {
        self.spec = self.spec.with_effect(effect);
        self
    }
}

impl std::fmt::Debug for ModuleTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModuleTool")
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}

impl Tool for ModuleTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, args: Values, _context: ToolContext) -> ToolFuture<'a> {
        Box::pin(async move {
            match self.module.forward(args).await {
                Ok(done) => Ok(output_of(done)),
                Err(error) => Err(no_answer("program", &error)),
            }
        })
    }
}

/// What the calling model is told of a failure. What was spent until then counts.
pub(super) fn no_answer(who: &str, error: &Error) -> ToolError {
    let run = error.run();
    let usage = run.map(Run::usage).unwrap_or_default();
    let cost = run.and_then(Run::cost).unwrap_or_default();
    ToolError::new(format!("the {who} came to no answer: {error}")).costing(usage, cost)
}

/// What a program gave, as the output of a tool: the value itself if there is only one.
pub(super) fn output_of(done: Completed) -> ToolOutput {
    let mut outputs = done.outputs;
    let value = match outputs.len() {
        1 => outputs.values_mut().next().map(Value::take),
        _ => None,
    };
    let mut output = ToolOutput::value(value.unwrap_or(Value::Object(outputs)));
    output.usage = done.usage;
    output.cost = done.cost;
    output
}
