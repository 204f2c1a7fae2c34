//! Converts values to the text of a field, and back.
//!
//! A `str` is written as it is, anything else as JSON. Surrounding whitespace is ignored when a field is
//! read, because models add it freely; a text that depends on it is written in JSON quotes. For every
//! type, `read(write(value)) == value`.

use serde_json::Value;

use super::{Repair, RepairKind, json_text};
use crate::model::FinishReason;
use crate::signature::{Type, to_option};

/// A value as text. Without a type, the type is inferred.
pub(super) fn write(ty: Option<&Type>, value: &Value) -> String {
    let Value::String(text) = value else {
        return value.to_string();
    };
    let survives = match ty {
        None => !needs_quotes(text),
        Some(ty) if ty.base().is_str() => !needs_quotes(text),
        Some(ty) => !needs_quotes(text) && read(ty, text, &mut Vec::new()) == *value,
    };
    if survives {
        text.clone()
    } else {
        value.to_string()
    }
}

/// The value of a text. A text that isn't a value of the type is returned as it is, for the validator to
/// coerce or reject.
pub(super) fn read(ty: &Type, text: &str, repairs: &mut Vec<Repair>) -> Value {
    let text = text.trim();
    let raw = || Value::String(unquoted(text).unwrap_or_else(|| text.to_owned()));
    if ty.base().is_str() {
        return raw();
    }
    let mut made = Vec::new();
    let parsed = json_text::parse(text, &mut made);
    if let Some(value) = parsed.filter(|value| admits(ty, value)) {
        repairs.extend(made);
        return value;
    }
    if let Some(option) = options(ty).and_then(|options| to_option(&raw(), options)) {
        if option != raw() {
            let detail = format!("{text:?} was taken for {option}");
            repairs.push(Repair::new(RepairKind::Coercion, detail));
        }
        return option;
    }
    if ty.is_optional() && matches!(text, "" | "None") {
        return Value::Null;
    }
    let (lists, maps) = (takes(ty, Kind::List), takes(ty, Kind::Map));
    let structured = text.contains(['{', '[']) && (lists || maps);
    if structured && (text.starts_with(['{', '[']) || !takes(ty, Kind::Text)) {
        let is_wanted = |value: &Value| (lists && value.is_array()) || (maps && value.is_object());
        if let Ok(found) = json_text::find(text, FinishReason::Stop, is_wanted) {
            repairs.extend(found.repairs);
            return found.value;
        }
    }
    raw()
}

fn needs_quotes(text: &str) -> bool {
    text.is_empty() || text.trim() != text || unquoted(text).is_some()
}

/// The content of a quoted text, if it had to be quoted.
fn unquoted(text: &str) -> Option<String> {
    if !text.starts_with('"') {
        return None;
    }
    serde_json::from_str::<String>(text)
        .ok()
        .filter(|inner| needs_quotes(inner))
}

fn options(ty: &Type) -> Option<&[Value]> {
    match ty {
        Type::Literal(options) => Some(options),
        Type::Optional(inner) => options(inner),
        _ => None,
    }
}

/// Whether a value appears to be of the type.
fn admits(ty: &Type, value: &Value) -> bool {
    match ty {
        Type::Str | Type::Moment(_) => value.is_string(),
        Type::Image | Type::Object(_) => value.is_object(),
        Type::Ranged(ranged) => admits(ranged.ty(), value),
        Type::Int => value.is_i64() || value.is_u64(),
        Type::Float => value.is_number(),
        Type::Bool => value.is_boolean(),
        Type::Any => true,
        Type::List(item) => value
            .as_array()
            .is_some_and(|items| items.iter().all(|value| admits(item, value))),
        Type::Dict(item) => value
            .as_object()
            .is_some_and(|map| map.values().all(|value| admits(item, value))),
        Type::Literal(options) => options.contains(value),
        Type::Optional(inner) => value.is_null() || admits(inner, value),
        Type::Union(members) => members.iter().any(|member| admits(member, value)),
        Type::Schema(known) => match known.schema["type"].as_str() {
            Some("string") => value.is_string(),
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("integer" | "number") => value.is_number(),
            Some("boolean") => value.is_boolean(),
            _ => true,
        },
    }
}

/// The kinds of values that a text can represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    List,
    Map,
}

/// Whether any text is a value of the type, so that talk about a value could be taken for it.
pub(super) fn takes_any_text(ty: &Type) -> bool {
    match ty {
        Type::Literal(_) | Type::Moment(_) => false,
        Type::Ranged(ranged) => takes_any_text(ranged.ty()),
        Type::Optional(inner) => takes_any_text(inner),
        Type::Union(members) => members.iter().any(takes_any_text),
        other => takes(other, Kind::Text),
    }
}

/// Whether something of the kind may be a value of the type.
pub(super) fn takes(ty: &Type, kind: Kind) -> bool {
    match ty {
        Type::Any => true,
        Type::Str | Type::Moment(_) => kind == Kind::Text,
        Type::List(_) => kind == Kind::List,
        Type::Ranged(ranged) => takes(ranged.ty(), kind),
        Type::Dict(_) | Type::Object(_) | Type::Image => kind == Kind::Map,
        Type::Literal(options) => kind == Kind::Text && options.iter().any(Value::is_string),
        Type::Optional(inner) => takes(inner, kind),
        Type::Union(members) => members.iter().any(|member| takes(member, kind)),
        Type::Schema(known) => match known.schema["type"].as_str() {
            None => true,
            Some("string") => kind == Kind::Text,
            Some("array") => kind == Kind::List,
            Some("object") => kind == Kind::Map,
            Some(_) => false,
        },
        Type::Int | Type::Float | Type::Bool => false,
    }
}
