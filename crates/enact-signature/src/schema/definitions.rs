//! Writes types as JSON Schema, with shared definitions.

use serde_json::{Map, Value, json};

use super::{DEFINITIONS, definition_name, references, visit_references};
use crate::{Property, SchemaType, Type};

/// The definitions that the schemas of one document share.
///
/// A reference such as `#/$defs/Report` is relative to the root of the document, so a schema inside
/// another has to move its definitions up; two different ones must not end up under the same
/// name.
#[derive(Default)]
pub(crate) struct Definitions(Map<String, Value>);

impl Definitions {
    /// The schema of a type, for use anywhere in the document.
    pub(crate) fn schema_of(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Str => json!({"type": "string"}),
            Type::Int => json!({"type": "integer"}),
            Type::Float => json!({"type": "number"}),
            Type::Bool => json!({"type": "boolean"}),
            Type::Any => json!({}),
            Type::List(item) => json!({"type": "array", "items": self.schema_of(item)}),
            Type::Dict(value) => {
                json!({"type": "object", "additionalProperties": self.schema_of(value)})
            }
            Type::Moment(moment) => json!({"type": "string", "format": moment.format()}),
            Type::Image => image(),
            Type::Object(properties) => self.object(properties),
            Type::Ranged(ranged) => {
                let mut schema = self.schema_of(ranged.ty());
                for (keyword, limit) in ranged.limits() {
                    schema[keyword] = Value::Number(limit.clone());
                }
                schema
            }
            Type::Literal(values) => literal(values),
            Type::Optional(inner) => {
                json!({"anyOf": [self.schema_of(inner), {"type": "null"}]})
            }
            Type::Union(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|member| self.schema_of(member))
                    .collect();
                json!({"anyOf": members})
            }
            Type::Schema(known) => self.adopt(known),
        }
    }

    fn object(&mut self, properties: &[Property]) -> Value {
        let (mut schemas, mut required) = (Map::new(), Vec::new());
        for property in properties {
            let mut schema = self.schema_of(&property.ty);
            if let (Value::Object(schema), Some(description)) = (&mut schema, &property.description)
            {
                schema.insert("description".to_owned(), json!(description));
            }
            if !property.ty.is_optional() {
                required.push(property.name.as_str());
            }
            schemas.insert(property.name.clone(), schema);
        }
        json!({
            "type": "object",
            "properties": schemas,
            "required": required,
            "additionalProperties": false,
        })
    }

    /// Adds the definitions to the root of the document.
    pub(crate) fn attach(self, mut root: Map<String, Value>) -> Map<String, Value> {
        if !self.0.is_empty() {
            root.insert(DEFINITIONS.to_owned(), Value::Object(self.0));
        }
        root
    }

    fn adopt(&mut self, known: &SchemaType) -> Value {
        let mut body = known.schema.clone();
        let mut own = Map::new();
        if let Value::Object(object) = &mut body {
            object.shift_remove("$schema");
            if let Some(Value::Object(definitions)) = object.shift_remove(DEFINITIONS) {
                own = definitions;
            }
        }
        // `#` refers to this schema; inside a document it would refer to the document.
        let refers_to_itself = |schema: &Value| references(schema).iter().any(|r| r == "#");
        if refers_to_itself(&body) || own.values().any(refers_to_itself) {
            let name = fresh(&known.name.replace('/', "_"), |name| own.contains_key(name));
            own.insert(name.clone(), body);
            let target = format!("#/$defs/{name}");
            for definition in own.values_mut() {
                visit_references(definition, &mut |reference| {
                    if reference == "#" {
                        reference.clone_from(&target);
                    }
                });
            }
            body = json!({"$ref": target});
        }

        let renamed = self.renamed(&own);
        let mut follow = |reference: &mut String| {
            if let Some(name) = definition_name(reference).and_then(|name| renamed.get(name)) {
                *reference = format!("#/$defs/{name}");
            }
        };
        visit_references(&mut body, &mut follow);
        for (name, mut definition) in own {
            visit_references(&mut definition, &mut follow);
            let name = renamed.get(&name).cloned().unwrap_or(name);
            self.0.entry(name).or_insert(definition);
        }
        body
    }

    /// New names for definitions whose name is already taken by another one, and for those changed by such
    /// a renaming.
    fn renamed(&self, own: &Map<String, Value>) -> std::collections::BTreeMap<String, String> {
        let mut renamed = std::collections::BTreeMap::new();
        loop {
            let before = renamed.len();
            for (name, definition) in own {
                let Some(existing) = self.0.get(name) else {
                    continue;
                };
                let follows = references(definition)
                    .iter()
                    .any(|r| definition_name(r).is_some_and(|target| renamed.contains_key(target)));
                if (existing != definition || follows) && !renamed.contains_key(name) {
                    let new = fresh(name, |candidate| {
                        self.0.contains_key(candidate) || own.contains_key(candidate)
                    });
                    renamed.insert(name.clone(), new);
                }
            }
            if renamed.len() == before {
                return renamed;
            }
        }
    }
}

fn fresh(wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = wanted.to_owned();
    let mut number = 2;
    while taken(&name) {
        name = format!("{wanted}{number}");
        number += 1;
    }
    name
}

/// An image in the form of the library.
fn image() -> Value {
    let one = |name: &str| {
        json!({
            "type": "object",
            "properties": {name: {"type": "string"}},
            "required": [name],
            "additionalProperties": false,
        })
    };
    json!({
        "type": "object",
        "properties": {
            "media_type": {"type": "string"},
            "source": {"oneOf": [one("url"), one("base64")]},
        },
        "required": ["media_type", "source"],
    })
}

fn literal(values: &[Value]) -> Value {
    // Some providers reject an enumeration without a type.
    let kind = |value: &Value| match value {
        Value::String(_) => Some("string"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_f64() => Some("number"),
        Value::Number(_) => Some("integer"),
        _ => None,
    };
    match values.first().and_then(kind) {
        Some(first) if values.iter().all(|value| kind(value) == Some(first)) => {
            json!({"type": first, "enum": values})
        }
        _ => json!({"enum": values}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(field: &str) -> Type {
        Type::schema(
            "Report",
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {"inner": {"$ref": "#/$defs/Inner"}},
                "$defs": {"Inner": {"type": "object", "properties": {field: {"type": "string"}}}},
            }),
        )
    }

    #[test]
    fn plain_types() {
        assert_eq!(
            Type::optional(Type::dict(Type::Int)).json_schema(),
            json!({"anyOf": [
                {"type": "object", "additionalProperties": {"type": "integer"}},
                {"type": "null"},
            ]})
        );
        assert_eq!(Type::Any.json_schema(), json!({}));
        assert_eq!(
            Type::literal(["a", "b"]).json_schema(),
            json!({"type": "string", "enum": ["a", "b"]})
        );
        assert_eq!(
            Type::literal([json!("a"), json!(1)]).json_schema(),
            json!({"enum": ["a", 1]})
        );
    }

    #[test]
    fn definitions_move_to_the_root() {
        assert_eq!(
            Type::list(report("a")).json_schema(),
            json!({
                "type": "array",
                "items": {"type": "object", "properties": {"inner": {"$ref": "#/$defs/Inner"}}},
                "$defs": {"Inner": {"type": "object", "properties": {"a": {"type": "string"}}}},
            })
        );
    }

    #[test]
    fn equal_definitions_are_shared_and_different_ones_renamed() {
        let mut definitions = Definitions::default();
        definitions.schema_of(&report("a"));
        definitions.schema_of(&report("a"));
        let third = definitions.schema_of(&report("b"));
        assert_eq!(
            third["properties"]["inner"],
            json!({"$ref": "#/$defs/Inner2"})
        );
        let root = definitions.attach(Map::new());
        let names: Vec<_> = root["$defs"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["Inner", "Inner2"]);
    }

    #[test]
    fn a_schema_that_refers_to_itself_becomes_a_definition() {
        let node = Type::schema(
            "Node",
            json!({"type": "object", "properties": {
                "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
            }}),
        );
        assert_eq!(
            Type::list(node).json_schema(),
            json!({
                "type": "array",
                "items": {"$ref": "#/$defs/Node"},
                "$defs": {"Node": {"type": "object", "properties": {
                    "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                }}},
            })
        );
    }

    #[test]
    fn what_only_looks_like_a_reference_stays() {
        let ty = Type::schema(
            "Odd",
            json!({"type": "object", "properties": {
                "default": {"$ref": "#"},
                "link": {"type": "object", "default": {"$ref": "#"}},
            }}),
        );
        let schema = Type::list(ty).json_schema();
        let odd = &schema["$defs"]["Odd"]["properties"];
        assert_eq!(odd["default"], json!({"$ref": "#/$defs/Odd"}));
        assert_eq!(odd["link"]["default"], json!({"$ref": "#"}));
    }
}
