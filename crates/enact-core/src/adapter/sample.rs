//! Sample values for schemas.

use std::cell::{Cell, RefCell};

use serde_json::{Map, Value, json};

use crate::signature::{Validator, Values};

/// The maximum number of schema parts to process.
const FUEL: usize = 300;
/// The maximum length of generated lists and texts.
const LONGEST: u64 = 16;

/// Sample arguments for a tool with these parameters; none if no valid ones can be generated.
pub(super) fn arguments(parameters: &Value) -> Option<Values> {
    let validator = Validator::new(parameters.clone()).ok()?;
    let fits = |value: &Value| {
        let checked = validator.check(value.clone());
        checked.is_ok_and(|checked| checked.coerced.is_empty() && checked.value == *value)
    };
    // Parameters without a schema mean no arguments.
    let made = [Sampler::new(parameters).value(parameters), Some(json!({}))];
    let mut made = made.into_iter().flatten();
    match made.find(|value| value.is_object() && fits(value))? {
        Value::Object(arguments) => Some(arguments),
        _ => None,
    }
}

/// Generates values for the schemas in a document.
struct Sampler<'a> {
    root: &'a Value,
    /// The references being resolved: a value that must contain itself can't be generated.
    open: RefCell<Vec<&'a str>>,
    fuel: Cell<usize>,
}

impl<'a> Sampler<'a> {
    fn new(root: &'a Value) -> Self {
        Self {
            root,
            open: RefCell::default(),
            fuel: Cell::new(FUEL),
        }
    }

    fn value(&self, schema: &'a Value) -> Option<Value> {
        self.fuel.set(self.fuel.get().checked_sub(1)?);
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return None,
            _ => return Some(anything()),
        };
        if let Some(known) = keywords.get("const").or_else(|| schema["enum"].get(0)) {
            return Some(known.clone());
        }
        if keywords.contains_key("pattern") {
            let shown = schema["examples"]
                .get(0)
                .or_else(|| keywords.get("default"));
            return shown.cloned();
        }
        let mut parts = Vec::new();
        if let Some(reference) = schema["$ref"].as_str() {
            parts.push(self.referred(reference)?);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            parts.push(self.value(part)?);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema[keyword].as_array() {
                parts.push(branches.iter().find_map(|branch| self.value(branch))?);
            }
        }
        if let Some(kind) = kind(keywords) {
            parts.push(self.single(kind, schema)?);
        }
        Some(parts.into_iter().reduce(joined).unwrap_or_else(anything))
    }

    fn referred(&self, reference: &'a str) -> Option<Value> {
        let target = self.root.pointer(reference.strip_prefix('#')?)?;
        if self.open.borrow().contains(&reference) {
            return None;
        }
        self.open.borrow_mut().push(reference);
        let value = self.value(target);
        self.open.borrow_mut().pop();
        value
    }

    fn single(&self, kind: &str, schema: &'a Value) -> Option<Value> {
        match kind {
            "string" => text(schema),
            "integer" => number(schema, true),
            "number" => number(schema, false),
            "boolean" => Some(json!(true)),
            "null" => Some(Value::Null),
            "array" => self.list(schema),
            "object" => self.object(schema),
            _ => None,
        }
    }

    fn list(&self, schema: &'a Value) -> Option<Value> {
        let by_position = schema["prefixItems"].as_array();
        let least = schema["minItems"].as_u64().unwrap_or(0);
        let most = schema["maxItems"].as_u64().unwrap_or(LONGEST).min(LONGEST);
        let mut items = Vec::new();
        for schema in by_position.into_iter().flatten() {
            items.push(self.value(schema)?);
        }
        // A list shows its items, unless its schema describes each position.
        let wanted = match by_position {
            Some(_) => least,
            None => least.max(1).min(most),
        };
        while (items.len() as u64) < wanted {
            if items.len() as u64 >= LONGEST {
                return None;
            }
            match self.value(&schema["items"]) {
                Some(item) => items.push(item),
                None if items.len() as u64 >= least => break,
                None => return None,
            }
        }
        Some(items.into())
    }

    fn object(&self, schema: &'a Value) -> Option<Value> {
        let mut fields = Map::new();
        let required: Vec<&str> = schema["required"].as_array().map_or(Vec::new(), |names| {
            names.iter().filter_map(Value::as_str).collect()
        });
        // In the order of the properties, in which the model reads them.
        let named = schema["properties"].as_object();
        for (name, property) in named.into_iter().flatten() {
            if required.contains(&name.as_str()) {
                fields.insert(name.clone(), self.value(property)?);
            }
        }
        for name in required {
            if !fields.contains_key(name) {
                let value = self.value(&schema["additionalProperties"])?;
                fields.insert(name.to_owned(), value);
            }
        }
        Some(fields.into())
    }
}

fn anything() -> Value {
    json!("…")
}

/// Merges two values: the fields of both objects, else the later value.
fn joined(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            one.extend(other);
            one.into()
        }
        (_, other) => other,
    }
}

/// The type in a schema, explicit or implied by its keywords. Null only if there is no other.
fn kind(keywords: &Map<String, Value>) -> Option<&str> {
    match keywords.get("type") {
        Some(Value::Array(kinds)) => {
            let kinds = || kinds.iter().filter_map(Value::as_str);
            kinds()
                .find(|kind| *kind != "null")
                .or_else(|| kinds().next())
        }
        Some(kind) => kind.as_str(),
        None => {
            let shown = [
                ("properties", "object"),
                ("required", "object"),
                ("prefixItems", "array"),
                ("items", "array"),
                ("minimum", "number"),
                ("maximum", "number"),
                ("minLength", "string"),
                ("format", "string"),
            ];
            let mut shown = shown.into_iter();
            shown
                .find(|(keyword, _)| keywords.contains_key(*keyword))
                .map(|(_, kind)| kind)
        }
    }
}

fn text(schema: &Value) -> Option<Value> {
    let known = match schema["format"].as_str() {
        Some("date") => "2025-01-31",
        Some("date-time") => "2025-01-31T12:00:00Z",
        Some("time") => "12:00:00Z",
        Some("duration") => "PT1H",
        Some("email" | "idn-email") => "name@example.org",
        Some("hostname" | "idn-hostname") => "example.org",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("uri" | "iri" | "uri-reference" | "iri-reference" | "url") => "https://example.org",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        _ => "",
    };
    if !known.is_empty() {
        return Some(json!(known));
    }
    let least = schema["minLength"].as_u64().unwrap_or(1);
    let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX);
    let length = usize::try_from(least.max(1).min(most)).ok()?;
    (least <= LONGEST).then(|| "…".repeat(length).into())
}

fn number(schema: &Value, is_integer: bool) -> Option<Value> {
    let limit = |keyword: &str| schema[keyword].as_f64();
    let (usual, least) = if is_integer { (1.0, 1.0) } else { (1.5, 0.5) };
    let multiple = limit("multipleOf").filter(|step| *step > 0.0);
    // Slightly inside exclusive limits.
    let inside = multiple.unwrap_or(least);
    let low = limit("minimum").or_else(|| limit("exclusiveMinimum").map(|low| low + inside));
    let high = limit("maximum").or_else(|| limit("exclusiveMaximum").map(|high| high - inside));
    let mut value = match (low, high) {
        (Some(low), Some(high)) if low > high => (limit("exclusiveMinimum")? + high + inside) / 2.0,
        (Some(low), _) if usual < low => low,
        (_, Some(high)) if usual > high => high,
        _ => usual,
    };
    let whole = is_integer.then_some(1.0);
    for step in multiple.into_iter().chain(whole) {
        let up = (value / step).ceil() * step;
        value = match high {
            Some(high) if up > high => (value / step).floor() * step,
            _ => up,
        };
    }
    match is_integer {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "what does not fit is refused"
        )]
        true => Some(json!(value as i64)),
        false => Some(json!(value)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn accepts(schema: &Value, value: &Value) -> bool {
        let options = jsonschema::options().should_validate_formats(true);
        options.build(schema).unwrap().is_valid(value)
    }

    fn of(property: Value) -> Option<Value> {
        let schema = json!({
            "type": "object",
            "properties": {"v": property},
            "required": ["v"],
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {
                        "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                        "all": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                    },
                    "required": ["next", "all"],
                },
                "Endless": {
                    "type": "object",
                    "properties": {"next": {"$ref": "#/$defs/Endless"}},
                    "required": ["next"],
                },
                "Pair": {
                    "type": "array",
                    "prefixItems": [{"type": "number"}, {"type": "string"}],
                    "minItems": 2,
                    "maxItems": 2,
                },
            },
        });
        let mut made = arguments(&schema)?;
        assert!(accepts(&schema, &json!(made)), "{made:?} of {schema}");
        made.shift_remove("v")
    }

    #[test]
    fn truth_a_worked_example_fits_its_schema() {
        let deep = |inner: Value| {
            (0..12).fold(inner, |inner, _| {
                json!({"type": "object", "properties": {"in": inner}, "required": ["in"]})
            })
        };
        for property in [
            deep(
                json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}),
            ),
            json!({"$ref": "#/$defs/Pair"}),
            json!({"type": "array", "items": {"$ref": "#/$defs/Pair"}, "minItems": 3}),
            json!({"$ref": "#/$defs/Node"}),
            json!({"type": ["null", "string"]}),
            json!({"type": "integer", "minimum": 10, "maximum": 20}),
            json!({"type": "integer", "exclusiveMinimum": 10, "multipleOf": 7}),
            json!({"type": "integer", "maximum": -3}),
            json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
            json!({"type": "number", "minimum": 0, "maximum": 1}),
            json!({"type": "number", "multipleOf": 0.25, "minimum": 3}),
            json!({"type": "string", "minLength": 5, "maxLength": 6}),
            json!({"type": "string", "maxLength": 0}),
            json!({"type": "string", "format": "date-time"}),
            json!({"type": "string", "format": "uuid"}),
            json!({"type": "string", "format": "ipv6"}),
            json!({"type": "string", "pattern": "^[A-Z]{3}$", "examples": ["EUR"]}),
            json!({"type": "array", "items": {"type": "string"}, "maxItems": 0}),
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
            json!({"enum": [3, "x"]}),
            json!({"const": null}),
            json!({"allOf": [{"$ref": "#/$defs/Pair"}], "description": "two"}),
            json!({
                "type": "object",
                "properties": {"id": {"type": "integer"}},
                "required": ["id"],
                "oneOf": [
                    {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
                    {"properties": {"kind": {"const": "b"}}, "required": ["kind"]},
                ],
            }),
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            json!({"type": "object", "additionalProperties": {"type": "integer"}, "required": ["n"]}),
            json!({}),
            json!(true),
        ] {
            assert!(of(property.clone()).is_some(), "{property}");
        }
    }

    #[test]
    fn truth_nothing_is_shown_where_nothing_fits() {
        for property in [
            json!({"$ref": "#/$defs/Endless"}),
            json!({"$ref": "#/$defs/Missing"}),
            json!({"type": "string", "pattern": "^[A-Z]{3}$"}),
            json!({"type": "integer", "minimum": 5, "maximum": 3}),
            json!({"type": "string", "minLength": 5000}),
            json!({"type": "array", "items": {"type": "boolean"}, "minItems": 2, "uniqueItems": true}),
            json!({"not": {}}),
            json!(false),
        ] {
            assert_eq!(of(property.clone()), None, "{property}");
        }
        assert_eq!(arguments(&json!({})), Some(Values::new()));
        assert_eq!(arguments(&json!({"type": "string"})), None);
    }

    fn any_schema() -> impl Strategy<Value = Value> {
        let bounds = (-50_i64..50, 0_i64..50).prop_map(|(low, more)| (low, low + more));
        let leaf = prop_oneof![
            Just(json!({"type": "string"})),
            Just(json!({"type": "boolean"})),
            Just(json!({"type": "null"})),
            Just(json!({"$ref": "#/$defs/Node"})),
            Just(json!({"$ref": "#/$defs/Pair"})),
            Just(json!({"enum": ["a", 2, null]})),
            prop::sample::select(vec![
                "date", "time", "email", "uri", "duration", "hostname", "ipv4"
            ])
            .prop_map(|format| json!({"type": "string", "format": format})),
            (0_u64..9, 0_u64..9).prop_map(|(least, more)| {
                json!({"type": "string", "minLength": least, "maxLength": least + more})
            }),
            bounds.clone().prop_map(|(low, high)| {
                json!({"type": "integer", "minimum": low, "maximum": high})
            }),
            bounds.prop_map(|(low, high)| {
                json!({"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": high + 1})
            }),
            (1_i64..9, -50_i64..50).prop_map(|(step, low)| {
                json!({"type": "integer", "multipleOf": step, "minimum": low})
            }),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            let several = || prop::collection::vec(inner.clone(), 1..4);
            prop_oneof![
                several().prop_map(|fields| {
                    let names: Vec<String> = (0..fields.len()).map(|n| format!("f{n}")).collect();
                    let properties: Values = names.iter().cloned().zip(fields).collect();
                    json!({
                        "type": "object",
                        "properties": properties,
                        "required": names,
                        "additionalProperties": false,
                    })
                }),
                several().prop_map(|items| {
                    let length = items.len();
                    json!({
                        "type": "array",
                        "prefixItems": items,
                        "minItems": length,
                        "maxItems": length,
                    })
                }),
                (inner.clone(), 0_u64..4, 0_u64..4).prop_map(|(item, least, more)| {
                    json!({
                        "type": "array",
                        "items": item,
                        "minItems": least,
                        "maxItems": least + more,
                    })
                }),
                several().prop_map(|branches| json!({"anyOf": branches})),
                inner.prop_map(|one| json!({"anyOf": [one, {"type": "null"}]})),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        /// Of schemas that can be met, too large ones aside, an example is made; and it fits.
        #[test]
        fn truth_examples_are_made_and_fit(schema in any_schema()) {
            let size = schema.to_string().len();
            let made = of(schema.clone());
            prop_assert!(made.is_some() || size > 2_000, "{}", schema);
        }
    }
}
