//! Parses actions: `tool(a=1)`, `tool[text]`, or `tool` with a separate input.

use serde_json::Value;

use super::literal;
use crate::adapter::describe::{self, Argument};
use crate::adapter::task::{Completion, Tooling};
use crate::adapter::{
    ReadCall, Repair, RepairKind, UnreadableArgs, calls, field_text, forms, json_text,
};
use crate::model::FinishReason;
use crate::run::Call;
use crate::signature::Values;

/// A parsed action.
#[derive(Debug)]
pub(super) struct Action {
    pub(super) call: ReadCall,
    /// An answer in a completing call that takes none.
    pub(super) answer: Option<String>,
}

/// Why an action can't be parsed.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is incomplete.
    Open,
    /// Another problem.
    Problem(String),
}

/// Parses the text after `Action:`, and the one after `Action Input:` if there is one.
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
    let called = Called::new(tooling, calls::resolve_name(tooling, written, repairs));
    let after = after
        .trim_start_matches(['`', '"', '\'', '*'])
        .trim_start_matches([' ', '\t']);
    let (given, rest) = match (after.chars().next(), input) {
        (Some('['), _) => called.in_brackets(after, repairs)?,
        (Some('('), _) => called.in_parentheses(after)?,
        (Some('{'), _) => (Given::Args(calls::args_of_text(after, repairs)), ""),
        (_, Some(input)) => (called.of_input(input, repairs)?, ""),
        (None | Some('\n' | '\r'), None) => (Given::args(Values::new()), after),
        (Some(_), None) => {
            return Err(Unread::Problem(format!(
                "Write the call of `{}` with its arguments in parentheses.",
                called.name
            )));
        }
    };
    if !rest.trim().trim_matches('`').is_empty() {
        let detail = "text after the action was dropped";
        repairs.push(Repair::new(RepairKind::Surroundings, detail));
    }
    Ok(vec![called.with(given)])
}

/// The completing call for a final answer.
pub(super) fn final_answer(
    tooling: &Tooling,
    text: &str,
    repairs: &mut Vec<Repair>,
) -> Result<Action, Unread> {
    let called = Called::new(tooling, tooling.completion.tool_name().to_owned());
    let given = called.of_text(text, repairs)?;
    Ok(called.with(given))
}

/// A recorded call as an action.
pub(super) fn write(call: &Call) -> String {
    let name = call.name.split_whitespace().collect::<Vec<_>>().join("_");
    match &call.raw {
        Some(raw) => format!("{name}({raw})"),
        None => format!("{name}({})", write_args(&call.args)),
    }
}

/// Arguments in parentheses: named, or as one object if a name could not be parsed.
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

/// The arguments of an action.
enum Given {
    Args(Result<Values, UnreadableArgs>),
    /// A text for a completing call that takes no arguments.
    Answer(String),
}

impl Given {
    fn args(args: Values) -> Self {
        Self::Args(Ok(args))
    }

    fn one(name: &str, value: Value) -> Self {
        Self::args(Values::from_iter([(name.to_owned(), value)]))
    }

    /// The only argument, as text.
    fn text(name: &str, text: &str) -> Self {
        Self::one(name, unquoted(text.trim()).into())
    }

    /// It is unclear which arguments these are.
    fn unnamed(text: &str) -> Self {
        let problem = "give every argument with its name, as in tool(name=\"value\")";
        Self::Args(Err(calls::unreadable(text, problem)))
    }
}

fn unquoted(text: &str) -> String {
    literal::whole_quoted(text).unwrap_or_else(|| text.to_owned())
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
    let calls = step.calls.into_iter();
    Ok(calls.map(|call| Action { call, answer: None }).collect())
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

/// The tool of an action.
struct Called<'t> {
    tooling: &'t Tooling,
    name: String,
    arguments: Option<Vec<Argument<'t>>>,
    /// Whether it ends the task.
    completes: bool,
}

impl<'t> Called<'t> {
    fn new(tooling: &'t Tooling, name: String) -> Self {
        Self {
            tooling,
            arguments: tooling.spec(&name).map(describe::arguments),
            completes: name == tooling.completion.tool_name(),
            name,
        }
    }

    /// Whether it ends the task without arguments: then a text is the answer.
    fn takes_answer(&self) -> bool {
        self.completes && self.tooling.completion == Completion::Finish
    }

    fn arguments(&self) -> &[Argument<'t>] {
        self.arguments.as_deref().unwrap_or_default()
    }

    fn is_argument(&self, name: &str) -> bool {
        self.arguments()
            .iter()
            .any(|argument| argument.name == name)
    }

    /// The only required argument, or the only argument.
    fn single_argument(&self) -> Option<&'t str> {
        let mut required = self.arguments().iter().filter(|argument| argument.required);
        match (required.next(), required.next(), self.arguments()) {
            (Some(only), None, _) | (None, _, [only]) => Some(only.name),
            _ => None,
        }
    }

    /// Whether these are the outputs of the task.
    fn are_outputs(&self, args: &Values) -> bool {
        let names = args.keys().map(String::as_str);
        forms::covers(self.tooling.declared.outputs(), names)
    }

    fn with(self, given: Given) -> Action {
        let (args, answer) = match given {
            Given::Args(Ok(args))
                if self.takes_answer() && !args.is_empty() && !self.are_outputs(&args) =>
            {
                (Ok(Values::new()), Some(Value::from(args).to_string()))
            }
            Given::Args(args) => (args, None),
            Given::Answer(text) => (Ok(Values::new()), Some(text)),
        };
        Action {
            call: ReadCall::new(self.name, args),
            answer,
        }
    }

    fn in_brackets<'a>(
        &self,
        text: &'a str,
        repairs: &mut Vec<Repair>,
    ) -> Result<(Given, &'a str), Unread> {
        let line_end = text.find(['\n', '\r']).unwrap_or(text.len());
        let line = &text[..line_end];
        // Only in an object is a quoted bracket told from one that closes.
        let is_object = text[1..].trim_start().starts_with('{');
        let object_end = is_object.then(|| literal::closing(text)).flatten();
        let end = object_end
            .or_else(|| balanced(line))
            .or_else(|| line.rfind(']'))
            .or_else(|| balanced(text))
            .or_else(|| text.rfind(']'))
            .ok_or(Unread::Open)?;
        let given = self.of_text(&text[1..end], repairs)?;
        Ok((given, &text[end + 1..]))
    }

    fn in_parentheses<'a>(&self, text: &'a str) -> Result<(Given, &'a str), Unread> {
        let line_end = text.find(['\n', '\r']).unwrap_or(text.len());
        let end = literal::closing(text)
            .or_else(|| text[..line_end].rfind(')'))
            .ok_or(Unread::Open)?;
        Ok((self.of_arguments(text[1..end].trim()), &text[end + 1..]))
    }

    fn of_arguments(&self, inside: &str) -> Given {
        if inside.is_empty() {
            return Given::args(Values::new());
        }
        // Helper fields are named like outputs.
        if self.completes
            && let Some(read) = literal::arguments(inside, |_| true)
            && read.positional.is_empty()
            && self.are_outputs(&read.named)
        {
            return Given::args(read.named);
        }
        let are_arguments = |args: &Values| args.keys().all(|key| self.is_argument(key));
        let single = self.single_argument();
        if let Some(Value::Object(args)) = json_text::parse(inside, &mut Vec::new()) {
            return match single {
                Some(only) if !are_arguments(&args) => Given::one(only, args.into()),
                _ => Given::args(args),
            };
        }
        let is_name = |key: &str| self.is_argument(key) || single.is_none();
        let read = literal::arguments(inside, is_name);
        match (&read, single) {
            (Some(read), _) if read.positional.is_empty() => {
                return Given::args(read.named.clone());
            }
            (Some(read), _)
                if let [Value::Object(args)] = read.positional.as_slice()
                    && read.named.is_empty()
                    && are_arguments(args) =>
            {
                return Given::args(args.clone());
            }
            (None, Some(only)) => return Given::text(only, inside),
            _ if self.takes_answer() => return Given::Answer(inside.to_owned()),
            _ => {}
        }
        let Some(mut read) = read else {
            return Given::unnamed(inside);
        };
        match (self.names_by_position(&read), single) {
            (Some(names), _) => {
                let names = names.into_iter().map(str::to_owned);
                let mut args: Values = names.zip(read.positional).collect();
                args.append(&mut read.named);
                Given::args(args)
            }
            // A single argument with commas in it is still one text.
            (None, Some(only)) if read.named.is_empty() => Given::text(only, inside),
            (None, _) => Given::unnamed(inside),
        }
    }

    /// The names of unnamed arguments, if they are unambiguous.
    fn names_by_position(&self, read: &literal::Arguments) -> Option<Vec<&'t str>> {
        let arguments = self.arguments().iter();
        let open = arguments.filter(|argument| !read.named.contains_key(argument.name));
        let required = open.clone().filter(|argument| argument.required);
        let required: Vec<&str> = required.map(|argument| argument.name).collect();
        let open: Vec<&str> = open.map(|argument| argument.name).collect();
        match read.positional.len() {
            count if count == required.len() => Some(required),
            count if count == open.len() && !read.has_bare_text => Some(open),
            _ => None,
        }
    }

    fn of_input(&self, input: &str, repairs: &mut Vec<Repair>) -> Result<Given, Unread> {
        let input = unfenced(input, repairs);
        if input.starts_with('{') {
            let args = calls::args_of_text(input, repairs);
            if args.is_ok() || self.single_argument().is_none() {
                return Ok(Given::Args(args));
            }
        }
        self.of_text(input, repairs)
    }

    /// Arguments in a single text.
    fn of_text(&self, text: &str, repairs: &mut Vec<Repair>) -> Result<Given, Unread> {
        let text = text.trim();
        if self.takes_answer() {
            return Ok(match json_text::parse(text, &mut Vec::new()) {
                Some(Value::Object(args)) if self.are_outputs(&args) => Given::args(args),
                _ if text.is_empty() => Given::args(Values::new()),
                _ => Given::Answer(text.to_owned()),
            });
        }
        let is_known = self.arguments.is_some();
        if is_known
            && let Some(Value::Object(args)) = json_text::parse(text, repairs)
            && args.keys().all(|key| self.is_argument(key))
        {
            return Ok(Given::args(args));
        }
        let named = literal::arguments(text, |key| !is_known || self.is_argument(key));
        let named = named.filter(|read| read.positional.is_empty());
        if let Some(read) = named.filter(|read| !is_known || !read.named.is_empty()) {
            return Ok(Given::args(read.named));
        }
        let outputs = self.tooling.declared.outputs();
        Ok(match (self.single_argument(), outputs) {
            (_, [only]) if self.completes => {
                let value = field_text::read(&only.ty, &unquoted(text), repairs);
                Given::one(&only.name, value)
            }
            (Some(only), _) if !self.completes => Given::text(only, text),
            _ if is_known && text.is_empty() => Given::args(Values::new()),
            _ if self.completes => {
                let outputs = describe::names(outputs).map(|name| format!("{name}=…"));
                return Err(Unread::Problem(format!(
                    "There are several outputs: give each with its name, as in {}({}).",
                    self.name,
                    outputs.collect::<Vec<_>>().join(", ")
                )));
            }
            _ => Given::unnamed(text),
        })
    }
}
