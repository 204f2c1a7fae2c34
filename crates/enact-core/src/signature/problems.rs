//! Describes the problems with a value in words that a model can act on.

use std::fmt;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::{SchemaError, exact, integers, moments};

/// The maximum number of problems to describe; the rest is counted.
const TOLD: usize = 8;
/// The maximum number of characters of a value to show.
const SHOWN: usize = 60;
/// The maximum number of characters of a problem.
const LENGTH: usize = 300;

/// All problems with a value, in one message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems {
    told: Vec<String>,
    untold: usize,
}

impl Problems {
    pub(super) fn of<'a>(errors: impl Iterator<Item = ValidationError<'a>>) -> Self {
        let mut told: Vec<String> = Vec::new();
        let mut untold = 0;
        for error in errors {
            let problem = clip(&tell(&error), LENGTH);
            if told.contains(&problem) {
                continue;
            }
            if told.len() < TOLD {
                told.push(problem);
            } else {
                untold += 1;
            }
        }
        Self { told, untold }
    }

    /// Nothing can be checked against the schema.
    pub(super) fn of_schema(error: &SchemaError) -> Self {
        Self {
            told: vec![clip(&error.to_string(), LENGTH)],
            untold: 0,
        }
    }

    /// The problems one by one; the first few when there are many.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.told.iter().map(String::as_str)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told.join("; "))?;
        if self.untold > 0 {
            write!(f, "; and {} more", self.untold)?;
        }
        Ok(())
    }
}

/// A JSON pointer in the usual form of a path: `` `a.b[0]` ``.
pub(super) fn spoken_path(pointer: &str) -> String {
    if pointer.is_empty() {
        return "the value".to_owned();
    }
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if step.bytes().all(|byte| byte.is_ascii_digit()) && !step.is_empty() {
            path.push_str(&format!("[{step}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&step);
        }
    }
    format!("`{}`", clip(&path, 2 * SHOWN))
}

/// A value as compact JSON, truncated if it is long.
pub(super) fn shown(value: &Value) -> String {
    clip(&value.to_string(), SHOWN)
}

fn clip(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn tell(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().as_str();
    let place = spoken_path(path);
    let got = || shown(error.instance());
    if let Some(moment) = moments::moment(error.kind()) {
        let (name, example) = (moment.name(), moment.example());
        return format!(
            "{place}: expected a {name} such as {example}, got {}",
            got()
        );
    }
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            let hint = hint(kind, error.instance());
            format!(
                "{place}: expected {}, got {}{hint}",
                expected_types(kind),
                got()
            )
        }
        ValidationErrorKind::Maximum { limit } | ValidationErrorKind::Minimum { limit }
            if integers::is_bound(limit) =>
        {
            format!(
                "{place}: expected an integer of at most 64 bits, got {}",
                got()
            )
        }
        ValidationErrorKind::Enum { options } => {
            format!(
                "{place}: expected {}, got {}",
                expected_options(options),
                got()
            )
        }
        ValidationErrorKind::Constant { expected_value } => {
            format!("{place}: expected {}, got {}", shown(expected_value), got())
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            format!(
                "{}: missing, but required",
                spoken_path(&format!("{path}/{name}"))
            )
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let names: Vec<String> = unexpected
                .iter()
                .take(TOLD)
                .map(|name| format!("`{}`", clip(name, SHOWN)))
                .collect();
            let within = if path.is_empty() {
                String::new()
            } else {
                format!(" in {place}")
            };
            format!("{}: not known{within}, leave it out", names.join(", "))
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            tell_branches(error, context)
        }
        _ => format!("{place}: {error}"),
    }
}

/// None of several forms is valid: either they differ at this place, and all are named, or the problem
/// with the closest one is described.
fn tell_branches(error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>]) -> String {
    let here = error.instance_path();
    let place = spoken_path(here.as_str());
    let mut forms: Vec<String> = Vec::new();
    let mut nearest: Option<&Vec<ValidationError<'static>>> = None;
    for branch in context {
        let form = branch
            .iter()
            .filter(|inner| inner.instance_path() == here)
            .find_map(|inner| match inner.kind() {
                ValidationErrorKind::Type { kind } => Some(expected_types(kind)),
                ValidationErrorKind::Enum { options } => Some(expected_options(options)),
                ValidationErrorKind::Constant { expected_value } => Some(shown(expected_value)),
                _ => None,
            });
        match form {
            Some(form) if forms.contains(&form) => {}
            Some(form) => forms.push(form),
            None if nearest.is_none_or(|known| branch.len() < known.len()) => {
                nearest = Some(branch)
            }
            None => {}
        }
    }
    // A number that only has to be written differently is no reason to reject it.
    let is_reason = |error: &&ValidationError<'_>| !integers::is_written_otherwise(error.kind());
    match nearest.and_then(|branch| branch.iter().find(is_reason)) {
        Some(first) => tell(first),
        None => {
            let mut kinds = context
                .iter()
                .flatten()
                .filter_map(|inner| match inner.kind() {
                    ValidationErrorKind::Type { kind } => Some(kind),
                    _ => None,
                });
            let hint = kinds.find_map(|kind| {
                Some(hint(kind, error.instance())).filter(|hint| !hint.is_empty())
            });
            format!(
                "{place}: expected {}, got {}{}",
                forms.join(" or "),
                shown(error.instance()),
                hint.unwrap_or_default()
            )
        }
    }
}

/// Why a text that looks like a number is not accepted as one.
fn hint(kind: &TypeKind, value: &Value) -> &'static str {
    let wants = |ty: JsonType| match kind {
        TypeKind::Single(single) => *single == ty,
        TypeKind::Multiple(set) => set.contains(ty),
    };
    let Some(text) = value.as_str().map(str::trim) else {
        return "";
    };
    if matches!(text, "NaN" | "Infinity" | "-Infinity") && wants(JsonType::Number) {
        return " (JSON has no such number)";
    }
    let is_numeric = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    if !is_numeric || !(wants(JsonType::Number) || wants(JsonType::Integer)) {
        return "";
    }
    if text.ends_with('%') {
        return " (50% may mean 50 or 0.5: write a plain number)";
    }
    if text.contains(',') {
        return " (a comma may separate thousands or decimals: write 1234 or 1.234)";
    }
    let is_whole = text
        .trim_start_matches(['+', '-'])
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    if is_whole && wants(JsonType::Integer) {
        return " (it has more than 64 bits)";
    }
    match exact::loss(text.trim_start_matches('+')) {
        Some("it is too large for a number") => " (it is too large for a number)",
        Some("it is too small for a number") => " (it is too small for a number)",
        _ => "",
    }
}

fn expected_types(kind: &TypeKind) -> String {
    let name = |ty: JsonType| match ty {
        JsonType::Array => "a list",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a text",
    };
    match kind {
        TypeKind::Single(single) => name(*single).to_owned(),
        TypeKind::Multiple(set) => set.iter().map(name).collect::<Vec<_>>().join(" or "),
    }
}

fn expected_options(options: &Value) -> String {
    let list = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut names: Vec<String> = list.iter().take(2 * TOLD).map(shown).collect();
    if list.len() > names.len() {
        names.push("…".to_owned());
    }
    format!("one of {}", names.join(", "))
}
