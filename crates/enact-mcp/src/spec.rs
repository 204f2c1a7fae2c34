//! What a server says of a tool, as rules of enact.

use std::time::Duration;

use enact_core::tool::{Confirmation, Effect, ToolSpec};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;

/// The longest name that models can call.
const LONGEST: usize = 64;

/// A tool of this source in our words, under this name. The schema is passed on as it is.
///
/// Where the server leaves something unsaid, the protocol's own defaults hold: a tool that does
/// not say that it is read-only changes something, and may destroy something unless it says that
/// it does not. What may destroy asks first. Of hints that contradict each other the more careful
/// one holds: nothing that may destroy is read-only.
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
        // No hint says that an answer stays true: a clock, too, is read-only and a closed world.
        .volatile()
}

/// A name that models can call, nearest to this one.
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
