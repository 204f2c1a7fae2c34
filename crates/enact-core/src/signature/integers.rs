//! Integers that JSON can hold and this process cannot.
//!
//! A reader of JSON turns an integer of more than 64 bits into the nearest float, and to a schema such a
//! float is an integer. So every integer of a schema gets the bounds of 64 bits: what is beyond is a
//! problem that is told, not another number.

use serde_json::{Map, Value, json};

/// The schema with bounds for its integers.
pub(super) fn bounded(schema: &Value) -> Value {
    let mut schema = schema.clone();
    bound(&mut schema);
    schema
}

/// Whether a limit is one of those that stand for 64 bits.
pub(super) fn is_bound(limit: &Value) -> bool {
    *limit == json!(u64::MAX) || *limit == json!(i64::MIN)
}

fn bound(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            (
                "additionalProperties"
                | "contains"
                | "else"
                | "items"
                | "then"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                value @ Value::Object(_),
            ) => bound(value),
            ("allOf" | "anyOf" | "items" | "oneOf" | "prefixItems", Value::Array(list)) => {
                list.iter_mut().for_each(bound);
            }
            (
                "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties",
                Value::Object(named),
            ) => named.values_mut().for_each(bound),
            _ => {}
        }
    }
    if is_integer(keywords) {
        for (own, stricter, limit) in [
            ("minimum", "exclusiveMinimum", json!(i64::MIN)),
            ("maximum", "exclusiveMaximum", json!(u64::MAX)),
        ] {
            if !keywords.contains_key(stricter) {
                keywords.entry(own).or_insert(limit);
            }
        }
    }
}

/// Whether the only numbers that fit are integers.
fn is_integer(keywords: &Map<String, Value>) -> bool {
    match keywords.get("type") {
        Some(Value::Array(types)) => {
            types.contains(&json!("integer")) && !types.contains(&json!("number"))
        }
        Some(single) => single == "integer",
        None => false,
    }
}
