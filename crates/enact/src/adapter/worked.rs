//! Worked steps: they show a model the form of its replies better than a description does.

use serde_json::{Value, json};

use super::Adapter;
use super::task::{Task, Tooling};
use crate::run::{Call, Entry};
use crate::signature::Values;
use crate::tool::ToolSpec;

/// How deep a sample value goes into its schema.
const DEPTH: usize = 4;

/// What a reply that calls a tool looks like, and what the last reply looks like, in the words of
/// an adapter. The values are samples made from the schemas.
pub(super) fn steps(adapter: &dyn Adapter, task: &Task, tooling: &Tooling) -> String {
    let example = |spec: &ToolSpec, thought: &str| {
        let args = match sample(&spec.parameters, &spec.parameters, DEPTH) {
            Value::Object(args) => args,
            _ => Values::new(),
        };
        let name = spec.name.clone();
        let call = Call {
            id: String::new(),
            name,
            args,
            raw: None,
        };
        let entry = Entry::Assistant {
            text: thought.to_owned(),
            calls: vec![call],
            opaque: None,
        };
        let said = adapter.render(task, &entry);
        said.first()
            .map(|message| message.text())
            .unwrap_or_default()
    };
    let mut text = String::new();
    let completing = tooling.completion.tool_name();
    if let Some(tool) = tooling.specs.iter().find(|spec| spec.name != completing) {
        // A small model writes on in these words: asked for what it knows, it makes something up.
        let step = example(tool, "I need …, which this tool can tell.");
        text.push_str(&format!(
            "A reply that calls a tool looks like this:\n\n{step}\n\n"
        ));
    }
    if let Some(tool) = tooling.spec(completing) {
        let step = example(tool, "The results show that ….");
        text.push_str(&format!("The last reply looks like this:\n\n{step}"));
    }
    text
}

/// A value that fits a schema, as far as that can be told at a glance.
fn sample(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    if let Some(known) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return known.clone();
    }
    if let Some(target) = schema["$ref"].as_str() {
        let pointer = target.strip_prefix('#').unwrap_or_default();
        return root
            .pointer(pointer)
            .map_or(Value::Null, |found| sample(found, root, depth - 1));
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(branch) = schema[keyword].get(0) {
            return sample(branch, root, depth - 1);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    match kind {
        Some("string") => json!("…"),
        Some("integer") => json!(1),
        Some("number") => json!(1.5),
        Some("boolean") => json!(true),
        Some("array") => json!([sample(&schema["items"], root, depth - 1)]),
        Some("object") => {
            let required: Vec<&str> = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties
                .filter(|(name, _)| required.contains(&name.as_str()))
                .map(|(name, schema)| (name.clone(), sample(schema, root, depth - 1)))
                .collect::<Values>()
                .into()
        }
        _ => json!("…"),
    }
}
