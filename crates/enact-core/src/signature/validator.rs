//! Validates values against a JSON Schema, after lossless coercion.

use std::fmt;
use std::sync::{Arc, OnceLock};

use enact_signature::{Field, Type};
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
    moments: Moments,
    /// Compiled when it is needed first, which for most validators is when they are made.
    compiled: OnceLock<Result<Box<jsonschema::Validator>, SchemaError>>,
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
        Self::unused(schema, Moments::Checked).compiled_now()
    }

    /// The same of a schema that was compiled before, or that enact wrote itself: nothing can be wrong
    /// with it, so it is compiled when it is needed.
    pub(crate) fn on_demand(schema: Value) -> Self {
        Self::unused(schema, Moments::Checked)
    }

    /// Checks values of fields. What users wrote of their types is compiled at once.
    pub(crate) fn of_fields(schema: Value, fields: &[Field]) -> Result<Self, SchemaError> {
        match fields.iter().all(|field| is_of_enact(&field.ty)) {
            true => Ok(Self::on_demand(schema)),
            false => Self::new(schema),
        }
    }

    /// Compiles the schema of a tool's arguments. Here `format` is a hint, and the tool decides what it
    /// accepts: servers accept "tomorrow" as a date.
    pub(crate) fn of_arguments(schema: Value) -> Result<Self, SchemaError> {
        Self::unused(schema, Moments::Described).compiled_now()
    }

    fn unused(schema: Value, moments: Moments) -> Self {
        Self {
            schema: Arc::new(schema),
            moments,
            compiled: OnceLock::new(),
        }
    }

    fn compiled_now(self) -> Result<Self, SchemaError> {
        match self.compiled() {
            Ok(_) => Ok(self),
            Err(error) => Err(error.clone()),
        }
    }

    fn compiled(&self) -> Result<&jsonschema::Validator, &SchemaError> {
        let compiled = self.compiled.get_or_init(|| {
            #[cfg(test)]
            COMPILED.with(|count| count.set(count.get() + 1));
            let bounded = integers::bounded(&self.schema, self.moments);
            let compiled = integers::options().build(&bounded).map(Box::new);
            compiled.map_err(|error| SchemaError {
                problem: error.to_string(),
                location: match error.instance_path().as_str() {
                    "" => "#".to_owned(),
                    path => path.to_owned(),
                },
            })
        });
        compiled.as_deref()
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
        let compiled = match self.compiled() {
            Ok(compiled) => compiled,
            Err(error) => return Err((Problems::of_schema(error), value)),
        };
        let mut value = value;
        let mut coerced = Vec::new();
        if !compiled.is_valid(&value) {
            let written = value.clone();
            let mut session = coerce::Session::default();
            for _ in 0..ROUNDS {
                let edits = session.plan(compiled.iter_errors(&value));
                if !session.apply(edits, &mut value) {
                    break;
                }
            }
            coerced = session.into_notes();
            let mut errors = compiled.iter_errors(&value).peekable();
            if errors.peek().is_some() {
                return Err((Problems::of(errors), written));
            }
        }
        Ok(Checked { value, coerced })
    }
}

/// Whether only enact says what the schema of a type is.
fn is_of_enact(ty: &Type) -> bool {
    match ty {
        Type::Str | Type::Int | Type::Float | Type::Bool | Type::Any => true,
        Type::Moment(_) | Type::Image => true,
        Type::Literal(values) => !values.is_empty(),
        Type::List(inner) | Type::Dict(inner) | Type::Optional(inner) => is_of_enact(inner),
        Type::Union(types) => !types.is_empty() && types.iter().all(is_of_enact),
        _ => false,
    }
}

#[cfg(test)]
thread_local! {
    static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many schemas this thread has compiled.
#[cfg(test)]
pub(crate) fn compiled_so_far() -> usize {
    COMPILED.with(std::cell::Cell::get)
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").finish_non_exhaustive()
    }
}
