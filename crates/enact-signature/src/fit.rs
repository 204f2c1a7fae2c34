//! Checks whether a default value fits the type of its field.

use serde_json::Value;

use crate::Type;

/// Whether the value appears to be valid for the type, without a schema validator.
pub(crate) fn fits(value: &Value, ty: &Type) -> bool {
    match ty {
        Type::Str => value.is_string(),
        Type::Int => value.is_i64() || value.is_u64(),
        Type::Float => value.is_number(),
        Type::Bool => value.is_boolean(),
        Type::Any | Type::Schema(_) => true,
        Type::Moment(moment) => value.as_str().is_some_and(|text| moment.accepts(text)),
        Type::Image => value.is_object(),
        Type::Object(properties) => value.as_object().is_some_and(|object| {
            let known = |name: &String| properties.iter().any(|one| one.name == *name);
            object.keys().all(known)
                && properties.iter().all(|one| match object.get(&one.name) {
                    Some(value) => fits(value, &one.ty),
                    None => one.ty.is_optional(),
                })
        }),
        Type::Ranged(ranged) => fits(value, ranged.ty()) && ranged.holds(value),
        Type::List(item) => value
            .as_array()
            .is_some_and(|items| items.iter().all(|value| fits(value, item))),
        Type::Dict(inner) => value
            .as_object()
            .is_some_and(|entries| entries.values().all(|value| fits(value, inner))),
        Type::Literal(values) => values.contains(value),
        Type::Optional(inner) => value.is_null() || fits(value, inner),
        Type::Union(members) => members.iter().any(|member| fits(value, member)),
    }
}

/// The plain type of a scalar, as a suggestion.
pub(crate) fn type_of(value: &Value) -> Option<Type> {
    match value {
        Value::String(_) => Some(Type::Str),
        Value::Bool(_) => Some(Type::Bool),
        Value::Number(number) if number.is_f64() => Some(Type::Float),
        Value::Number(_) => Some(Type::Int),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

pub(crate) fn misfit(name: &str, value: &Value, ty: &Type) -> String {
    format!("the default `{value}` of `{name}` is not of the type `{ty}`")
}
