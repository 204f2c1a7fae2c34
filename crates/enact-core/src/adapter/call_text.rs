//! Tool calls that a model wrote as text, in the tags of its training or as JSON.

use serde_json::Value;

use super::json_text::{self, NoJson};
use super::outputs::cut_off;
use super::sections::{ARGS, THOUGHT, TOOL};
use super::task::{Task, Tooling};
use super::{
    Misread, Read, ReadCall, Repair, RepairKind, StepReply, calls, chat, foreign, tagged, thinking,
    xml,
};
use crate::model::{FinishReason, Reply};
use crate::signature::Values;

/// How much text is searched for other forms than the requested one.
pub(super) const LOOKED_THROUGH: usize = 64 * 1024;
/// The maximum number of calls in a text.
const CALLS: usize = 32;

/// Finds calls in a text: `<tool_call>{…}</tool_call>`, `<function=name>{…}</function>`, an object
/// with name and arguments whose name is a tool's, `tool(argument="value")` as code, or `Action:`
/// behind a thought.
pub(super) fn find(
    task: &Task,
    tooling: &Tooling,
    text: &str,
    finish: FinishReason,
) -> Result<Option<Read<StepReply>>, Misread> {
    if let Some(read) = unlike_json(task, tooling, text, finish) {
        return read.map(Some);
    }
    match calls::step_in_text(task, text, finish) {
        Ok(Some(found)) => Ok(Some(found.read).filter(|read| are_known(tooling, read))),
        Err(NoJson::CutOff) => Err(cut_off()),
        _ => Ok(None),
    }
}

/// Whether all parsed calls are calls of tools.
fn are_known(tooling: &Tooling, read: &Read<StepReply>) -> bool {
    let mut calls = read.value.calls.iter();
    calls.all(|call| calls::is_known(tooling, &call.name))
}

/// Calls in tags, as code, or after labels; `None` if there are none.
fn unlike_json(
    task: &Task,
    tooling: &Tooling,
    text: &str,
    finish: FinishReason,
) -> Option<Result<Read<StepReply>, Misread>> {
    let is_cut = finish == FinishReason::Length;
    let is_made = |read: &Read<StepReply>| is_made(tooling, &read.value, &read.value.thought, text);
    // An incomplete call must not be treated as a complete one.
    if !is_cut && let Some(read) = foreign::find(tooling, text) {
        return is_made(&read).then_some(Ok(read));
    }
    let tagged = tagged(tooling, text, is_cut);
    if is_cut || tagged.is_some() {
        return tagged.filter(|read| read.as_ref().map_or(true, is_made));
    }
    let bare = foreign::without_tokens(text);
    let text = bare.as_deref().unwrap_or(text);
    let found = sections(tooling, text, finish)
        .or_else(|| code(tooling, text).filter(is_made))
        .or_else(|| labelled(task, tooling, text));
    found.map(Ok)
}

/// Whether the calls in a text are made there, not quoted: no quotation mark precedes them, and no
/// sentence follows them. Outputs count anywhere.
///
/// Text that a model repeats from a page or a file may look like a call, and must not become one.
pub(super) fn is_made(tooling: &Tooling, step: &StepReply, before: &str, text: &str) -> bool {
    const QUOTES: [char; 9] = ['"', '\'', '`', '“', '”', '„', '‘', '«', '»'];
    const ENDS: [char; 5] = ['>', '}', ')', ']', '`'];
    let ends = tooling.completion.tool_name();
    if step.calls.iter().all(|call| call.name == ends) {
        return true;
    }
    let before = before.trim_end();
    if before.ends_with(QUOTES) && !before.ends_with("```") {
        return false;
    }
    let is_remark = |line: &&str| is_remark(line);
    let last = text.lines().rev().find(|line| !is_remark(line));
    last.is_some_and(|line| line.trim_end().ends_with(ENDS))
}

/// A step in the form of another adapter, with known tools.
fn sections(tooling: &Tooling, text: &str, finish: FinishReason) -> Option<Read<StepReply>> {
    let marked = chat::scan(text);
    let sections = match marked.has_any([TOOL].into_iter()) {
        true => marked,
        false => xml::scan(text, &[THOUGHT, TOOL, ARGS]),
    };
    if !sections.has_any([TOOL].into_iter()) {
        return None;
    }
    let read = sections.step(tooling, finish).ok()?;
    (are_known(tooling, &read) && !read.value.calls.is_empty()).then_some(read)
}

/// The description of a call in another form.
pub(super) const OTHER_FORM: &str = "the call was not in the form that was asked for";

/// A step in another form than the requested one, other than JSON, if its calls can be
/// read.
pub(super) fn other_form(task: &Task, reply: &Reply) -> Option<Read<StepReply>> {
    let text = thinking::spoken(&reply.text).text.trim();
    if text.len() > LOOKED_THROUGH {
        return None;
    }
    let read = unlike_json(task, task.tooling.as_ref()?, text, reply.finish)?;
    Some(read.ok()?.mended(RepairKind::Structure, OTHER_FORM))
}

/// Whether a text calls a tool, not as JSON: an object in it is then what the tool is given.
pub(super) fn calls_tool(task: &Task, tooling: &Tooling, text: &str, finish: FinishReason) -> bool {
    let text = thinking::spoken(text).text.trim();
    if text.len() > LOOKED_THROUGH {
        return false;
    }
    let done = tooling.completion.tool_name();
    let read = unlike_json(task, tooling, text, finish).and_then(Result::ok);
    read.is_some_and(|read| read.value.calls.iter().any(|call| call.name != done))
}

/// Calls as code: a fenced block, a list in brackets or plain lines, and nothing else in them.
fn code(tooling: &Tooling, text: &str) -> Option<Read<StepReply>> {
    let (thought, block) = match fenced(text) {
        Some((before, block)) => (before, block),
        None => {
            // Text may precede the first line with a call.
            let is_call = |line: &str| expression(tooling, line).is_some();
            let start = text.lines().position(is_call)?;
            let at = text
                .lines()
                .take(start)
                .map(|line| line.len() + 1)
                .sum::<usize>();
            (text.get(..at)?, text.get(at..)?)
        }
    };
    let block = block.trim();
    let inside = block
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let mut rest = inside.unwrap_or(block);
    let mut repairs = Vec::new();
    let mut calls = Vec::new();
    while !rest.trim().is_empty() && calls.len() < CALLS {
        let Some((call, after)) = expression(tooling, rest) else {
            // Code that uses a result is not another call.
            if calls.is_empty() || !rest.lines().all(is_remark) {
                return None;
            }
            break;
        };
        calls.extend(tagged::code_call(tooling, call, &mut repairs)?);
        rest = after.trim_start_matches([',', ';', ' ', '\t', '\n', '\r']);
    }
    let thought = thought.trim().to_owned();
    let value = StepReply { thought, calls };
    (!value.calls.is_empty()).then_some(Read { value, repairs })
}

/// Whether a line of code only prints something or is a comment.
fn is_remark(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line.starts_with("print(")
}

/// The call at the start of a text of code, and the rest.
fn expression<'a>(tooling: &Tooling, text: &'a str) -> Option<(&'a str, &'a str)> {
    let text = text.trim_start();
    let text = text.strip_prefix(['[', '@']).unwrap_or(text).trim_start();
    let text = text.strip_prefix("await ").unwrap_or(text);
    // `result = tool(…)` and `print(tool(…))` are also calls.
    if let Some((name, value)) = text.split_once('=')
        && !name.trim().is_empty()
        && name.trim().chars().all(|c| c.is_alphanumeric() || c == '_')
    {
        return expression(tooling, value);
    }
    if let Some(inside) = text.strip_prefix("print(") {
        let (call, after) = expression(tooling, inside)?;
        return Some((call, after.trim_start().strip_prefix(')')?));
    }
    let end = text.find('(')?;
    if !calls::is_known(tooling, text[..end].trim()) || text[..end].contains(['\n', '"']) {
        return None;
    }
    let close = end + tagged::closing(&text[end..])? + 1;
    Some((&text[..close], &text[close..]))
}

/// The first fenced block whose label says that it is code, and the text before it.
fn fenced(text: &str) -> Option<(&str, &str)> {
    let at = text.find("```")?;
    let (label, rest) = text[at + 3..].split_once('\n')?;
    let is_code = matches!(
        label.trim().to_ascii_lowercase().as_str(),
        "" | "tool_code" | "tool_call" | "tool_calls" | "python" | "py" | "tool" | "tools"
    );
    // A fence in the middle of a line may stand in a quoted text.
    let end = rest.find("\n```").or_else(|| rest.find("```"));
    let block = &rest[..end.unwrap_or(rest.len())];
    is_code.then_some((&text[..at], block))
}

/// A step in the classic form, `Thought:` and `Action:`, with known tools.
fn labelled(task: &Task, tooling: &Tooling, text: &str) -> Option<Read<StepReply>> {
    tagged::labelled_step(task, text).filter(|read| are_known(tooling, read))
}

/// Calls between tags; `None` if there is no such tag.
fn tagged(tooling: &Tooling, text: &str, is_cut: bool) -> Option<Result<Read<StepReply>, Misread>> {
    const OPENINGS: [&str; 2] = ["<tool_call>", "<function="];
    let next = |text: &str| OPENINGS.iter().filter_map(|tag| text.find(tag)).min();
    let first = next(text)?;
    let (mut calls, mut repairs) = (Vec::new(), Vec::new());
    let mut rest = &text[first..];
    while let Some(start) = next(rest).filter(|_| calls.len() < CALLS) {
        rest = &rest[start..];
        let (opening, closing) = match rest.starts_with("<function=") {
            true => ("", "</function>"),
            false => ("<tool_call>", "</tool_call>"),
        };
        let inside = &rest[opening.len()..];
        let (body, after) = match inside.split_once(closing) {
            Some(whole) => whole,
            None if is_cut && !is_whole(inside) => return Some(Err(cut_off())),
            None => (inside, ""),
        };
        let Some(call) = call_between(tooling, body, &mut repairs) else {
            return Some(Err(Misread::new(
                "The tool call in the text is no valid JSON with `name` and `arguments`.",
            )));
        };
        calls.push(call);
        rest = after;
    }
    let thought = text[..first].trim().to_owned();
    let value = StepReply { thought, calls };
    Some(Ok(Read { value, repairs }))
}

fn is_whole(body: &str) -> bool {
    serde_json::from_str::<Values>(body.trim()).is_ok()
}

fn call_between(tooling: &Tooling, body: &str, repairs: &mut Vec<Repair>) -> Option<ReadCall> {
    let body = body.trim();
    if let Some(named) = body.strip_prefix("<function=") {
        let (name, args) = named.split_once('>')?;
        let name = calls::resolve_name(tooling, name.trim_matches(['"', '\'']), repairs);
        let args = args.trim();
        let args = args.strip_suffix("</function>").unwrap_or(args);
        return Some(foreign::call_of(tooling, name, args, repairs));
    }
    let found = json_text::find(body, FinishReason::Stop, Value::is_object).ok()?;
    let mut step = calls::step_of_value(tooling, &found.value, repairs)?;
    repairs.extend(found.repairs);
    step.calls.pop()
}
