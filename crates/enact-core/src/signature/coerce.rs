//! Lossless coercion, guided by validation errors.
//!
//! Every edit responds to a validation error, so valid parts are never changed, and
//! references, `anyOf` and the like need no second interpretation of the schema.

use std::collections::HashSet;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use serde_json::{Number, Value};

use super::problems::{shown, spoken_path};
use super::{exact, integers, moments};

/// The largest integer up to which every `f64` integer is exact.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// A change at one place.
#[derive(Debug)]
pub(super) struct Edit {
    path: String,
    /// The new value, unless it was removed.
    old: Value,
    change: Change,
}

#[derive(Debug)]
enum Change {
    Replace(Value),
    /// Removes the property.
    Remove,
    /// Restores a removed property: it turned out to be required.
    Restore,
}

/// The changes so far, and what has to stay.
#[derive(Debug, Default)]
pub(super) struct Session {
    notes: Vec<(String, String)>,
    removed: HashSet<String>,
    kept: HashSet<String>,
}

impl Session {
    /// The edits for the errors.
    pub(super) fn plan<'a>(&self, errors: impl Iterator<Item = ValidationError<'a>>) -> Vec<Edit> {
        errors
            .filter_map(|error| self.answer(&error))
            .flatten()
            .collect()
    }

    fn answer(&self, error: &ValidationError<'_>) -> Option<Vec<Edit>> {
        let path = error.instance_path().as_str();
        let instance = error.instance();
        let edit = |change| {
            Some(vec![Edit {
                path: path.to_owned(),
                old: instance.clone().into_owned(),
                change,
            }])
        };
        let replace = |new| edit(Change::Replace(new));
        let is_removable = !path.is_empty() && !self.kept.contains(path);
        match error.kind() {
            ValidationErrorKind::Type { kind } => match instance.as_ref() {
                Value::Null if is_removable => edit(Change::Remove),
                value => replace(to_type(value, kind)?),
            },
            ValidationErrorKind::Enum { options } => match instance.as_ref() {
                Value::Null if is_removable => edit(Change::Remove),
                value => replace(to_option(value, options.as_array()?)?),
            },
            ValidationErrorKind::Constant { expected_value } => {
                replace(to_option(instance, std::slice::from_ref(expected_value))?)
            }
            kind @ ValidationErrorKind::Custom { .. } => match moments::moment(kind) {
                Some(moment) => replace(moment.respelled(instance.as_str()?)?.into()),
                None => replace(Value::Number(integers::whole(instance)?)),
            },
            ValidationErrorKind::AnyOf { context }
            | ValidationErrorKind::OneOfNotValid { context } => {
                nearest_first(context).find_map(|branch| {
                    let edits: Option<Vec<_>> =
                        branch.iter().map(|error| self.answer(error)).collect();
                    edits
                        .map(|edits| edits.into_iter().flatten().collect::<Vec<_>>())
                        .filter(|edits| !edits.is_empty())
                })
            }
            ValidationErrorKind::Required { property } => {
                let path = format!("{path}/{}", escape_pointer(property.as_str()?));
                self.removed.contains(&path).then(|| {
                    let (old, change) = (Value::Null, Change::Restore);
                    vec![Edit { path, old, change }]
                })
            }
            _ => None,
        }
    }

    /// Applies the edits that are still valid. Returns whether anything changed.
    pub(super) fn apply(&mut self, edits: Vec<Edit>, value: &mut Value) -> bool {
        let mut changed = false;
        for edit in edits {
            changed |= self.apply_one(edit, value);
        }
        changed
    }

    fn apply_one(&mut self, edit: Edit, value: &mut Value) -> bool {
        let Edit { path, old, change } = edit;
        // Two errors about one place: the first edit may have fixed both.
        if !matches!(change, Change::Restore) && value.pointer(&path) != Some(&old) {
            return false;
        }
        match change {
            Change::Replace(new) => {
                let note = format!("{}: {} → {}", spoken_path(&path), shown(&old), shown(&new));
                let Some(place) = value.pointer_mut(&path) else {
                    return false;
                };
                *place = new;
                self.notes.push((path, note));
            }
            Change::Remove => {
                let Some((object, key)) = parent_object(value, &path) else {
                    self.kept.insert(path);
                    return false;
                };
                // `shift_remove` keeps the order of the others.
                object.shift_remove(&key);
                let note = format!("{}: null → left out", spoken_path(&path));
                self.notes.push((path.clone(), note));
                self.removed.insert(path);
            }
            Change::Restore => {
                let Some((object, key)) = parent_object(value, &path) else {
                    return false;
                };
                object.insert(key, Value::Null);
                self.notes.retain(|(at, _)| *at != path);
                self.removed.remove(&path);
                self.kept.insert(path);
            }
        }
        true
    }

    /// Descriptions of the coercions.
    pub(super) fn into_notes(self) -> Vec<String> {
        self.notes.into_iter().map(|(_, note)| note).collect()
    }
}

type Branch = Vec<ValidationError<'static>>;

/// Puts the branches that a value fits as a number, but not as written, first.
fn nearest_first(branches: &[Branch]) -> impl Iterator<Item = &Branch> {
    let fits = |branch: &&Branch| branch.iter().all(is_about_spelling);
    let others = move |branch: &&Branch| !fits(branch);
    branches
        .iter()
        .filter(fits)
        .chain(branches.iter().filter(others))
}

fn is_about_spelling(error: &ValidationError<'_>) -> bool {
    match error.kind() {
        kind if integers::is_written_otherwise(kind) => true,
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context
                .iter()
                .any(|branch| branch.iter().all(is_about_spelling))
        }
        _ => false,
    }
}

fn escape_pointer(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn parent_object<'a>(
    value: &'a mut Value,
    path: &str,
) -> Option<(&'a mut serde_json::Map<String, Value>, String)> {
    let (parent, key) = path.rsplit_once('/')?;
    let key = key.replace("~1", "/").replace("~0", "~");
    value
        .pointer_mut(parent)?
        .as_object_mut()
        .map(|object| (object, key))
}

fn to_type(value: &Value, kind: &TypeKind) -> Option<Value> {
    let wants = |ty: JsonType| match kind {
        TypeKind::Single(single) => *single == ty,
        TypeKind::Multiple(set) => set.contains(ty),
    };
    match value {
        Value::String(text) => {
            let trimmed = text.trim();
            if wants(JsonType::Null) && matches!(trimmed, "null" | "None" | "") {
                return Some(Value::Null);
            }
            if wants(JsonType::Boolean) {
                match &*strip_wrapping(trimmed).to_ascii_lowercase() {
                    "true" | "yes" => return Some(Value::Bool(true)),
                    "false" | "no" => return Some(Value::Bool(false)),
                    _ => {}
                }
            }
            if wants(JsonType::Number) || wants(JsonType::Integer) {
                let may_be_fraction = wants(JsonType::Number);
                let bare = trimmed.trim_matches(['"', '\'', '`', '*']).trim();
                let number = number_of_text(bare)
                    .or_else(|| number_of_groups(bare, may_be_fraction))
                    .or_else(|| nearest(bare))
                    .filter(|number| may_be_fraction || !number.is_f64());
                if let Some(number) = number {
                    return Some(Value::Number(number));
                }
            }
            let wanted = |parsed: &Value| {
                (parsed.is_object() && wants(JsonType::Object))
                    || (parsed.is_array() && wants(JsonType::Array))
            };
            structure_of_text(trimmed).filter(wanted)
        }
        // It may have been an integer with more digits than a float keeps.
        Value::Number(number) if number.is_f64() && is_rounded(number) => None,
        Value::Number(_) | Value::Bool(_) if wants(JsonType::String) => {
            Some(Value::String(value.to_string()))
        }
        _ => None,
    }
}

fn is_rounded(number: &Number) -> bool {
    let float = number.as_f64();
    float.is_some_and(|float| float.fract() == 0.0 && float.abs() > EXACT)
}

/// An object or array written as text, possibly in Python's syntax.
fn structure_of_text(text: &str) -> Option<Value> {
    let closes = match text.chars().next()? {
        '{' => text.ends_with('}'),
        '[' => text.ends_with(']'),
        _ => false,
    };
    if !closes {
        return None;
    }
    let parse = |text: &str| exact::parse(text).ok().map(|exact| exact.value);
    parse(text).or_else(|| {
        let options = jsonrepair_rs::RepairOptions::new().with_max_input_bytes(64 * 1024);
        let repaired = jsonrepair_rs::jsonrepair_with_options(text, options).ok()?;
        parse(&repaired)
    })
}

/// The number in a text, if it can be represented exactly: as an integer if it is whole.
pub(crate) fn number_of_text(text: &str) -> Option<Number> {
    let digits = without_separators(text)?;
    if let Ok(whole) = digits.parse::<i64>() {
        return Some(whole.into());
    }
    if let Ok(whole) = digits.parse::<u64>() {
        return Some(whole.into());
    }
    if let Some(whole) = exact::integer(&digits) {
        return Some(whole);
    }
    let float: f64 = digits
        .parse()
        .ok()
        .filter(|float: &f64| float.is_finite())?;
    // Nothing is lost if the text has no more digits than needed to identify this float. The digits may
    // differ: writers choose freely between spellings of the same length.
    let kept = format!("{float:e}");
    if significant_digits(&digits) > significant_digits(&kept) {
        return None;
    }
    Number::from_f64(float)
}

/// The float nearest to an integer of more than 64 bits. Such a number in JSON arrives as text, and a
/// reader that expects a float takes it for the nearest one.
fn nearest(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Number::from_f64(text.parse().ok()?)
}

/// The number in a text with thousands separators. A single comma, as in `1,234`, could be a decimal
/// separator, so it only counts if no fraction is possible.
fn number_of_groups(text: &str, may_be_fraction: bool) -> Option<Number> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (unsigned, None),
    };
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups
        .next()
        .filter(|first| is_digits(first) && first.len() <= 3 && !first.starts_with('0'))?;
    let others: Vec<&str> = groups.collect();
    let is_grouped = others
        .iter()
        .all(|group| is_digits(group) && group.len() == 3);
    let is_certain = others.len() > 1 || fraction.is_some() || !may_be_fraction;
    if first.len() == whole.len() || !is_grouped || !is_certain || !fraction.is_none_or(is_digits) {
        return None;
    }
    number_of_text(&text.replace(',', ""))
}

/// The text without `_` between digits; `None` unless it is a number.
fn without_separators(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<&u8>| at.is_some_and(u8::is_ascii_digit);
    let mut out = String::with_capacity(text.len());
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E' => out.push(char::from(*byte)),
            b'_' if index > 0
                && is_digit(bytes.get(index - 1))
                && is_digit(bytes.get(index + 1)) => {}
            _ => return None,
        }
    }
    (out.len() <= 400).then_some(out)
}

/// The number of significant digits of a decimal number.
fn significant_digits(text: &str) -> usize {
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len()
}

/// The only option that a value can mean, ignoring quotes, brackets, case and word separators.
pub(crate) fn to_option(value: &Value, options: &[Value]) -> Option<Value> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => return None,
    };
    let text_of = |option: &Value| match option {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(option.to_string()),
        // `None` is the spelling of models trained on Python.
        Value::Null => Some(
            if text.trim() == "None" {
                "None"
            } else {
                "null"
            }
            .to_owned(),
        ),
        _ => None,
    };
    let bare = strip_wrapping(&text);
    let readings: [fn(&str) -> String; 3] = [str::to_owned, str::to_lowercase, |text| {
        text.to_lowercase()
            .split(['_', '-', ' ', '\t', '\n'])
            .filter(|w| !w.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }];
    for reading in readings {
        let wanted = reading(bare);
        // A leading `-` is a sign, not a separator.
        if wanted.is_empty() || bare.starts_with(['-', '+']) != wanted.starts_with(['-', '+']) {
            return None;
        }
        let mut matching = options.iter().filter(|option| {
            text_of(option).is_some_and(|option| {
                reading(option.trim()) == wanted
                    && option.trim().starts_with(['-', '+']) == bare.starts_with(['-', '+'])
            })
        });
        if let Some(first) = matching.next() {
            return matching.next().is_none().then(|| first.clone());
        }
    }
    None
}

/// The text without quotes and brackets that models put around a choice.
fn strip_wrapping(text: &str) -> &str {
    let is_wrapping = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\'' | '`' | '{' | '}' | '[' | ']' | '<' | '>' | '*'
            )
    };
    let inner = text.trim_matches(is_wrapping);
    inner
        .strip_suffix(['.', ','])
        .unwrap_or(inner)
        .trim_matches(is_wrapping)
}
