//! Converts a server's description of a tool to enact's rules.

use std::time::Duration;

use enact_core::tool::{Confirmation, Effect, ToolSpec};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;

/// The maximum length of a tool name.
const LONGEST: usize = 64;

/// Converts a tool of this source, under this name. The schema is passed on unchanged.
///
/// For missing hints, the protocol's defaults apply: a tool without a read-only hint changes something,
/// and may be destructive unless a hint says that it isn't. Destructive tools ask first. Of contradictory
/// hints the more careful one applies: a tool that may be destructive is not
/// read-only.
pub(crate) fn spec(tool: &Tool, name: String, source: String, timeout: Duration) -> ToolSpec {
    let unsaid = ToolAnnotations::default();
    let hints = tool.annotations.as_ref().unwrap_or(&unsaid);
    let is_read_only = hints.read_only_hint == Some(true) && hints.destructive_hint != Some(true);
    let effect = match (is_read_only, hints.idempotent_hint) {
        (true, _) => Effect::ReadOnly,
        (false, Some(true)) => Effect::Idempotent,
        (false, _) => Effect::Effectful,
    };
    let confirmation = if !is_read_only && hints.destructive_hint != Some(false) {
        Confirmation::Always
    } else {
        Confirmation::Never
    };
    let said = tool.description.as_deref();
    let description = said.or(tool.title.as_deref()).unwrap_or_default();
    let parameters = Value::Object(tool.input_schema.as_ref().clone());
    ToolSpec::new(name, description, parameters)
        .with_source(source)
        .with_effect(effect)
        .with_confirmation(confirmation)
        .with_timeout(timeout)
        // No hint says that a result stays valid: a clock is also read-only and a closed world.
        .volatile()
}

/// A similar name that models can call.
pub(crate) fn callable(name: &str) -> String {
    let kept = name.chars().map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => c,
        _ => '_',
    });
    kept.take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(annotations: Value) -> ToolSpec {
        let tool: Tool = serde_json::from_value(json!({
            "name": "t",
            "inputSchema": {"type": "object", "properties": {"a": {"default": 3}}, "x-own": true},
            "annotations": annotations,
        }))
        .unwrap();
        let source = "mcp:s".to_owned();
        spec(&tool, "t".to_owned(), source, Duration::from_secs(5))
    }

    #[test]
    fn truth_hints_become_rules_and_the_more_careful_one_holds() {
        use Confirmation::{Always, Never};
        use Effect::{Effectful, Idempotent, ReadOnly};
        for (hints, effect, confirmation) in [
            (json!(null), Effectful, Always),
            (json!({}), Effectful, Always),
            (json!({"readOnlyHint": true}), ReadOnly, Never),
            (
                json!({"readOnlyHint": true, "destructiveHint": false, "openWorldHint": false}),
                ReadOnly,
                Never,
            ),
            // The more careful of two hints.
            (
                json!({"readOnlyHint": true, "destructiveHint": true}),
                Effectful,
                Always,
            ),
            (
                json!({"readOnlyHint": true, "destructiveHint": true, "idempotentHint": true}),
                Idempotent,
                Always,
            ),
            (json!({"destructiveHint": false}), Effectful, Never),
            (
                json!({"destructiveHint": false, "idempotentHint": true}),
                Idempotent,
                Never,
            ),
            (
                json!({"destructiveHint": true, "idempotentHint": true}),
                Idempotent,
                Always,
            ),
        ] {
            let spec = of(hints.clone());
            let found = (spec.effect, spec.confirmation);
            assert_eq!(found, (effect, confirmation), "{hints}");
            assert!(spec.volatile, "{hints}");
        }
    }

    #[test]
    fn the_schema_goes_through_as_it_is() {
        let expected =
            json!({"type": "object", "properties": {"a": {"default": 3}}, "x-own": true});
        assert_eq!(of(json!({})).parameters, expected);
    }

    #[test]
    fn every_name_can_be_called() {
        assert_eq!(callable("git.log/all"), "git_log_all");
        assert_eq!(callable(&"x".repeat(128)).len(), 64);
    }
}
