//! From values that were found in a reply to all the declared outputs, checked.

use serde_json::Value;

use super::describe::quoted;
use super::{Misread, Read, Repair, RepairKind, Task, field_text};
use crate::signature::{Field, Validator, Values};

/// What to tell a model whose reply was cut off by the length limit.
pub(super) fn cut_off() -> Misread {
    Misread::new(
        "The reply was cut off by the length limit before it was complete. Reply again and be \
         shorter.",
    )
}

/// Takes the declared outputs out of what was found, by name, and leaves what else there is.
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

/// A name without the differences that do not count.
pub(super) fn normal(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}

/// Whether two names differ in nothing that counts.
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    one == other || normal(one) == normal(other)
}

/// Checks what was picked, fills in what may be left out, and puts it in the declared order.
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

/// The outputs as they fit, in declared order, with what may be left out filled in; or what is wrong
/// with them.
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
    /// What a validator converted.
    pub(crate) fn coercions(coerced: Vec<String>) -> impl Iterator<Item = Self> {
        let coerced = coerced.into_iter();
        coerced.map(|detail| Self::new(RepairKind::Coercion, detail))
    }
}

/// The only output, when it is a text: then a reply without any structure is its value.
pub(super) fn sole_text(task: &Task) -> Option<&Field> {
    match task.signature.outputs() {
        [only] if only.ty.is_str() => Some(only),
        _ => None,
    }
}

/// A value as text for the prompt, by the field's type where it is known.
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
