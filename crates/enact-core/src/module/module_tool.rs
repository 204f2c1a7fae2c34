//! A program as a tool of an agent.

use std::sync::Arc;

use serde_json::Value;

use super::compose::{Completed, Module};
use crate::error::Error;
use crate::run::Run;
use crate::signature::Values;
use crate::tool::{Effect, Tool, ToolContext, ToolError, ToolFuture, ToolOutput, ToolSpec};

/// A program as a tool of an agent: its inputs are the arguments, its outputs the result.
///
/// For an agent, use [`AgentTool`](crate::AgentTool), which can pause, be resumed and be followed
/// in its own log. This tool is for all other programs, and supports none of that.
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
    /// Creates a tool with this name. The description helps the agent decide when to call it.
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

    /// Sets the effect of calls. Default: [`Effect::Effectful`]. A program that only asks models can be
    /// [`Effect::ReadOnly`].
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

/// The error that the calling model sees. Usage until the failure still counts.
pub(super) fn no_answer(who: &str, error: &Error) -> ToolError {
    let run = error.run();
    let usage = run.map(Run::usage).unwrap_or_default();
    let cost = run.and_then(Run::cost).unwrap_or_default();
    ToolError::new(format!("the {who} came to no answer: {error}")).costing(usage, cost)
}

/// The result of a program as the output of a tool: a single value is returned without its name.
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
