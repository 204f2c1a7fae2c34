//! The settings that affect an agent: results with other settings are not reused.

use enact::Values;
use enact::run::Rules;
use enact::tool::Confirmation;
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
    let plan = &setup.plan;
    let signature = &plan.signature;
    let instructions = Some(signature.instructions());
    let ruled = |rule: Confirmation| -> Vec<&String> {
        let rules = plan.approval.iter().filter(|(_, known)| **known == rule);
        rules.map(|(name, _)| name).collect()
    };
    let rules = (plan.rules != Rules::default()).then_some(&plan.rules);
    let all = json!({
        "signature": setup.agent.signature().arrow(),
        "model": setup.model,
        "base_url": setup.plan.models.first().map(|named| &named.base_url),
        "fallbacks": setup.plan.models.iter().skip(1).map(|named| &named.name).collect::<Vec<_>>(),
        "adapter": setup.adapter.as_ref().or(plan.asking.adapter.as_ref()),
        "thought_prompt": plan.reasoning.thought_prompt,
        "step_adapter": plan.reasoning.step_adapter,
        "thought_tag": plan.reasoning.thought_tag,
        "action_tag": plan.reasoning.action_tag,
        "observation_tag": plan.reasoning.observation_tag,
        "completion": plan.asking.completion.unwrap_or_default().tool_name(),
        "limits": plan.limits,
        "rules": rules,
        "instructions": instructions.filter(|_| !signature.has_default_instructions()),
        "tools": setup.agent.tools().iter().map(|tool| &tool.name).collect::<Vec<_>>(),
        "files": setup.notes.get("files"),
        "reach": setup.notes.get("reach"),
        "mcp": setup.notes.get("mcp"),
        "agents": setup.notes.get("agents"),
        "hooks": setup.notes.get("hooks"),
        "extraction": setup.notes.get("extraction"),
        "compaction": setup.notes.get("compaction"),
        "demos": setup.notes.get("demos"),
        "allow": ruled(Confirmation::Never),
        "ask": ruled(Confirmation::Always),
        "temperature": plan.replies.temperature,
        "max_tokens": plan.replies.max_tokens,
        "seed": plan.replies.seed,
        "reasoning_effort": plan.replies.reasoning_effort,
        "history": history,
    });
    let Value::Object(mut all) = all else {
        return Ok(Values::new());
    };
    all.retain(|_, value| !value.is_null() && *value != json!([]));
    Ok(all)
}
