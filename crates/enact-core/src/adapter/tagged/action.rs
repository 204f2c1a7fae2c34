//! The text of an action: `tool(a=1)`, `tool[text]`, `tool` with an input of its own.

use serde_json::Value;

use super::literal;
use crate::adapter::task::{Completion, Tooling};
use crate::adapter::{
    ReadCall, Repair, RepairKind, UnreadableArgs, calls, describe, field_text, forms, json_text,
};
use crate::model::FinishReason;
use crate::run::Call;
use crate::signature::Values;
use crate::tool::ToolSpec;

/// An action as read.
#[derive(Debug)]
pub(super) struct Action {
    pub(super) call: ReadCall,
    /// An answer that came with a completing call that takes none.
    pub(super) answer: Option<String>,
}

/// Why an action cannot be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It does not end.
    Open,
    /// Something else.
    Problem(String),
}

/// Reads the text after `Action:`, and the one after `Action Input:` if there is one.
pub(super) fn read(
    tooling: &Tooling,
    text: &str,
    input: Option<&str>,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<Action>, Unread> {
    let text = unfenced(text, repairs);
    if text.starts_with(['{', '[']) {
        return as_json(tooling, text, repairs);
    }
    let bare = text.trim_start_matches(['`', '"', '\'', '*']);
    let end = bare.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')));
    let (written, after) = bare.split_at(end.unwrap_or(bare.len()));
    if written.is_empty() {
        return Err(Unread::Problem("The action names no tool.".to_owned()));
    }
    let name = calls::resolve_name(tooling, written, repairs);
    let spec = tooling.spec(&name);
    let after = after
        .trim_start_matches(['`', '"', '\'', '*'])
        .trim_start_matches([' ', '\t']);
    let (args, rest) = match after.chars().next() {
        Some('[') => in_brackets(tooling, spec, &name, after, repairs)?,
        Some('(') => in_parentheses(tooling, spec, &name, after)?,
        Some('{') => (Given::Args(calls::args_of_text(after, repairs)), ""),
        next => match (next, input) {
            (_, Some(input)) => (of_input(tooling, spec, &name, input, repairs)?, ""),
            (None | Some('\n' | '\r'), None) => (Given::Args(Ok(Values::new())), after),
            (Some(_), None) => {
                let problem =
                    format!("Write the call of `{name}` with its arguments in parentheses.");
                return Err(Unread::Problem(problem));
            }
        },
    };
    if !rest.trim().trim_matches('`').is_empty() {
        repairs.push(Repair::new(
            RepairKind::Surroundings,
            "text after the action was dropped",
        ));
    }
    Ok(vec![finished(tooling, name, args)])
}

/// The completing call that a final answer stands for.
pub(super) fn final_answer(
    tooling: &Tooling,
    text: &str,
    repairs: &mut Vec<Repair>,
) -> Result<Action, Unread> {
    let name = tooling.completion.tool_name();
    let given = of_text(tooling, tooling.spec(name), name, text, repairs)?;
    Ok(finished(tooling, name.to_owned(), given))
}

/// A recorded call as an action.
pub(super) fn write(call: &Call) -> String {
    let name = call.name.split_whitespace().collect::<Vec<_>>().join("_");
    match &call.raw {
        Some(raw) => format!("{name}({raw})"),
        None => format!("{name}({})", write_args(&call.args)),
    }
}

/// Arguments between parentheses: by name, or as one object where a name could not be read.
pub(super) fn write_args(args: &Values) -> String {
    let is_plain = |name: &String| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if args.is_empty() || !args.keys().all(is_plain) {
        return if args.is_empty() {
            String::new()
        } else {
            Value::from(args.clone()).to_string()
        };
    }
    let list: Vec<String> = args
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    list.join(", ")
}

/// What an action gives a tool.
enum Given {
    Args(Result<Values, UnreadableArgs>),
    /// A text for a completing call that takes no arguments.
    Answer(String),
}

fn finished(tooling: &Tooling, name: String, given: Given) -> Action {
    let is_finish =
        tooling.completion == Completion::Finish && name == tooling.completion.tool_name();
    let is_answer = |args: &Values| {
        let names = args.keys().map(String::as_str);
        forms::covers(tooling.declared.outputs(), names)
    };
    let (args, answer) = match given {
        Given::Args(Ok(args)) if is_finish && !args.is_empty() && !is_answer(&args) => {
            (Ok(Values::new()), Some(Value::from(args).to_string()))
        }
        Given::Args(args) => (args, None),
        Given::Answer(text) => (Ok(Values::new()), Some(text)),
    };
    Action {
        call: ReadCall {
            id: None,
            name,
            args,
        },
        answer,
    }
}

fn unfenced<'a>(text: &'a str, repairs: &mut Vec<Repair>) -> &'a str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else {
        return text;
    };
    repairs.push(Repair::new(RepairKind::Surroundings, "a fence was dropped"));
    let inside = match inside.split_once('\n') {
        Some((label, rest)) if label.chars().all(char::is_alphanumeric) => rest,
        _ => inside,
    };
    inside.split("```").next().unwrap_or(inside).trim()
}

fn as_json(
    tooling: &Tooling,
    text: &str,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<Action>, Unread> {
    let found =
        json_text::find(text, FinishReason::Length, |_| true).map_err(|no_json| match no_json {
            json_text::NoJson::CutOff => Unread::Open,
            _ => Unread::Problem("The action is no valid JSON.".to_owned()),
        })?;
    let step = calls::step_of_value(tooling, &found.value, repairs)
        .ok_or_else(|| Unread::Problem("The action names no tool.".to_owned()))?;
    repairs.extend(found.repairs);
    Ok(step
        .calls
        .into_iter()
        .map(|call| Action { call, answer: None })
        .collect())
}

fn in_brackets<'a>(
    tooling: &Tooling,
    spec: Option<&ToolSpec>,
    name: &str,
    text: &'a str,
    repairs: &mut Vec<Repair>,
) -> Result<(Given, &'a str), Unread> {
    let line_end = text.find(['\n', '\r']).unwrap_or(text.len());
    let line = &text[..line_end];
    let end = balanced(line)
        .or_else(|| line.rfind(']'))
        .or_else(|| balanced(text))
        .or_else(|| text.rfind(']'))
        .ok_or(Unread::Open)?;
    let given = of_text(tooling, spec, name, &text[1..end], repairs)?;
    Ok((given, &text[end + 1..]))
}

fn balanced(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().enumerate().find_map(|(at, byte)| {
        match byte {
            b'[' => depth += 1,
            b']' => {
                depth = depth.saturating_sub(1);
                return (depth == 0).then_some(at);
            }
            _ => {}
        }
        None
    })
}

fn in_parentheses<'a>(
    tooling: &Tooling,
    spec: Option<&ToolSpec>,
    name: &str,
    text: &'a str,
) -> Result<(Given, &'a str), Unread> {
    let line_end = text.find(['\n', '\r']).unwrap_or(text.len());
    let end = literal::closing(text)
        .or_else(|| text[..line_end].rfind(')'))
        .ok_or(Unread::Open)?;
    let inside = text[1..end].trim();
    let rest = &text[end + 1..];
    Ok((of_arguments(tooling, spec, name, inside)?, rest))
}

fn of_arguments(
    tooling: &Tooling,
    spec: Option<&ToolSpec>,
    name: &str,
    inside: &str,
) -> Result<Given, Unread> {
    if inside.is_empty() {
        return Ok(Given::Args(Ok(Values::new())));
    }
    // Helper fields beside the outputs are named like them.
    if name == tooling.completion.tool_name()
        && let Some(read) = literal::arguments(inside, |_| true)
        && read.positional.is_empty()
        && forms::covers(
            tooling.declared.outputs(),
            read.named.keys().map(String::as_str),
        )
    {
        return Ok(Given::Args(Ok(read.named)));
    }
    let properties: Vec<&str> = spec
        .map(|spec| describe::arguments(spec).iter().map(|a| a.name).collect())
        .unwrap_or_default();
    let single = spec.and_then(single_argument);
    if let Some(Value::Object(args)) = json_text::parse(inside, &mut Vec::new()) {
        let is_args = args.keys().all(|key| properties.contains(&key.as_str()));
        return Ok(Given::Args(Ok(match single {
            Some(only) if !is_args => Values::from_iter([(only.to_owned(), Value::Object(args))]),
            _ => args,
        })));
    }
    let is_name = |key: &str| properties.contains(&key) || single.is_none();
    let Some(mut read) = literal::arguments(inside, is_name) else {
        return match single {
            Some(only) => Ok(Given::Args(Ok(text_argument(only, inside)))),
            None if is_completing_text(tooling, name) => Ok(Given::Answer(inside.to_owned())),
            None => Ok(Given::Args(Err(calls::unreadable(inside, NOT_NAMED)))),
        };
    };
    if read.positional.is_empty() {
        return Ok(Given::Args(Ok(read.named)));
    }
    if let [Value::Object(args)] = read.positional.as_slice()
        && read.named.is_empty()
        && args.keys().all(|key| properties.contains(&key.as_str()))
    {
        return Ok(Given::Args(Ok(args.clone())));
    }
    if is_completing_text(tooling, name) {
        return Ok(Given::Answer(inside.to_owned()));
    }
    let Some(names) = spec.and_then(|spec| names_by_position(spec, &read)) else {
        // A single argument with commas in it is still one text.
        if let Some(only) = single.filter(|_| read.named.is_empty()) {
            return Ok(Given::Args(Ok(text_argument(only, inside))));
        }
        return Ok(Given::Args(Err(calls::unreadable(inside, NOT_NAMED))));
    };
    let mut args: Values = names.into_iter().zip(read.positional.drain(..)).collect();
    args.append(&mut read.named);
    Ok(Given::Args(Ok(args)))
}

const NOT_NAMED: &str = "give every argument with its name, as in tool(name=\"value\")";

fn is_completing_text(tooling: &Tooling, name: &str) -> bool {
    tooling.completion == Completion::Finish && name == tooling.completion.tool_name()
}

/// The names that arguments without names stand for, if that is beyond doubt.
fn names_by_position(spec: &ToolSpec, read: &literal::Arguments) -> Option<Vec<String>> {
    let count = read.positional.len();
    let arguments = describe::arguments(spec);
    let open: Vec<_> = arguments
        .iter()
        .filter(|argument| !read.named.contains_key(argument.name))
        .collect();
    let required: Vec<_> = open.iter().filter(|a| a.required).copied().collect();
    let chosen = if required.len() == count {
        required
    } else if open.len() == count && !read.has_bare_text {
        open
    } else {
        return None;
    };
    Some(
        chosen
            .into_iter()
            .map(|argument| argument.name.to_owned())
            .collect(),
    )
}

/// The only argument that has to be given, or the only one there is.
fn single_argument(spec: &ToolSpec) -> Option<&str> {
    let arguments = describe::arguments(spec);
    let mut required = arguments.iter().filter(|argument| argument.required);
    match (required.next(), required.next()) {
        (Some(only), None) => Some(only.name),
        (None, _) if arguments.len() == 1 => arguments.first().map(|only| only.name),
        _ => None,
    }
}

fn text_argument(name: &str, text: &str) -> Values {
    let text = text.trim();
    let value = literal::whole_quoted(text).unwrap_or_else(|| text.to_owned());
    Values::from_iter([(name.to_owned(), Value::String(value))])
}

fn of_input(
    tooling: &Tooling,
    spec: Option<&ToolSpec>,
    name: &str,
    input: &str,
    repairs: &mut Vec<Repair>,
) -> Result<Given, Unread> {
    let input = unfenced(input, repairs);
    if input.starts_with('{') {
        match calls::args_of_text(input, repairs) {
            Ok(args) => return Ok(Given::Args(Ok(args))),
            Err(unreadable) if spec.and_then(single_argument).is_none() => {
                return Ok(Given::Args(Err(unreadable)));
            }
            Err(_) => {}
        }
    }
    of_text(tooling, spec, name, input, repairs)
}

/// Arguments given as one text.
fn of_text(
    tooling: &Tooling,
    spec: Option<&ToolSpec>,
    name: &str,
    text: &str,
    repairs: &mut Vec<Repair>,
) -> Result<Given, Unread> {
    let text = text.trim();
    if is_completing_text(tooling, name) {
        return Ok(if text.is_empty() {
            Given::Args(Ok(Values::new()))
        } else {
            Given::Answer(text.to_owned())
        });
    }
    let Some(spec) = spec else {
        let args = literal::arguments(text, |_| true).filter(|read| read.positional.is_empty());
        return Ok(Given::Args(match args {
            Some(read) => Ok(read.named),
            None => Err(calls::unreadable(text, NOT_NAMED)),
        }));
    };
    let arguments = describe::arguments(spec);
    let is_name = |key: &str| arguments.iter().any(|argument| argument.name == key);
    if let Some(Value::Object(args)) = json_text::parse(text, repairs)
        && args.keys().all(|key| is_name(key))
    {
        return Ok(Given::Args(Ok(args)));
    }
    let named = literal::arguments(text, is_name)
        .filter(|read| read.positional.is_empty() && !read.named.is_empty())
        .map(|read| read.named);
    let completes = name == tooling.completion.tool_name();
    let only_output = match tooling.declared.outputs() {
        [only] if completes => Some(only),
        _ => None,
    };
    match (named, only_output, single_argument(spec)) {
        (Some(named), _, _) => Ok(Given::Args(Ok(named))),
        (None, Some(only), _) => {
            let text = literal::whole_quoted(text).unwrap_or_else(|| text.to_owned());
            let value = field_text::read(&only.ty, &text, repairs);
            let args = Values::from_iter([(only.name.clone(), value)]);
            Ok(Given::Args(Ok(args)))
        }
        (None, None, Some(only)) if !completes => Ok(Given::Args(Ok(text_argument(only, text)))),
        (None, None, _) if text.is_empty() => Ok(Given::Args(Ok(Values::new()))),
        (None, None, _) if completes => {
            let names: Vec<String> = tooling
                .declared
                .outputs()
                .iter()
                .map(|field| format!("{}=…", field.name))
                .collect();
            Err(Unread::Problem(format!(
                "There are several outputs: give each with its name, as in {name}({}).",
                names.join(", ")
            )))
        }
        (None, None, _) => Ok(Given::Args(Err(calls::unreadable(text, NOT_NAMED)))),
    }
}
