//! Checks a file against the schema, with messages that say what to write.

use enact::signature::instead;
use enact::tool::builtin::Web;
use enact_mcp::Pattern;
use enact_providers::Provider;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::problem::Problem;
use super::source::{Source, below};
use crate::args::{Time, TimeBudget};
use crate::local;

/// Checks a text, and returns the problem with it.
type Format = fn(&str) -> Result<(), String>;

/// The checks for texts, by the `format` in the schema.
pub(super) const FORMATS: [(&str, Format); 7] = [
    ("address", |text| {
        match text.starts_with("http://") || text.starts_with("https://") {
            true => Ok(()),
            false => Err("give an address that begins with http:// or https://".to_owned()),
        }
    }),
    ("budget", |text| text.parse::<TimeBudget>().map(drop)),
    ("host", |text| told(Web::new().allow_host(text))),
    ("model", |text| match enact_providers::split(text) {
        Some((provider, _)) if provider != local::PROVIDER => told(Provider::named(provider)),
        _ => Ok(()),
    }),
    ("pattern", |text| told(text.parse::<Pattern>())),
    ("span", |text| text.parse::<Time>().map(drop)),
    ("variable", |text| {
        let is_part = |one: char| one.is_ascii_alphanumeric() || one == '_';
        let begins = !text.is_empty() && !text.starts_with(|first: char| first.is_ascii_digit());
        match begins && text.chars().all(is_part) {
            true => Ok(()),
            false => Err(
                "give the name of an environment variable, such as DOOR_PASSWORD, \
                 and not its value"
                    .to_owned(),
            ),
        }
    }),
];

fn told<T, E: std::fmt::Display>(read: Result<T, E>) -> Result<(), String> {
    read.map(drop).map_err(|error| error.to_string())
}

/// The result of the check against the schema.
pub(super) struct Shape {
    /// Structural problems. If there are any, the file can't be interpreted.
    pub(super) problems: Vec<Problem>,
    /// Problems with single texts.
    pub(super) misworded: Vec<Problem>,
    /// The values, without durations that can't be parsed.
    pub(super) value: Value,
}

impl Shape {
    pub(super) fn of(source: &Source, schema: &Value) -> Result<Self, String> {
        let mut options = jsonschema::options().should_validate_formats(true);
        for (name, check) in FORMATS {
            options = options.with_format(name, move |text: &str| check(text).is_ok());
        }
        let validator = options.build(schema).map_err(|error| error.to_string())?;
        let mut teller = Teller {
            source,
            schema,
            shape: Self {
                problems: Vec::new(),
                misworded: Vec::new(),
                value: source.value.clone(),
            },
        };
        for error in validator.iter_errors(&source.value) {
            teller.tell(&error);
        }
        Ok(teller.shape)
    }
}

struct Teller<'a> {
    source: &'a Source,
    schema: &'a Value,
    shape: Shape,
}

impl Teller<'_> {
    fn tell(&mut self, error: &ValidationError<'_>) {
        let path = error.instance_path().as_str();
        let message = match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                for name in unexpected {
                    let message = format!("unknown key `{name}`: {}", self.known(error, name));
                    let problem = self.source.at_key(&below(path, name), message);
                    self.shape.problems.push(problem);
                }
                return;
            }
            ValidationErrorKind::AnyOf { context }
            | ValidationErrorKind::OneOfNotValid { context } => {
                // Report the form that matches the type of the value.
                let of_type = context.iter().find(|branch| {
                    let here = |inner: &&ValidationError<'_>| {
                        inner.instance_path().as_str() == path && type_of(inner).is_some()
                    };
                    !branch.iter().any(|inner| here(&inner))
                });
                if let Some(branch) = of_type {
                    for inner in branch {
                        self.tell(inner);
                    }
                    return;
                }
                let forms = context.iter().flatten().filter_map(type_of);
                let forms: Vec<String> = forms.collect();
                format!("expected {}, found {}", forms.join(" or "), found(error))
            }
            ValidationErrorKind::Format { format } => {
                let text = error.instance().as_str().unwrap_or_default();
                let check = FORMATS.iter().find(|(name, _)| name == format);
                let Some(Err(message)) = check.map(|(_, check)| check(text)) else {
                    return;
                };
                self.shape.misworded.push(self.source.at(path, message));
                if let Some(time) = self.shape.value.pointer_mut(path)
                    && ["budget", "span"].contains(&format.as_str())
                {
                    time.take();
                }
                return;
            }
            ValidationErrorKind::Type { kind } => {
                format!("expected {}, found {}", spoken(kind), found(error))
            }
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                format!("`{name}` is missing")
            }
            ValidationErrorKind::Enum { options } => {
                let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                let names = options.iter().filter_map(Value::as_str);
                let value = error.instance();
                let name = value.as_str().unwrap_or_default();
                format!("unknown value {value}: {}", instead(name, names))
            }
            ValidationErrorKind::Minimum { limit } => format!("give a number of {limit} or more"),
            ValidationErrorKind::Maximum { limit } => format!("give a number of {limit} or less"),
            ValidationErrorKind::ExclusiveMinimum { limit } => {
                format!("give a number above {limit}")
            }
            ValidationErrorKind::MinLength { .. } => "the text is empty".to_owned(),
            ValidationErrorKind::MinItems { .. } => "the list is empty".to_owned(),
            _ => error.to_string(),
        };
        self.shape.problems.push(self.source.at(path, message));
    }

    /// What can replace an unknown key.
    fn known(&self, error: &ValidationError<'_>, name: &str) -> String {
        let keyword = error.schema_path().as_str();
        let table = keyword.rsplit_once('/').map_or("", |(table, _)| table);
        let known = self
            .schema
            .pointer(table)
            .and_then(|at| at.get("properties"));
        match known.and_then(Value::as_object) {
            Some(known) => instead(name, known.keys().map(String::as_str)),
            None => "leave it out".to_owned(),
        }
    }
}

/// The expected type, if the type is the problem.
fn type_of(error: &ValidationError<'_>) -> Option<String> {
    match error.kind() {
        ValidationErrorKind::Type { kind } => Some(spoken(kind)),
        _ => None,
    }
}

fn spoken(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => name(*one).to_owned(),
        TypeKind::Multiple(several) => several.iter().map(name).collect::<Vec<_>>().join(" or "),
    }
}

fn name(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "a list",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "a whole number",
        JsonType::Null => "nothing",
        JsonType::Number => "a number",
        JsonType::Object => "a table",
        JsonType::String => "a text in quotes",
    }
}

fn found(error: &ValidationError<'_>) -> &'static str {
    match error.instance().as_ref() {
        Value::Array(_) => "a list",
        Value::Bool(_) => "a boolean",
        Value::Null => "nothing",
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) => "a number",
        Value::Object(_) => "a table",
        Value::String(_) => "a text",
    }
}
