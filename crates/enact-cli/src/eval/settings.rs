//! What decides what an agent does: an evaluation with other settings is another one.

use enact::Values;
use enact::run::Limits;
use serde_json::{Value, json};

use crate::args::EvalArgs;
use crate::exit::Failure;
use crate::run::Setup;

/// The settings of the agent, by name.
pub(super) fn of(args: &EvalArgs, setup: &Setup) -> Result<Values, Failure> {
    let agent = &args.agent;
    let history = match &agent.history {
        Some(_) => serde_json::to_value(&setup.history)
            .map_err(|error| Failure::failed("history", error.to_string()))?,
        None => Value::Null,
    };
    let mut limits = Limits::default();
    agent.limits.apply(&mut limits);
    let all = json!({
        "signature": setup.agent.signature().arrow(),
        "model": setup.model,
        "base_url": setup.models.first().map(|named| &named.base_url),
        "fallbacks": setup.models.iter().skip(1).map(|named| &named.name).collect::<Vec<_>>(),
        "adapter": agent.adapter,
        "completion": enact::Completion::from(agent.completion).tool_name(),
        "limits": limits,
        "instructions": agent.instructions,
        "tools": setup.agent.tools().names().collect::<Vec<_>>(),
        "files": setup.notes.get("files"),
        "reach": setup.notes.get("reach"),
        "mcp": setup.notes.get("mcp"),
        "allow": agent.allow,
        "ask": agent.ask,
        "temperature": agent.temperature,
        "history": history,
    });
    let Value::Object(mut all) = all else {
        return Ok(Values::new());
    };
    all.retain(|_, value| !value.is_null() && *value != json!([]));
    Ok(all)
}
