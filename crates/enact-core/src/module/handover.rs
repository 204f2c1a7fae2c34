//! A tool that hands over to one of several agents, by name.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::AgentTool;
use crate::error::Error;
use crate::react::ProgramError;
use crate::signature::Values;
use crate::tool::{Effect, Tool, ToolContext, ToolError, ToolFuture, ToolSpec, Tools};

/// A tool that hands over to one of several agents, by name: `hand_over(agent, inputs)`.
///
/// Its description lists the agents with their inputs and outputs, so that many agents cost one
/// tool. A call behaves like a call of the agent's own [`AgentTool`].
///
/// ```
/// use enact::{AgentTool, HandOver, ReAct, Tools};
///
/// let research = ReAct::builder("topic -> summary").build()?;
/// let translate = ReAct::builder("text, language -> translation").build()?;
/// let team = HandOver::among([
///     AgentTool::new(research, "researcher", "Finds things out."),
///     AgentTool::new(translate, "translator", "Translates texts."),
/// ])?;
/// let editor = ReAct::builder("task -> article").tools(Tools::new().with(team)).build()?;
/// # Ok::<_, enact::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct HandOver {
    agents: Vec<AgentTool>,
    spec: ToolSpec,
}

impl HandOver {
    /// Creates the tool for these agents, whose names must differ.
    pub fn among(agents: impl IntoIterator<Item = AgentTool>) -> Result<Self, Error> {
        let agents: Vec<AgentTool> = agents.into_iter().collect();
        let all = agents.iter().cloned().fold(Tools::new(), Tools::with);
        all.check(&[]).map_err(ProgramError::from)?;
        let names: Vec<&str> = agents.iter().map(|agent| &*agent.spec().name).collect();
        let mut description = "Hands a task over to another agent.".to_owned();
        for agent in &agents {
            let ToolSpec {
                name,
                description: does,
                ..
            } = agent.spec();
            let takes = agent.signature().arrow();
            description.push_str(&format!("\n- {name} ({takes}): {does}"));
        }
        let parameters = json!({
            "type": "object",
            "properties": {
                "agent": {"enum": names, "description": "Which one."},
                "inputs": {"type": "object", "description": "What it takes, by name."},
            },
            "required": ["agent", "inputs"],
            "additionalProperties": false,
        });
        let timeouts = agents.iter().map(|agent| agent.spec().timeout);
        let timeout = timeouts.max().unwrap_or_default();
        let spec = ToolSpec::new("hand_over", description, parameters)
            .with_source(ToolSpec::AGENT)
            .with_effect(Effect::Idempotent)
            .with_timeout(timeout);
        Ok(Self { agents, spec })
    }
}

impl Tool for HandOver {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, mut args: Values, context: ToolContext) -> ToolFuture<'a> {
        let name = args
            .get("agent")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let Some(agent) = self.agents.iter().find(|agent| agent.spec().name == name) else {
            let unknown = ToolError::new(format!("no agent is called `{name}`"));
            return Box::pin(std::future::ready(Err(unknown)));
        };
        let inputs = match args.remove("inputs") {
            Some(Value::Object(inputs)) => inputs,
            _ => Values::new(),
        };
        agent.call(inputs, context)
    }

    fn abandon<'a>(&'a self, context: ToolContext) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            // Only the called agent has a run for this call.
            for agent in &self.agents {
                agent.abandon(context.clone()).await;
            }
        })
    }
}
