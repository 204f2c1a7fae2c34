//! Reads a type from its JSON Schema.

use serde_json::{Map, Value};

use super::{DEFINITIONS, definition_name, reachable, references};
use crate::arrow::MAX_DEPTH;
use crate::{Moment, Property, Type, ranged};

/// Keywords that don't affect which values are allowed.
const ANNOTATIONS: [&str; 9] = [
    "$schema",
    "$comment",
    DEFINITIONS,
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
];

pub(crate) fn read(schema: &Value) -> Type {
    let empty = Map::new();
    let definitions = schema
        .get(DEFINITIONS)
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let reader = Reader { definitions };
    // A reference to the root is only valid as long as the root stays whole.
    if references(schema).iter().any(|reference| reference == "#") {
        return reader.keep(schema, None);
    }
    reader.read(schema, None, MAX_DEPTH)
}

struct Reader<'a> {
    definitions: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn read(&self, schema: &Value, name: Option<&str>, depth: usize) -> Type {
        let object = match schema {
            Value::Bool(true) => return Type::Any,
            Value::Object(object) if depth > 0 => object,
            _ => return self.keep(schema, name),
        };
        if let Some(object) = self.object(object, name, depth) {
            return object;
        }
        self.simple(object, depth)
            .unwrap_or_else(|| self.keep(schema, name))
    }

    /// The plain type that is equivalent to the schema, if there is one.
    fn simple(&self, object: &Map<String, Value>, depth: usize) -> Option<Type> {
        let only = |allowed: &[&str]| {
            object
                .keys()
                .all(|key| allowed.contains(&key.as_str()) || ANNOTATIONS.contains(&key.as_str()))
        };
        if only(&[]) {
            return Some(Type::Any);
        }
        if let Some(Value::String(reference)) = object.get("$ref") {
            return match only(&["$ref"]) {
                true => self.referenced(reference, depth),
                false => None,
            };
        }
        if let Some(Value::Array(members)) = object.get("anyOf") {
            return match only(&["anyOf"]) {
                true => self.any_of(members, depth),
                false => None,
            };
        }
        let values = match (object.get("enum"), object.get("const")) {
            (Some(Value::Array(values)), _) => Some((values.as_slice(), "enum")),
            (_, Some(value)) => Some((std::slice::from_ref(value), "const")),
            _ => None,
        };
        if let Some((values, keyword)) = values {
            return match only(&[keyword, "type"]) {
                true => enumeration(values),
                false => None,
            };
        }
        match object.get("type")? {
            Value::String(kind) => match kind.as_str() {
                "string" if only(&["type", "minLength", "maxLength"]) => limited(Type::Str, object),
                "string" if only(&["type", "format"]) => {
                    let format = object.get("format").and_then(Value::as_str)?;
                    Moment::of_format(format).map(Type::Moment)
                }
                "boolean" if only(&["type"]) => Some(Type::Bool),
                "number" if only(&["type", "format", "minimum", "maximum"]) => {
                    let format = object.get("format").and_then(Value::as_str);
                    let is_plain = matches!(format, None | Some("float" | "double"));
                    is_plain.then(|| limited(Type::Float, object)).flatten()
                }
                "integer" if only(&["type", "format", "minimum", "maximum"]) => {
                    match has_the_range_of_its_format(object) {
                        true => Some(Type::Int),
                        false => limited(Type::Int, object),
                    }
                }
                "array" if only(&["type", "items", "minItems", "maxItems"]) => {
                    let item = match object.get("items") {
                        Some(items) => self.read(items, None, depth - 1),
                        None => Type::Any,
                    };
                    limited(Type::list(item), object)
                }
                "object" if only(&["type", "additionalProperties"]) => {
                    match object.get("additionalProperties") {
                        Some(Value::Bool(false)) => None,
                        Some(values) => Some(Type::dict(self.read(values, None, depth - 1))),
                        None => Some(Type::dict(Type::Any)),
                    }
                }
                _ => None,
            },
            Value::Array(kinds) => self.one_of_kinds(object, kinds, depth),
            _ => None,
        }
    }

    /// An object with named properties, or an image. An object with a name of its own keeps it, and so
    /// does one whose properties can be null but not missing, or vice versa.
    fn object(
        &self,
        object: &Map<String, Value>,
        name: Option<&str>,
        depth: usize,
    ) -> Option<Type> {
        let properties = object.get("properties")?.as_object()?;
        if is_image(properties) {
            return Some(Type::Image);
        }
        let is_known = |key: &String| {
            let own = ["type", "properties", "required", "additionalProperties"];
            own.contains(&key.as_str())
        };
        if name.is_some()
            || !object
                .keys()
                .all(|key| is_known(key) || key == DEFINITIONS || key == "description")
            || object.get("type")? != "object"
            || object.get("additionalProperties")? != &Value::Bool(false)
        {
            return None;
        }
        let required = object.get("required").and_then(Value::as_array);
        let required: Vec<&str> = required.map_or(Vec::new(), |names| {
            names.iter().filter_map(Value::as_str).collect()
        });
        let mut read = Vec::new();
        for (name, schema) in properties {
            let ty = self.read(schema, None, depth - 1);
            if ty.is_optional() == required.contains(&name.as_str()) {
                return None;
            }
            let mut property = Property::new(name, ty);
            let description = schema.get("description").and_then(Value::as_str);
            property.description = description.map(str::to_owned);
            read.push(property);
        }
        let has_all = required.iter().all(|name| properties.contains_key(*name));
        has_all.then(|| Type::object(read).ok()).flatten()
    }

    /// `"type": ["string", "null"]`: each kind separately, with the same other keywords (which apply to one
    /// kind each, so they only do no harm beside another kind if that is null).
    fn one_of_kinds(
        &self,
        object: &Map<String, Value>,
        kinds: &[Value],
        depth: usize,
    ) -> Option<Type> {
        let (nulls, kinds): (Vec<&Value>, Vec<&Value>) =
            kinds.iter().partition(|kind| kind.as_str() == Some("null"));
        let constrained = object
            .keys()
            .any(|key| key != "type" && !ANNOTATIONS.contains(&key.as_str()));
        if kinds.is_empty() || (kinds.len() > 1 && constrained) {
            return None;
        }
        let alone = |kind: &Value| {
            let mut single = object.clone();
            single.insert("type".to_owned(), kind.clone());
            self.read(&Value::Object(single), None, depth - 1)
        };
        let joined = Type::union(kinds.into_iter().map(alone));
        Some(joined.or_null(!nulls.is_empty()))
    }

    fn any_of(&self, members: &[Value], depth: usize) -> Option<Type> {
        let is_null = |member: &Value| {
            member.as_object().is_some_and(|object| {
                object.get("type").and_then(Value::as_str) == Some("null") && object.len() == 1
            })
        };
        let types: Vec<Type> = members
            .iter()
            .filter(|member| !is_null(member))
            .map(|member| self.read(member, None, depth - 1))
            .collect();
        if types.is_empty() {
            return None;
        }
        let nullable = types.len() < members.len();
        Some(Type::union(types).or_null(nullable))
    }

    fn referenced(&self, reference: &str, depth: usize) -> Option<Type> {
        let name = definition_name(reference)?;
        let definition = self.definitions.get(name)?;
        // A recursive definition can only be kept as a reference.
        if reachable(definition, self.definitions).contains_key(name) {
            return None;
        }
        Some(self.read(definition, Some(name), depth - 1))
    }

    /// The unchanged schema, with the definitions that it needs.
    fn keep(&self, schema: &Value, name: Option<&str>) -> Type {
        let name = name.map_or_else(|| name_of(schema), str::to_owned);
        let mut kept = schema.clone();
        if let Value::Object(object) = &mut kept {
            object.shift_remove("$schema");
            object.shift_remove(DEFINITIONS);
            let needed = reachable(schema, self.definitions);
            if !needed.is_empty() {
                object.insert(DEFINITIONS.to_owned(), Value::Object(needed));
            }
        }
        Type::schema(name, kept)
    }
}

/// The type with the limits in a schema.
fn limited(ty: Type, schema: &Map<String, Value>) -> Option<Type> {
    let (least, most) = ranged::keywords(&ty)?;
    let limit = |keyword: &str| match schema.get(keyword) {
        None => Some(None),
        Some(Value::Number(limit)) => Some(Some(limit.clone())),
        Some(_) => None,
    };
    match (limit(least)?, limit(most)?) {
        (None, None) => Some(ty),
        (least, most) => ty.within(least, most).ok(),
    }
}

/// An image of the library has these two properties, unlike its other objects.
fn is_image(properties: &Map<String, Value>) -> bool {
    let source = properties.get("source");
    let is_source = source.is_some_and(|source| {
        source.get("oneOf").is_some() || source.get("$ref") == Some(&"#/$defs/ImageSource".into())
    });
    is_source && properties.len() == 2 && properties.contains_key("media_type")
}

/// Null among the values is expressed by `Optional`.
fn enumeration(values: &[Value]) -> Option<Type> {
    let (nulls, values): (Vec<&Value>, Vec<&Value>) =
        values.iter().partition(|value| value.is_null());
    let scalar = |value: &&Value| value.is_string() || value.is_number() || value.is_boolean();
    if values.is_empty() || !values.iter().all(scalar) {
        return None;
    }
    let literal = Type::literal(values.into_iter().cloned());
    Some(literal.or_null(!nulls.is_empty()))
}

/// The widths of Rust's integers are not kept, but an explicit range must not be lost.
fn has_the_range_of_its_format(object: &Map<String, Value>) -> bool {
    let format = object
        .get("format")
        .and_then(Value::as_str)
        .unwrap_or("int");
    let signed = !format.starts_with('u');
    let Some(bits) = format.trim_start_matches('u').strip_prefix("int") else {
        return false;
    };
    // Plain `int` and `uint` have the machine's width, and no bounds.
    let bits: Option<i32> = bits.parse().ok();
    let (lowest, highest) = if signed {
        (
            bits.map(|bits| -(2f64.powi(bits - 1))),
            bits.map(|bits| 2f64.powi(bits - 1) - 1.0),
        )
    } else {
        (Some(0.0), bits.map(|bits| 2f64.powi(bits) - 1.0))
    };
    let is = |key: &str, natural: Option<f64>| match object.get(key) {
        None => true,
        Some(bound) => bound.as_f64().is_some() && bound.as_f64() == natural,
    };
    is("minimum", lowest) && is("maximum", highest)
}

fn name_of(schema: &Value) -> String {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    text("title")
        .or_else(|| text("$ref").and_then(definition_name))
        .or_else(|| text("format"))
        .or_else(|| text("type"))
        .unwrap_or("value")
        .to_owned()
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
