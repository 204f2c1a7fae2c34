//! Classifies replies without a call: an answer, the announcement of a call, or a malformed
//! call.

use serde_json::Value;

use super::announcement::{self, Announced};
use super::task::Tooling;
use super::{calls, thinking};
use crate::signature::Values;
use crate::tool::ToolSpec;

/// The kind of a reply in plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Talk {
    /// An answer.
    Answer,
    /// It announces what to do next.
    Announcement,
    /// It looks like a call, or like the result of one.
    Call,
}

/// Marks that only calls and their results have, separated by commas.
const MARKS: &str = "\
    <tool_call, </tool_call, <tool_response, </tool_response, <tool_result, <function=, \
    <function_call, <|python_tag|>, <|tool_call, [tool_calls], [tool_call], ```tool_code, \
    ```tool_call, ```tool_outputs, <｜tool, <|tool▁, <|channel|>, <|constrain|>, <|call|>, \
    [args]{, <arg_key>, <invoke name=, <function_results, <next_tool_name>, \
    <next_tool_args>, [[ ## next_tool, [[ ## next_thought, <｜dsml｜";

/// Tells an answer from the announcement of a call. When in doubt it is an answer.
pub(crate) fn read(tooling: &Tooling, text: &str) -> Talk {
    let text = thinking::spoken(text).text.trim();
    if is_call(tooling, text) {
        return Talk::Call;
    }
    match announcement::find(tooling, text) {
        Some(_) => Talk::Announcement,
        None => Talk::Answer,
    }
}

/// Whether a text could be an answer if nothing else is one: it names no tool that it is about to
/// call.
pub(crate) fn may_answer(tooling: &Tooling, text: &str) -> bool {
    let text = thinking::spoken(text).text.trim();
    !is_call(tooling, text) && announcement::find(tooling, text) != Some(Announced::Call)
}

fn is_call(tooling: &Tooling, text: &str) -> bool {
    let lower = text.to_lowercase();
    let has_mark = MARKS.split(", ").any(|mark| lower.contains(mark));
    has_mark
        || has_labelled_action(tooling, &lower)
        || has_call_line(tooling, &lower)
        || is_broken_object(text)
        || is_nothing_but_a_call(tooling, text)
}

/// Whether the whole text can only be meant for a tool: a value without a content, a call of a tool
/// that does not exist, or words for one that does.
fn is_nothing_but_a_call(tooling: &Tooling, text: &str) -> bool {
    let bare = without_fence(text);
    if matches!(bare, "null" | "{}") {
        return true;
    }
    if let Ok(Value::Object(fields)) = serde_json::from_str(bare) {
        return is_call_object(tooling, &fields);
    }
    is_call_list(bare) || tooling.specs.iter().any(|spec| is_addressed(spec, bare))
}

/// The arguments of a tool, or an object that names one and its input.
fn is_call_object(tooling: &Tooling, fields: &Values) -> bool {
    let mut callable = tooling
        .specs
        .iter()
        .filter(|spec| spec.name != tooling.completion.tool_name());
    let has = |name: &str| fields.contains_key(name);
    let names_one = has("name") || has("tool") || has("tool_name") || has("next_tool_name");
    let gives = [
        "arguments",
        "parameters",
        "args",
        "tool_args",
        "next_tool_args",
    ];
    let gives = gives.iter().filter_map(|key| fields.get(*key));
    let gives_object = gives.into_iter().any(Value::is_object);
    let has_own_key = fields.len() == 1 && tooling.specs.iter().any(|spec| has(&spec.name));
    has("function_call")
        || has("tool_calls")
        || (names_one && gives_object)
        || has_own_key
        || callable.any(|spec| !spec.required().is_empty() && calls::are_arguments(spec, fields))
}

/// `[name(argument=…)]`.
fn is_call_list(text: &str) -> bool {
    let inside = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(")]"));
    let Some((name, args)) = inside.and_then(|inside| inside.split_once('(')) else {
        return false;
    };
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let names_argument = args
        .split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(is_part));
    !name.is_empty() && name.chars().all(is_part) && (args.is_empty() || names_argument)
}

/// Whether a text addresses a tool: `tool: …`, `/tool …`, `@tool …`, `<tool>…`. Only as a whole, and in the
/// tool's own spelling: otherwise it is a sentence about the tool.
fn is_addressed(spec: &ToolSpec, text: &str) -> bool {
    let is_one_line = !text.contains('\n');
    let after = |mark: &str| {
        let rest = text.strip_prefix(mark)?;
        rest.strip_prefix(spec.name.as_str())
    };
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_labelled = is_one_line && after("").is_some_and(|rest| rest.starts_with(": "));
    let is_marked = ["/", "@"]
        .iter()
        .any(|mark| is_one_line && after(mark).is_some_and(is_end));
    let is_tag = after("<").is_some_and(|rest| rest.starts_with(['>', ' ', '/']));
    let names = [
        format!("<tool name=\"{}\"", spec.name),
        format!("<function name=\"{}\"", spec.name),
    ];
    is_labelled || is_marked || is_tag || names.iter().any(|name| text.starts_with(name))
}

pub(super) fn without_fence(text: &str) -> &str {
    let Some(inside) = text.strip_prefix("```") else {
        return text;
    };
    let inside = inside.trim_start_matches(char::is_alphanumeric);
    inside.strip_suffix("```").unwrap_or(inside).trim()
}

/// Whether a text starts an object and doesn't complete it.
fn is_broken_object(text: &str) -> bool {
    let inside = text.trim_start_matches('`').trim_start();
    let inside = inside.strip_prefix("json").unwrap_or(inside).trim_start();
    let inside = inside.trim_end_matches('`').trim_end();
    inside.starts_with('{') && serde_json::from_str::<serde_json::Value>(inside).is_err()
}

/// Whether a line is a labelled action: beside a thought, an input, or the name of a tool. Minutes of a
/// meeting have actions, too.
fn has_labelled_action(tooling: &Tooling, lower: &str) -> bool {
    let lines = || lower.lines().map(without_marks);
    let has = |label: &str| lines().any(|line| line.starts_with(label));
    if has("action input:") {
        return true;
    }
    let has_thought = has("thought:");
    let is_alone = lines().count() == 1;
    lines().any(|line| {
        let action = line.strip_prefix("action:");
        action.is_some_and(|action| has_thought || is_for_tool(tooling, action, is_alone))
    })
}

/// Whether an action begins with the name of a tool, and with nothing that makes a sentence of it.
fn is_for_tool(tooling: &Tooling, action: &str, is_alone: bool) -> bool {
    let action = action.trim_start_matches(['*', ' ', '`']);
    tooling.specs.iter().any(|spec| {
        let after = action.strip_prefix(spec.name.to_lowercase().as_str());
        after.is_some_and(|after| {
            let after = after.trim_start_matches(['`', '*']);
            after.trim().is_empty()
                || after.starts_with(['(', '[', '{', ':', ','])
                || (is_alone && after.starts_with(' '))
        })
    })
}

/// Whether a line is a call of a tool as code.
fn has_call_line(tooling: &Tooling, lower: &str) -> bool {
    lower.lines().any(|line| {
        let line = without_marks(line);
        // `result = tool(…)` and `print(tool(…))` are calls as well.
        let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let line = match line.split_once('=') {
            Some((name, value)) if is_name(name.trim()) => value.trim_start(),
            _ => line,
        };
        let line = line.strip_prefix("print(").unwrap_or(line);
        let line = line.strip_prefix("default_api.").unwrap_or(line);
        let line = line.strip_prefix("functions.").unwrap_or(line);
        tooling.specs.iter().any(|spec| {
            let after = line.strip_prefix(spec.name.to_lowercase().as_str());
            let args = after.and_then(|after| after.strip_prefix('('));
            args.is_some_and(|args| !is_description(spec, args))
        })
    })
}

fn without_marks(line: &str) -> &str {
    line.trim_start_matches(['*', '#', '>', ' ', '`', '[', '-', '@', '/'])
}

/// Whether what follows `tool(` says what the tool is: `expression): evaluates it`.
fn is_description(spec: &ToolSpec, after: &str) -> bool {
    let Some((args, rest)) = after.split_once(')') else {
        return false;
    };
    let rest = rest.trim_start_matches(['`', '*']);
    let parameters = spec.parameters.get("properties").and_then(Value::as_object);
    let is_parameter = |arg: &str| {
        let name = arg.split(':').next().unwrap_or_default().trim();
        let mut known = parameters.into_iter().flat_map(Values::keys);
        known.any(|known| known.eq_ignore_ascii_case(name))
    };
    let is_signature = !rest.trim().is_empty() && args.split(',').all(is_parameter);
    let is_told = [":", " -", " –", " —"]
        .iter()
        .any(|mark| rest.starts_with(mark));
    is_signature || (is_told && rest.contains(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::adapter::Completion;
    use crate::signature::Signature;
    use crate::tool::ToolSpec;

    fn tooling() -> Tooling {
        let declared: Signature = "question -> answer".parse().unwrap();
        let spec = ToolSpec::new("calculator", "Calculates.", json!({"type": "object"}));
        Tooling::new(declared, vec![spec], Completion::Submit)
    }

    #[test]
    fn announcements_are_no_answers() {
        for text in [
            "I will now use the calculator to compute 2+3.",
            "To answer this, I need to find the population of Paris first.",
            "Let me check that.",
            "The question asks for 17% of 2340. Let's use the calculator:",
            "First, I'll search for it…",
            "I should call `calculator` with 2+3",
        ] {
            assert_eq!(read(&tooling(), text), Talk::Announcement, "{text}");
        }
    }

    #[test]
    fn calls_that_could_not_be_read_are_no_answers() {
        for text in [
            "<tool_response>\n{\"result\": 5}\n</tool_response>",
            "Thought: I add.\nAction: calculator\nAction Input:",
            "[calculator(expression=",
            "```tool_code\nprint(foo)\n```",
            "calculator(2+3) gives",
            "{",
            "```json\n{\"name\": \"calc",
        ] {
            assert_eq!(read(&tooling(), text), Talk::Call, "{text}");
        }
    }

    #[test]
    fn answers_are_answers() {
        for text in [
            "5",
            "Paris",
            "The result is 397.8.",
            "I used the calculator: 2+3 is 5.",
            "I will not be able to answer. There are no data for 2031.",
            "You should use the stairs.",
            "He said: \"I will call you tomorrow.\" That was in 1999.",
            "No.",
            "Dear Ann, thank you for your letter. See you soon. Yours, Bo",
            "I'll be happy to help if there is anything else!",
            "",
        ] {
            assert_eq!(read(&tooling(), text), Talk::Answer, "{text}");
        }
    }
}
