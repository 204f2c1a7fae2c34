//! Integers that JSON can represent and this process can't.
//!
//! JSON parsers turn an integer of more than 64 bits into the nearest float, which a schema accepts as an
//! integer. So every integer of a schema gets the bounds of 64 bits: a larger one is a reported problem,
//! not another number.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Keyword, ValidationError, ValidationOptions};
use serde_json::{Map, Number, Value, json};

use super::moments;

/// The keyword for integers that have to be written as such: a schema accepts `2.0` as the integer 2, a
/// Rust `i64` doesn't.
const WRITTEN_WHOLE: &str = "x-written-whole";

struct WrittenWhole;

impl<'i> Keyword<'i> for WrittenWhole {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        match whole(instance) {
            None => Ok(()),
            Some(whole) => Err(ValidationError::custom(format!("to be written as {whole}"))),
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        whole(instance).is_none()
    }
}

/// Options for compiling schemas with bounds.
pub(super) fn options() -> ValidationOptions<'static> {
    let options = jsonschema::options();
    let options = options.with_keyword(WRITTEN_WHOLE, |_, _, _| Ok(Box::new(WrittenWhole)));
    moments::checked(options)
}

/// Whether a number only has to be written differently.
pub(super) fn is_written_otherwise(kind: &ValidationErrorKind) -> bool {
    matches!(kind, ValidationErrorKind::Custom { keyword, .. } if keyword == WRITTEN_WHOLE)
}

/// The 64-bit integer that equals a float. The lowest one is excluded: numbers just below it give the
/// same float.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole and within the range"
)]
pub(super) fn whole(value: &Value) -> Option<Number> {
    const SIGNED: f64 = 9_223_372_036_854_775_808.0;
    let number = value.as_number().filter(|number| number.is_f64())?;
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    if float.abs() < SIGNED {
        return Some((float as i64).into());
    }
    (float > 0.0 && float < 2.0 * SIGNED).then(|| (float as u64).into())
}

/// The schema with bounds for its integers, which have to be written as integers, and with marks on
/// dates and times if these are to be checked.
pub(super) fn bounded(schema: &Value, moments: Moments) -> Value {
    let mut schema = schema.clone();
    bound(&mut schema, moments);
    schema
}

/// Whether texts with the `format` of a date or time are validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moments {
    Checked,
    Described,
}

/// Whether a limit is one of the 64-bit bounds.
pub(super) fn is_bound(limit: &Value) -> bool {
    *limit == json!(u64::MAX) || *limit == json!(i64::MIN)
}

fn bound(schema: &mut Value, moments: Moments) {
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
            ) => bound(value, moments),
            ("allOf" | "anyOf" | "items" | "oneOf" | "prefixItems", Value::Array(list)) => {
                list.iter_mut().for_each(|schema| bound(schema, moments));
            }
            (
                "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties",
                Value::Object(named),
            ) => named.values_mut().for_each(|schema| bound(schema, moments)),
            _ => {}
        }
    }
    if moments == Moments::Checked {
        moments::mark(keywords);
    }
    if is_integer(keywords) {
        keywords.insert(WRITTEN_WHOLE.to_owned(), json!(true));
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

/// Whether only integers are valid numbers.
fn is_integer(keywords: &Map<String, Value>) -> bool {
    match keywords.get("type") {
        Some(Value::Array(types)) => {
            types.contains(&json!("integer")) && !types.contains(&json!("number"))
        }
        Some(single) => single == "integer",
        None => false,
    }
}
