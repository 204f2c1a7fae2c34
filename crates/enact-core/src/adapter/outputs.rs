//! Completes and validates the outputs found in a reply.

use serde_json::Value;

use super::describe::quoted;
use super::{Misread, Read, Repair, RepairKind, Task, field_text};
use crate::signature::{Field, Validator, Values};

/// The notice to a model whose reply was cut off by the length limit.
pub(super) fn cut_off() -> Misread {
    Misread::new(
        "The reply was cut off by the length limit before it was complete. Reply again and be \
         shorter.",
    )
}

/// Takes the declared outputs by name, and leaves the rest.
pub(super) fn pick(fields: &[Field], found: &mut Values, repairs: &mut Vec<Repair>) -> Values {
    let mut picked = Values::new();
    for field in fields {
        if let Some(value) = found.shift_remove(&field.name) {
            picked.insert(field.name.clone(), value);
        }
    }
    for field in fields {
        if picked.contains_key(&field.name) {
            continue;
        }
        let alike = found
            .keys()
            .find(|name| is_alike(name, &field.name))
            .cloned();
        if let Some((alike, value)) =
            alike.and_then(|name| Some((name.clone(), found.shift_remove(&name)?)))
        {
            let detail = format!("`{alike}` was taken for `{}`", field.name);
            repairs.push(Repair::new(RepairKind::Name, detail));
            picked.insert(field.name.clone(), value);
        }
    }
    picked
}

/// A name without insignificant differences.
pub(super) fn normal(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}

/// Whether two names differ insignificantly.
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    one == other || normal(one) == normal(other)
}

/// Validates outputs, adds optional ones, and puts them in the declared order.
pub(super) fn complete(
    task: &Task,
    picked: Values,
    mut repairs: Vec<Repair>,
) -> Result<Read<Values>, Misread> {
    let fields = task.signature.outputs();
    let is_missing = |field: &&Field| field.is_required() && !picked.contains_key(&field.name);
    let missing: Vec<&Field> = fields.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        let names = quoted(missing.iter().map(|field| &field.name));
        return Err(Misread::new(format!("{names} {verb} missing.")));
    }
    match checked(fields, &task.outputs, picked, &mut repairs) {
        Ok(value) => Ok(Read { value, repairs }),
        Err(problems) => Err(Misread::new(format!("{problems}."))),
    }
}

/// The valid outputs in declared order, with optional ones added; or the
/// problem.
pub(crate) fn checked(
    fields: &[Field],
    validator: &Validator,
    values: Values,
    repairs: &mut Vec<Repair>,
) -> Result<Values, String> {
    let checked = validator.check(Value::Object(values));
    let checked = checked.map_err(|problems| problems.to_string())?;
    repairs.extend(Repair::coercions(checked.coerced));
    let Value::Object(mut values) = checked.value else {
        return Err("the outputs are no object".to_owned());
    };
    let ordered = fields.iter().filter_map(|field| {
        let given = values.shift_remove(&field.name);
        let value = given
            .or_else(|| field.default.clone())
            .or_else(|| field.ty.is_optional().then_some(Value::Null))?;
        Some((field.name.clone(), value))
    });
    Ok(ordered.collect())
}

impl Repair {
    /// The conversions of a validator.
    pub(crate) fn coercions(coerced: Vec<String>) -> impl Iterator<Item = Self> {
        let coerced = coerced.into_iter();
        coerced.map(|detail| Self::new(RepairKind::Coercion, detail))
    }
}

/// The only output, if it is a text: a reply without any structure is then its value.
pub(super) fn sole_text(task: &Task) -> Option<&Field> {
    match task.signature.outputs() {
        [only] if only.ty.is_str() => Some(only),
        _ => None,
    }
}

/// A value as text for the prompt, by the field's type if it is known.
pub(super) fn written(task: &Task, name: &str, value: &Value) -> String {
    let declared = task.tooling.as_ref().map(|tooling| &tooling.declared);
    let field = task
        .signature
        .field(name)
        .or_else(|| declared.and_then(|declared| declared.field(name)));
    field_text::write(field.map(|field| &field.ty), value)
}

/// An input as text: a text as it is, anything else as JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
