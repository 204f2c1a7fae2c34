//! The identity of a tool, to which approvals and rules are bound.

use std::collections::BTreeSet;

use serde_json::Value;

use super::spec::ToolSpec;
use crate::signature::{canonical_json, digest};

/// The maximum length of a quoted description.
const QUOTED: usize = 160;
/// How much of it is quoted before the first difference.
const BEFORE: usize = 40;

impl ToolSpec {
    /// Whether this is the same tool as another: the same source, name, description, arguments and
    /// effect. Approvals and rules apply to the same tool only. The layout of JSON doesn't matter,
    /// nor do time limits and confirmation rules.
    ///
    /// ```
    /// use enact::tool::ToolSpec;
    /// use serde_json::json;
    ///
    /// let search = |source: &str| {
    ///     ToolSpec::new("search", "Searches.", json!({"type": "object"})).with_source(source)
    /// };
    /// assert!(search("a").is_same_tool(&search("a").serial()));
    /// assert!(!search("a").is_same_tool(&search("b")));
    /// assert_eq!(
    ///     search("b").changes_since(&search("a")),
    ///     ["it now comes from `b`, before from `a`"],
    /// );
    /// ```
    pub fn is_same_tool(&self, other: &Self) -> bool {
        self.source == other.source
            && self.name == other.name
            && self.effect == other.effect
            && self.description.trim() == other.description.trim()
            && self.parameters == other.parameters
    }

    /// What has changed since an earlier version of the tool, in words for people; empty for the
    /// [same tool](ToolSpec::is_same_tool).
    pub fn changes_since(&self, before: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        if self.name != before.name {
            changes.push(format!(
                "it is now called `{}`, before `{}`",
                self.name, before.name
            ));
        }
        if self.source != before.source {
            let (now, then) = (
                spoken(self.source.as_deref()),
                spoken(before.source.as_deref()),
            );
            changes.push(format!("it now comes from {now}, before from {then}"));
        }
        if self.description.trim() != before.description.trim() {
            let (now, then) = excerpts(self.description.trim(), before.description.trim());
            changes.push(format!(
                "its description is now \"{now}\", before \"{then}\""
            ));
        }
        if self.parameters != before.parameters {
            changes.push(argument_changes(&self.parameters, &before.parameters));
        }
        if self.effect != before.effect {
            changes.push(format!(
                "its effect is now `{}`, before `{}`",
                self.effect.as_str(),
                before.effect.as_str()
            ));
        }
        changes
    }

    /// A digest of everything that makes it [this tool](ToolSpec::is_same_tool): equal for the same tool.
    pub fn identity(&self) -> String {
        digest(&[
            if self.source.is_some() { "from" } else { "" },
            self.source.as_deref().unwrap_or_default(),
            &self.name,
            self.description.trim(),
            &canonical_json(&self.parameters),
            self.effect.as_str(),
        ])
    }
}

fn spoken(source: Option<&str>) -> String {
    match source {
        Some(source) => format!("`{}`", source.escape_debug()),
        None => "the program itself".to_owned(),
    }
}

/// Two texts from shortly before their first difference. Control characters are escaped, so that
/// the author of a description can't control the terminal of the person who is asked.
fn excerpts(now: &str, before: &str) -> (String, String) {
    let same = now.chars().zip(before.chars());
    let same = same.take_while(|(now, before)| now == before).count();
    let skipped = same.saturating_sub(BEFORE);
    let excerpt = |text: &str| {
        let mut rest = text.chars().skip(skipped);
        let shown: String = rest.by_ref().take(QUOTED).collect();
        let start = if skipped > 0 { "…" } else { "" };
        let end = if rest.next().is_some() { "…" } else { "" };
        format!("{start}{}{end}", shown.escape_debug())
    };
    (excerpt(now), excerpt(before))
}

/// The arguments that a schema lists or requires.
fn names(schema: &Value) -> impl Iterator<Item = &str> {
    let listed = schema["properties"].as_object().into_iter();
    let listed = listed.flat_map(|properties| properties.keys().map(String::as_str));
    let required = schema["required"].as_array().into_iter().flatten();
    listed.chain(required.filter_map(Value::as_str))
}

/// The changed arguments, as far as the schemas list them.
fn argument_changes(now: &Value, before: &Value) -> String {
    let mut changes = Vec::new();
    let names: BTreeSet<&str> = [now, before].into_iter().flat_map(names).collect();
    for name in names {
        let shown = name.escape_debug();
        let is_required = |schema: &Value| {
            let required = schema["required"].as_array();
            required.is_some_and(|names| names.iter().any(|known| known == name))
        };
        match (now["properties"].get(name), before["properties"].get(name)) {
            (Some(_), None) => changes.push(format!("`{shown}` is new")),
            (None, Some(_)) => changes.push(format!("`{shown}` is gone")),
            (now, before) if now != before => changes.push(format!("`{shown}` is different")),
            _ => {}
        }
        if is_required(now) && !is_required(before) {
            changes.push(format!("`{shown}` is now required"));
        }
    }
    match changes.is_empty() {
        true => "the schema of its arguments is different".to_owned(),
        false => format!("its arguments are different: {}", changes.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::Effect;

    fn tool(description: &str, parameters: Value) -> ToolSpec {
        ToolSpec::new("search", description, parameters)
    }

    #[test]
    fn the_digest_is_that_of_the_tool_and_not_of_its_layout() {
        let one = tool("Searches.", json!({"type": "object", "properties": {}}));
        let same = tool("Searches.\n", json!({"properties": {}, "type": "object"}));
        assert!(one.is_same_tool(&same));
        assert_eq!(one.identity(), same.identity());
        assert_eq!(one.changes_since(&same), [] as [String; 0]);
        for other in [
            one.clone().with_source("mcp:a"),
            one.clone().with_source(""),
            one.clone().with_effect(Effect::ReadOnly),
            tool("Searches more.", one.parameters.clone()),
            tool("Searches.", json!({"type": "object"})),
        ] {
            assert!(!one.is_same_tool(&other));
            assert_ne!(one.identity(), other.identity());
            assert_eq!(other.changes_since(&one).len(), 1);
        }
    }

    #[test]
    fn what_changed_is_said_in_words() {
        let before = json!({"properties": {"q": {"type": "string"}, "n": {"type": "integer"}}});
        let now = json!({
            "properties": {"q": {"type": "array"}, "to": {"type": "string"}},
            "required": ["q", "why"],
        });
        let changes = tool("Searches.", now).changes_since(&tool("Searches.", before));
        assert_eq!(
            changes,
            [
                "its arguments are different: `n` is gone, `q` is different, `q` is now required, \
              `to` is new, `why` is now required"
            ]
        );
        let long = "x".repeat(500);
        let now = tool(&format!("{long} and\u{1b}[2J deletes."), json!({}));
        let changes = now.changes_since(&tool(&long, json!({})));
        let shown = "x".repeat(40);
        assert_eq!(
            changes,
            [format!(
                "its description is now \"…{shown} and\\u{{1b}}[2J deletes.\", before \"…{shown}\""
            )]
        );
    }
}
