//! The template for thinking instructions.

use super::program::Program;
use crate::adapter::describe::{names, quoted};

/// The names that a thought prompt can contain.
const NAMES: &[&str] = &["inputs", "outputs", "tools"];

/// A template with an unknown name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// The template is empty.
    #[error("the thought prompt is empty: leave it out, or say how to think")]
    Empty,
    /// A name in braces is unknown.
    #[error(
        "`{{{0}}}` means nothing in a thought prompt: there are {{inputs}}, {{outputs}} and {{tools}}, and `{{{{` for a brace"
    )]
    UnknownName(String),
    /// A brace is not closed.
    #[error("a brace of the thought prompt is not closed: write `{{{{` for a brace")]
    NotClosed,
}

/// Fills a thought prompt: `{inputs}`, `{outputs}` and `{tools}` are replaced with names of this program.
pub fn fill_thought_prompt(template: &str, program: &Program) -> Result<String, TemplateError> {
    if template.trim().is_empty() {
        return Err(TemplateError::Empty);
    }
    let value = |name: &str| match name {
        "inputs" => quoted(names(program.declared.inputs())),
        "outputs" => quoted(names(program.declared.outputs())),
        _ => quoted(program.tool_specs().map(|spec| &spec.name)),
    };
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        filled.push_str(&rest[..at]);
        let brace = &rest[at..];
        if let Some(after) = brace.strip_prefix("{{") {
            filled.push('{');
            rest = after;
        } else if let Some(after) = brace.strip_prefix('}') {
            filled.push('}');
            rest = after.strip_prefix('}').unwrap_or(after);
        } else {
            let end = brace.find('}').ok_or(TemplateError::NotClosed)?;
            let name = &brace[1..end];
            if !NAMES.contains(&name) {
                return Err(TemplateError::UnknownName(name.to_owned()));
            }
            filled.push_str(&value(name));
            rest = &brace[end + 1..];
        }
    }
    filled.push_str(rest);
    Ok(filled)
}
