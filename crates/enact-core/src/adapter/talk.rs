//! Classifies replies without a call: an answer, the announcement of a call, or a malformed
//! call.

use serde_json::Value;

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

/// Phrases that announce an intention, separated by commas.
const INTENTIONS: &str = "\
    i will, i'll, i’ll, i shall, i am going to, i'm going to, i’m going to, i need to, \
    i should, i have to, i can use, i would, let me, let's, let’s, we will, we need to, \
    we should, we can use, next step is to";

/// Verbs for using a tool, separated by commas.
const DEEDS: &str = "\
    use, using, call, calling, invoke, run, execute, search, look, find, calculate, \
    compute, check, fetch, query, read, open, get, retrieve, determine, gather, start, \
    proceed, try, submit, convert";

/// Distinguishes an answer from the announcement of a call. In doubt it is an answer: the last sentence
/// of an announcement has an intention and either a tool or a verb for using one.
pub(crate) fn read(tooling: &Tooling, text: &str) -> Talk {
    let text = thinking::spoken(text).text.trim();
    let lower = text.to_lowercase();
    let has_mark = MARKS.split(", ").any(|mark| lower.contains(mark));
    if has_mark
        || is_call_line(tooling, &lower)
        || is_broken_object(text)
        || is_nothing_but_a_call(tooling, text)
    {
        return Talk::Call;
    }
    let last = last_sentence(&lower);
    let intentions = INTENTIONS.split(", ");
    let Some(intends) = intentions.filter_map(|words| find_words(last, words)).min() else {
        return Talk::Answer;
    };
    let rest = &last[intends..];
    let names_tool = tooling
        .specs
        .iter()
        .any(|spec| find_words(last, &spec.name.to_lowercase()).is_some());
    let does = DEEDS
        .split(", ")
        .any(|deed| find_words(rest, deed).is_some());
    if names_tool || does {
        Talk::Announcement
    } else {
        Talk::Answer
    }
}

/// Whether the whole text can only be meant for a tool: a value without content, a call of an unknown
/// tool, or text that addresses a known one.
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

/// Whether a line is a labelled action, or a call as code.
fn is_call_line(tooling: &Tooling, lower: &str) -> bool {
    lower.lines().any(|line| {
        let line = line.trim_start_matches(['*', '#', '>', ' ', '`', '[', '-', '@', '/']);
        // `result = tool(…)` and `print(tool(…))` are also calls.
        let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let line = match line.split_once('=') {
            Some((name, value)) if is_name(name.trim()) => value.trim_start(),
            _ => line,
        };
        let line = line.strip_prefix("print(").unwrap_or(line);
        let line = line.strip_prefix("default_api.").unwrap_or(line);
        let line = line.strip_prefix("functions.").unwrap_or(line);
        let is_action = line.starts_with("action:") || line.starts_with("action input:");
        is_action
            || tooling.specs.iter().any(|spec| {
                let name = spec.name.to_lowercase();
                let after = line.strip_prefix(name.as_str());
                after.is_some_and(|after| after.starts_with('('))
            })
    })
}

/// The last sentence with content.
fn last_sentence(text: &str) -> &str {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '\n' | ':' | '…');
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        // A dot inside a number or a name ends no sentence; a closing quote may follow one.
        let rest = text[next..].trim_start_matches(['"', '\'', '”', '’', ')', ']', '*']);
        let is_end = rest.chars().next().is_none_or(char::is_whitespace);
        if ends(c) && is_end {
            sentences.push(&text[start..at]);
            start = next;
        }
    }
    sentences.push(&text[start..]);
    let says = |sentence: &&str| sentence.chars().any(char::is_alphabetic);
    sentences.into_iter().rev().find(says).unwrap_or_default()
}

/// The positions of a phrase in a text, as whole words.
fn find_words(text: &str, words: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(words).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
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
