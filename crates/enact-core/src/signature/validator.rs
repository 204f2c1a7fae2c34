//! Validates values against a JSON Schema, after lossless coercion.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::coerce;
use super::integers::{self, Moments};
use super::problems::Problems;

/// The maximum number of rounds of coercion: a text that contains an object is inspected again.
const ROUNDS: usize = 8;

/// A JSON Schema that is compiled once and validates values.
///
/// Models write `"2"` for `2`, `"Yes"` for `true` and objects as text. Such values are coerced if the
/// schema requires another type and nothing is lost; a valid value is returned unchanged, except that
/// whole numbers in integer places lose their `.0`.
///
/// `"1,234,567"`, `"1,234.5"` and, for an integer, `"1,234"` are numbers. Ambiguous texts are rejected:
/// `"1,234"` if a fraction is possible, and `"85%"`. So is an integer of more than 64 bits, which would
/// become the nearest float.
///
/// ```
/// use enact::signature::Validator;
/// use serde_json::json;
///
/// let validator = Validator::new(json!({
///     "type": "object",
///     "properties": {"k": {"type": "integer"}},
///     "required": ["k"],
/// }))?;
/// let checked = validator.check(json!({"k": "2"})).unwrap();
/// assert_eq!(checked.value, json!({"k": 2}));
/// assert_eq!(checked.coerced, ["`k`: \"2\" → 2"]);
///
/// let problems = validator.check(json!({"k": "two"})).unwrap_err();
/// assert_eq!(problems.to_string(), "`k`: expected an integer, got \"two\"");
/// # Ok::<(), enact::signature::SchemaError>(())
/// ```
pub struct Validator {
    schema: Arc<Value>,
    compiled: jsonschema::Validator,
}

/// A valid value.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The value.
    pub value: Value,
    /// The coercions that were needed, such as `` `k`: "2" → 2 ``.
    pub coerced: Vec<String>,
}

/// An invalid schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a usable JSON Schema: {problem}; correct it at `{location}`")]
pub struct SchemaError {
    problem: String,
    location: String,
}

impl Validator {
    /// Compiles a schema. References to other documents are rejected.
    pub fn new(schema: Value) -> Result<Self, SchemaError> {
        Self::compile(schema, Moments::Checked)
    }

    /// Compiles the schema of a tool's arguments. Here `format` is a hint, and the tool decides what it
    /// accepts: servers accept "tomorrow" as a date.
    pub(crate) fn of_arguments(schema: Value) -> Result<Self, SchemaError> {
        Self::compile(schema, Moments::Described)
    }

    fn compile(schema: Value, moments: Moments) -> Result<Self, SchemaError> {
        let compiled = integers::options()
            .build(&integers::bounded(&schema, moments))
            .map_err(|error| SchemaError {
                problem: error.to_string(),
                location: match error.instance_path().as_str() {
                    "" => "#".to_owned(),
                    path => path.to_owned(),
                },
            })?;
        Ok(Self {
            schema: Arc::new(schema),
            compiled,
        })
    }

    /// The schema.
    pub fn schema(&self) -> &Arc<Value> {
        &self.schema
    }

    /// Coerces what can be coerced without loss, then validates.
    pub fn check(&self, value: Value) -> Result<Checked, Problems> {
        self.check_keeping(value).map_err(|(problems, _)| problems)
    }

    /// The same; on failure, the original value is returned.
    pub(crate) fn check_keeping(&self, value: Value) -> Result<Checked, (Problems, Value)> {
        let mut value = value;
        let mut coerced = Vec::new();
        if !self.compiled.is_valid(&value) {
            let written = value.clone();
            let mut session = coerce::Session::default();
            for _ in 0..ROUNDS {
                let edits = session.plan(self.compiled.iter_errors(&value));
                if !session.apply(edits, &mut value) {
                    break;
                }
            }
            coerced = session.into_notes();
            let mut errors = self.compiled.iter_errors(&value).peekable();
            if errors.peek().is_some() {
                return Err((Problems::of(errors), written));
            }
        }
        Ok(Checked { value, coerced })
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").finish_non_exhaustive()
    }
}
