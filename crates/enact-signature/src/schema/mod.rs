//! Converts types to JSON Schema, and back.

mod definitions;
mod read;
mod trim;

pub(crate) use definitions::Definitions;
pub(crate) use read::read;
pub use trim::trim_schema;

use serde_json::{Map, Value};

/// The path of shared definitions.
const DEFINITIONS: &str = "$defs";

/// The name in `#/$defs/name`.
fn definition_name(reference: &str) -> Option<&str> {
    reference
        .strip_prefix("#/$defs/")
        .filter(|name| !name.contains('/'))
}

/// Calls `visit` on the keywords of every schema in a document, outer ones first.
///
/// Values that only look like schemas (defaults, constants, examples) are skipped.
fn visit_schemas(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| visit_schemas(item, visit)),
        Value::Object(object) => {
            visit(object);
            for (key, value) in object.iter_mut() {
                match (key.as_str(), value) {
                    ("enum" | "const" | "default" | "examples", _) => {}
                    // The keys of these are names, not keywords.
                    (
                        "properties" | "patternProperties" | "dependentSchemas" | DEFINITIONS,
                        Value::Object(named),
                    ) => named
                        .values_mut()
                        .for_each(|inner| visit_schemas(inner, visit)),
                    (_, other) => visit_schemas(other, visit),
                }
            }
        }
        _ => {}
    }
}

/// Calls `visit` on every `$ref` of a schema, to collect or change it.
fn visit_references(schema: &mut Value, visit: &mut impl FnMut(&mut String)) {
    visit_schemas(schema, &mut |object| {
        if let Some(Value::String(reference)) = object.get_mut("$ref") {
            visit(reference);
        }
    });
}

/// The references of a schema.
fn references(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit_references(&mut schema.clone(), &mut |reference| {
        found.push(reference.clone())
    });
    found
}

/// The definitions that a schema needs, directly or indirectly, in the order of `all`.
fn reachable(schema: &Value, all: &Map<String, Value>) -> Map<String, Value> {
    let mut needed: Vec<String> = Vec::new();
    let mut open = references(schema);
    while let Some(reference) = open.pop() {
        let Some(name) = definition_name(&reference) else {
            continue;
        };
        if needed.iter().any(|known| known == name) {
            continue;
        }
        if let Some(definition) = all.get(name) {
            needed.push(name.to_owned());
            open.extend(references(definition));
        }
    }
    all.iter()
        .filter(|(name, _)| needed.contains(name))
        .map(|(name, definition)| (name.clone(), definition.clone()))
        .collect()
}
