//! Descriptions of fields, types and tools.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;

use serde_json::Value;

use super::lines;
use super::task::{Completion, Task, Tooling};
use crate::signature::{Field, Type};
use crate::tool::ToolSpec;

/// The maximum number of schema parts to describe.
const LONGEST: usize = 300;

/// Names in backticks, separated by commas.
pub(crate) fn quoted(names: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    let names = names.into_iter().map(|name| format!("`{name}`"));
    names.collect::<Vec<_>>().join(", ")
}

/// The names of fields.
pub(crate) fn names(fields: &[Field]) -> impl Iterator<Item = &str> + Clone {
    fields.iter().map(|field| field.name.as_str())
}

/// A type with its constraints.
pub(super) fn type_words(ty: &Type) -> String {
    // The model sees the image itself, not its JSON form.
    match ty {
        Type::Image => return "image".to_owned(),
        Type::Optional(inner) if **inner == Type::Image => return "image or null".to_owned(),
        Type::List(item) if **item == Type::Image => return "list[image]".to_owned(),
        _ => {}
    }
    let schema = ty.json_schema();
    Spelling::new(&schema).words(&schema)
}

/// One line per field: name, type, meaning.
pub(super) fn fields<'f>(list: impl IntoIterator<Item = &'f Field>) -> String {
    let mut out = String::new();
    for field in list {
        let mut notes = type_words(&field.ty);
        if let Some(default) = &field.default {
            let _ = write!(notes, ", default {default}");
        }
        item(
            &mut out,
            &format!("- `{}` ({notes})", field.name),
            field.description.as_deref(),
        );
    }
    out
}

/// The fields of the reply. Those of a step are explained by the form that follows, unless they have
/// descriptions.
pub(super) fn outputs(task: &Task) -> String {
    let shown = |field: &&Field| task.tooling.is_none() || field.description.is_some();
    let outputs: Vec<&Field> = task.signature.outputs().iter().filter(shown).collect();
    match outputs.is_empty() && task.tooling.is_some() {
        true => String::new(),
        false => format!("\nOutputs:\n{}", fields(outputs)),
    }
}

/// The form of a field's text.
pub(super) fn placeholder(field: &Field) -> String {
    let form = match &field.ty {
        Type::Str => "text".to_owned(),
        Type::Literal(options) if options.iter().all(Value::is_string) => {
            let names: Vec<&str> = options.iter().filter_map(Value::as_str).collect();
            format!("exactly one of: {}", names.join("; "))
        }
        Type::Bool => "true or false".to_owned(),
        Type::Int => "a whole number".to_owned(),
        Type::Float => "a number".to_owned(),
        Type::Moment(moment) => format!("{} such as {}", moment.name(), moment.example()),
        Type::Ranged(ranged) if ranged.ty().is_str() => {
            format!("text{}", type_words(&field.ty).trim_start_matches("str"))
        }
        Type::Dict(value) if matches!(**value, Type::Any) => "a JSON object".to_owned(),
        other => format!("JSON: {}", type_words(other)),
    };
    format!("{{{form}}}")
}

/// The tools, each with its arguments.
pub(super) fn tools(tooling: &Tooling) -> String {
    let mut out = String::new();
    for spec in tooling.specs.iter() {
        item(
            &mut out,
            &format!("- `{}`", spec.name),
            Some(&spec.description),
        );
        let arguments = arguments(spec);
        if arguments.is_empty() {
            out.push_str("    no arguments\n");
        }
        for argument in arguments {
            let mut notes = argument.ty;
            if !argument.required {
                notes.push_str(", optional");
            }
            if let Some(default) = argument.default {
                let _ = write!(notes, ", default {default}");
            }
            item(
                &mut out,
                &format!("    `{}` ({notes})", argument.name),
                argument.description,
            );
        }
    }
    out
}

/// How a run ends: the call, and what must be known before it.
pub(super) fn ending(tooling: &Tooling, act: impl Fn(&str) -> String) -> String {
    let name = tooling.completion.tool_name();
    match tooling.completion {
        Completion::Submit => format!("Once you know the final outputs, {}.", act(name)),
        Completion::Finish => format!(
            "Once you know enough to give the outputs below, {}; they are asked for afterwards.\n{}",
            act(name),
            fields(tooling.declared.outputs()).trim_end(),
        ),
    }
}

/// One argument of a tool.
#[derive(Debug)]
pub(super) struct Argument<'a> {
    pub(super) name: &'a str,
    pub(super) ty: String,
    pub(super) required: bool,
    default: Option<&'a Value>,
    description: Option<&'a str>,
}

/// The arguments of a tool in the order of its schema.
pub(super) fn arguments(spec: &ToolSpec) -> Vec<Argument<'_>> {
    let required = spec.required();
    let properties = spec.parameters["properties"].as_object();
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| Argument {
            name,
            ty: Spelling::new(&spec.parameters).words(schema),
            required: required.contains(&name.as_str()),
            default: schema.get("default"),
            description: schema["description"].as_str(),
        })
        .collect()
}

fn item(out: &mut String, head: &str, description: Option<&str>) {
    out.push_str(head);
    if let Some(description) = description.map(str::trim).filter(|text| !text.is_empty()) {
        out.push_str(": ");
        let margin = head.len() - head.trim_start().len() + 4;
        out.push_str(&lines::indent(description, &" ".repeat(margin)));
    }
    out.push('\n');
}

fn options_words(options: &[Value]) -> String {
    options
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join(" | ")
}

/// The limits in a pair of keywords, such as `minLength` and `maxLength`.
fn limits(schema: &Value, keyword: &str, unit: &str) -> String {
    let limit = |end: &str| schema.get(format!("{end}{keyword}"));
    match (limit("min"), limit("max")) {
        (Some(least), Some(most)) if least == most => format!(" (exactly {least}{unit})"),
        (Some(least), Some(most)) => format!(" ({least} to {most}{unit})"),
        (Some(least), None) => format!(" (at least {least}{unit})"),
        (None, Some(most)) => format!(" (at most {most}{unit})"),
        (None, None) => String::new(),
    }
}

/// Describes the schemas in a document.
struct Spelling<'a> {
    root: &'a Value,
    /// The references being resolved: a recursive schema is named instead.
    open: RefCell<Vec<&'a str>>,
    left: Cell<usize>,
}

impl<'a> Spelling<'a> {
    fn new(root: &'a Value) -> Self {
        Self {
            root,
            open: RefCell::default(),
            left: Cell::new(LONGEST),
        }
    }

    fn words(&self, schema: &'a Value) -> String {
        if self.left.get() == 0 {
            return "any".to_owned();
        }
        self.left.set(self.left.get() - 1);
        if let Some(reference) = schema["$ref"].as_str() {
            return self.referred(reference);
        }
        if let Some(options) = schema["enum"].as_array() {
            return options_words(options);
        }
        if let Some(value) = schema.get("const") {
            return value.to_string();
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema[keyword].as_array() {
                let mut forms: Vec<String> = Vec::new();
                for form in branches.iter().map(|branch| self.words(branch)) {
                    if !forms.contains(&form) {
                        forms.push(form);
                    }
                }
                return forms.join(" or ");
            }
        }
        match &schema["type"] {
            Value::Array(types) => {
                let forms: Vec<_> = types
                    .iter()
                    .map(|ty| self.single(ty.as_str(), schema))
                    .collect();
                forms.join(" or ")
            }
            ty => self.single(ty.as_str(), schema),
        }
    }

    fn referred(&self, reference: &'a str) -> String {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        let target = reference
            .strip_prefix('#')
            .and_then(|at| self.root.pointer(at));
        let Some(target) = target else {
            return "any".to_owned();
        };
        if self.open.borrow().contains(&reference) {
            return name.to_owned();
        }
        self.open.borrow_mut().push(reference);
        let words = self.words(target);
        self.open.borrow_mut().pop();
        words
    }

    fn single(&self, ty: Option<&str>, schema: &'a Value) -> String {
        match ty {
            Some("string") => match schema["format"].as_str() {
                Some(format) => format!("str ({format})"),
                None => format!("str{}", limits(schema, "Length", " characters")),
            },
            Some("integer") => format!("int{}", limits(schema, "imum", "")),
            Some("number") => format!("float{}", limits(schema, "imum", "")),
            Some("boolean") => "bool".to_owned(),
            Some("null") => "null".to_owned(),
            Some("array") => {
                let limits = limits(schema, "Items", " items");
                match &schema["items"] {
                    items @ Value::Object(_) => format!("list[{}]{limits}", self.words(items)),
                    _ => format!("list{limits}"),
                }
            }
            Some("object") => self.object(schema),
            _ if schema["properties"].is_object() => self.object(schema),
            _ => "any".to_owned(),
        }
    }

    fn object(&self, schema: &'a Value) -> String {
        let Some(properties) = schema["properties"].as_object() else {
            return match &schema["additionalProperties"] {
                value @ Value::Object(_) => format!("dict[str, {}]", self.words(value)),
                _ => "dict".to_owned(),
            };
        };
        let required = schema["required"].as_array();
        let fields: Vec<String> = properties
            .iter()
            .map(|(name, property)| {
                let is_required =
                    required.is_some_and(|names| names.iter().any(|known| known == name));
                let mark = if is_required { "" } else { "?" };
                let meaning = property["description"]
                    .as_str()
                    .map(|text| {
                        format!(
                            " ({})",
                            text.split_whitespace().collect::<Vec<_>>().join(" ")
                        )
                    })
                    .unwrap_or_default();
                format!("{name}{mark}: {}{meaning}", self.words(property))
            })
            .collect();
        format!("{{{}}}", fields.join(", "))
    }
}
