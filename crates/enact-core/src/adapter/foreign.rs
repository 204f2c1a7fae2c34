//! Calls in the special tokens and tags of other models.

use std::borrow::Cow;

use serde_json::Value;

use super::task::{Completion, Tooling};
use super::{Read, ReadCall, Repair, StepReply, calls, json_text, names};
use crate::signature::Values;
use crate::tool::ToolSpec;

/// The maximum number of calls in a text.
const CALLS: usize = 32;
/// Tokens around calls in an ordinary form.
const AROUND: [&str; 5] = [
    "<|python_tag|>",
    "<|tool_call_start|>",
    "<|tool_call_end|>",
    "<|eom_id|>",
    "<|eot_id|>",
];
/// Tags whose attribute `name` names a tool.
const NAMED: [&str; 6] = [
    "invoke",
    "tool",
    "tool_call",
    "tool_use",
    "function",
    "call",
];

type Pair<'t> = (&'t str, &'t str);
/// The start of the first call, and all names with their arguments.
type Pairs<'t> = (usize, Vec<Pair<'t>>);

/// The text without tokens around calls; `None` if there are none.
pub(super) fn without_tokens(text: &str) -> Option<String> {
    AROUND.iter().any(|token| text.contains(token)).then(|| {
        let mut bare = text.to_owned();
        for token in AROUND {
            bare = bare.replace(token, "");
        }
        bare
    })
}

/// Calls between special tokens or tags, and the text before them.
pub(super) fn find(tooling: &Tooling, text: &str) -> Option<Read<StepReply>> {
    let mut repairs = Vec::new();
    let tokens = between_marks(text)
        .or_else(|| in_channels(text))
        .or_else(|| after_marks(text))
        .or_else(|| with_keys(text));
    let (start, calls) = match tokens {
        Some((start, pairs)) => {
            let calls = pairs
                .into_iter()
                .take(CALLS)
                .map(|(name, args)| call(tooling, name, args, &mut repairs));
            (start, calls.collect::<Option<Vec<_>>>()?)
        }
        None => elements(tooling, text, &mut repairs)?,
    };
    let thought = text[..start].trim().to_owned();
    let value = StepReply { thought, calls };
    (!value.calls.is_empty()).then_some(Read { value, repairs })
}

fn call(tooling: &Tooling, name: &str, args: &str, repairs: &mut Vec<Repair>) -> Option<ReadCall> {
    let name = calls::resolve_name(tooling, name, repairs);
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    Some(call_of(tooling, name, args, repairs))
}

/// The tool of this name; the one that ends the task takes the outputs, whatever it is called.
fn taking<'t>(tooling: &'t Tooling, name: &str) -> Option<Cow<'t, ToolSpec>> {
    let ends = tooling.completion.tool_name();
    let is_ending = name == ends || (tooling.spec(name).is_none() && names::ends_task(name));
    match (is_ending, tooling.completion) {
        (true, Completion::Finish) => {
            let outputs = tooling.declared.output_schema();
            Some(Cow::Owned(ToolSpec::new(ends, "", outputs)))
        }
        (true, Completion::Submit) => tooling.spec(ends).map(Cow::Borrowed),
        (false, _) => tooling.spec(name).map(Cow::Borrowed),
    }
}

/// The call of a tool whose arguments stand in tags or are JSON.
pub(super) fn call_of(
    tooling: &Tooling,
    name: String,
    args: &str,
    repairs: &mut Vec<Repair>,
) -> ReadCall {
    let spec = taking(tooling, &name);
    let tagged = tagged_values(spec.as_deref(), args);
    let args = tagged.map_or_else(|| calls::args_of_text(args, repairs), Ok);
    ReadCall::new(name, args)
}

/// Applies `read` to each part that starts with a mark.
fn parts<'t>(
    text: &'t str,
    mark: &str,
    read: impl Fn(&'t str) -> Option<Pair<'t>>,
) -> Option<Vec<Pair<'t>>> {
    let parts = text.split(mark).skip(1).map(read);
    let trimmed = |(name, args): Pair<'t>| (name.trim(), args.trim());
    parts.map(|pair| pair.map(trimmed)).collect()
}

/// `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}`, with or without `function` before the separator.
fn between_marks(text: &str) -> Option<Pairs<'_>> {
    let start = text.find("<｜tool▁call")?;
    let pairs = parts(text, "<｜tool▁call▁begin｜>", |part| {
        let part = part.split("<｜tool▁call▁end｜>").next()?;
        let (head, rest) = part.split_once("<｜tool▁sep｜>")?;
        match head.trim() {
            "function" => Some(rest.split_at(rest.find(['\n', '`', '{'])?)),
            name => Some((name, rest)),
        }
    })?;
    Some((start, pairs))
}

/// `<|channel|>commentary to=functions.name <|constrain|>json<|message|>{…}<|call|>`.
fn in_channels(text: &str) -> Option<Pairs<'_>> {
    const TO: &str = " to=";
    let is_one = text.contains("<|channel|>") || text.contains("<|message|>");
    let first = text.find(TO).filter(|_| is_one)?;
    let start = text[..first].rfind("<|channel|>").unwrap_or(first);
    let start = text[..start].rfind("<|start|>").unwrap_or(start);
    let pairs = parts(text, TO, |part| {
        let name_end = part.find(|c: char| c.is_whitespace() || c == '<')?;
        let (_, args) = part.split_once("<|message|>")?;
        Some((&part[..name_end], args.split("<|").next()?))
    })?;
    Some((start, pairs))
}

/// `[TOOL_CALLS]name[ARGS]{…}`.
fn after_marks(text: &str) -> Option<Pairs<'_>> {
    const MARK: &str = "[TOOL_CALLS]";
    let start = text.find(MARK)?;
    let pairs = parts(text, MARK, |part| {
        let (name, args) = part.split_once("[ARGS]")?;
        Some((name.split("[CALL_ID]").next()?, args))
    })?;
    Some((start, pairs))
}

/// `<tool_call>name <arg_key>…</arg_key> <arg_value>…</arg_value></tool_call>`.
fn with_keys(text: &str) -> Option<Pairs<'_>> {
    const OPENING: &str = "<tool_call>";
    let start = text.find(OPENING).filter(|_| text.contains("<arg_key>"))?;
    let pairs = parts(text, OPENING, |part| {
        let (part, _) = part.split_once("</tool_call>")?;
        Some(part.split_at(part.find("<arg_key>").unwrap_or(part.len())))
    })?;
    Some((start, pairs))
}

/// `<invoke name="tool">…</invoke>` and `<tool>…</tool>`, if the tool is known.
fn elements(
    tooling: &Tooling,
    text: &str,
    repairs: &mut Vec<Repair>,
) -> Option<(usize, Vec<ReadCall>)> {
    let mut found: Option<usize> = None;
    let mut read = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find('<') {
        let start = at + next;
        at = start + 1;
        let Some(head) = Head::at(&text[start..]) else {
            continue;
        };
        // `<function=tool>` is read elsewhere.
        if text[start..].starts_with("<function=") {
            continue;
        }
        let name = match head.attribute {
            Some(name) if NAMED.contains(&head.name()) => name,
            None => head.name(),
            Some(_) => continue,
        };
        // A tag of another name for the tool that ends the task may well be an output.
        if head.attribute.is_none() && tooling.spec(name).is_none() {
            continue;
        }
        let Some(spec) = taking(tooling, name) else {
            continue;
        };
        let element = Element::of(head, &text[start..])?;
        // Something else may have the name of a tool.
        let body = element.body.trim();
        let args = tagged_values(Some(&spec), body).or_else(|| {
            let args = calls::args_of_text(body, repairs).ok();
            args.filter(|_| body.is_empty() || body.starts_with('{'))
        })?;
        read.push(ReadCall::new(&*spec.name, Ok(args)));
        found = found.or(Some(start));
        at = start + element.length;
        if read.len() == CALLS {
            break;
        }
    }
    // Tags around the calls are not part of the thought.
    let start = found?;
    let before = text[..start].trim_end();
    let mut wrappers = ["<function_calls>", "<tool_calls>", "<tool_call>"].into_iter();
    let inside = wrappers.find_map(|tag| before.strip_suffix(tag));
    Some((inside.map_or(start, str::len), read))
}

/// An opening tag: its name, the value of its attribute `name`, and its length.
#[derive(Clone, Copy)]
struct Head<'t> {
    tag: &'t str,
    attribute: Option<&'t str>,
    length: usize,
}

impl<'t> Head<'t> {
    /// The tag at the start of a text.
    fn at(text: &'t str) -> Option<Self> {
        const LONGEST: usize = 200;
        let inside = text.strip_prefix('<')?;
        let end = inside
            .bytes()
            .take(LONGEST)
            .position(|byte| matches!(byte, b'>' | b'\n'))?;
        let head = &inside[..end];
        if !inside[end..].starts_with('>') || head.ends_with('/') {
            return None;
        }
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.');
        let name_end = head.find(|c: char| !is_name(c)).unwrap_or(head.len());
        let (tag, rest) = head.split_at(name_end);
        let attribute = match rest.trim() {
            "" => None,
            // `name="tool"`, or `<parameter=name>`.
            rest => {
                let value = rest.strip_prefix("name").unwrap_or(rest).trim_start();
                Some(value.strip_prefix('=')?.trim().trim_matches(['"', '\'']))
            }
        };
        (!tag.is_empty()).then_some(Self {
            tag,
            attribute,
            length: end + 2,
        })
    }

    /// The name without the namespace that some models add.
    fn name(&self) -> &'t str {
        self.tag.strip_prefix("antml:").unwrap_or(self.tag)
    }
}

/// A tag with its content and length.
struct Element<'t> {
    head: Head<'t>,
    body: &'t str,
    length: usize,
}

impl<'t> Element<'t> {
    /// The element at the start of a text.
    fn at(text: &'t str) -> Option<Self> {
        Self::of(Head::at(text)?, text)
    }

    fn of(head: Head<'t>, text: &'t str) -> Option<Self> {
        let closing = format!("</{}>", head.tag);
        let body = &text[head.length..];
        let length = body.find(&closing)?;
        Some(Self {
            head,
            body: &body[..length],
            length: head.length + length + closing.len(),
        })
    }
}

/// Arguments in tags of their own, without anything else.
fn tagged_values(spec: Option<&ToolSpec>, body: &str) -> Option<Values> {
    let mut args = Values::new();
    let mut rest = body.trim();
    while !rest.is_empty() {
        let element = Element::at(rest)?;
        rest = rest[element.length..].trim_start();
        let (name, body) = match (element.head.name(), element.head.attribute) {
            ("arg_key", None) => {
                let value = Element::at(rest).filter(|value| value.head.name() == "arg_value")?;
                rest = rest[value.length..].trim_start();
                (element.body.trim(), value.body)
            }
            ("parameter" | "param" | "arg" | "argument", Some(name)) => (name, element.body),
            (name, None) => {
                // Only the tool's schema determines which tags are arguments.
                let properties = &spec?.parameters["properties"];
                properties.get(name)?;
                (name, element.body)
            }
            _ => return None,
        };
        args.insert(name.to_owned(), typed(spec, name, body));
    }
    (!args.is_empty()).then_some(args)
}

/// The value of an argument's text.
fn typed(spec: Option<&ToolSpec>, name: &str, text: &str) -> Value {
    let text = text.trim();
    let is_text = |spec: &ToolSpec| spec.parameters["properties"][name]["type"] == "string";
    match json_text::parse(text, &mut Vec::new()) {
        Some(value) if !spec.is_some_and(is_text) => value,
        _ => Value::String(text.to_owned()),
    }
}
