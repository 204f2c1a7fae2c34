//! Tool calls that a model wrote into its text, in the tags of its training or as JSON.

use serde_json::Value;

use super::outputs::cut_off;
use super::task::{Task, Tooling};
use super::{Misread, ReadCall, Repair, StepReply, calls, json_text};
use crate::model::FinishReason;
use crate::signature::Values;

/// How many calls one text may hold.
const CALLS: usize = 32;

/// Finds calls in a text: `<tool_call>{…}</tool_call>`, `<function=name>{…}</function>`, or an
/// object with name and arguments whose name is a tool's.
pub(super) fn find(
    task: &Task,
    tooling: &Tooling,
    text: &str,
    finish: FinishReason,
    form: &str,
) -> Result<Option<(StepReply, Vec<Repair>)>, Misread> {
    let mut repairs = Vec::new();
    if let Some(tagged) = tagged(tooling, text, finish, &mut repairs) {
        return match tagged {
            Ok(step) => Ok(Some((step, repairs))),
            Err(Unread::CutOff) => Err(cut_off(form)),
            Err(Unread::Broken) => Err(Misread::new(format!(
                "The tool call in the text is no valid JSON with `name` and `arguments`. {form}"
            ))),
        };
    }
    match calls::step_in_text(task, text, finish) {
        Ok(Some(found))
            if found
                .step
                .calls
                .iter()
                .all(|call| calls::is_known(tooling, &call.name)) =>
        {
            Ok(Some((found.step, found.repairs)))
        }
        Err(json_text::NoJson::CutOff) => Err(cut_off(form)),
        _ => Ok(None),
    }
}

enum Unread {
    CutOff,
    Broken,
}

/// Calls between tags; `None` when there is no such tag.
fn tagged(
    tooling: &Tooling,
    text: &str,
    finish: FinishReason,
    repairs: &mut Vec<Repair>,
) -> Option<Result<StepReply, Unread>> {
    const OPENINGS: [&str; 2] = ["<tool_call>", "<function="];
    let next = |text: &str| OPENINGS.iter().filter_map(|tag| text.find(tag)).min();
    let first = next(text)?;
    let thought = text[..first].trim().to_owned();
    let mut read = Vec::new();
    let mut rest = &text[first..];
    while read.len() < CALLS {
        let Some(start) = next(rest) else { break };
        let (body, after) = match rest[start..].strip_prefix("<tool_call>") {
            Some(body) => match body.split_once("</tool_call>") {
                Some((body, after)) => (body, after),
                None if finish == FinishReason::Length && !is_whole(body) => {
                    return Some(Err(Unread::CutOff));
                }
                None => (body, ""),
            },
            None => match rest[start..].split_once("</function>") {
                Some((body, after)) => (body, after),
                None if finish == FinishReason::Length => return Some(Err(Unread::CutOff)),
                None => (&rest[start..], ""),
            },
        };
        match call_between(tooling, body, repairs) {
            Some(call) => read.push(call),
            None => return Some(Err(Unread::Broken)),
        }
        rest = after;
    }
    Some(Ok(StepReply {
        thought,
        calls: read,
    }))
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
        let args = match parameters(args) {
            Some(args) => Ok(args),
            None => calls::args_of_text(args, repairs),
        };
        return Some(ReadCall {
            id: None,
            name,
            args,
        });
    }
    let found = json_text::find(body, FinishReason::Stop, Value::is_object).ok()?;
    let mut step = calls::step_of_value(tooling, &found.value, repairs)?;
    repairs.extend(found.repairs);
    step.calls.pop()
}

/// Arguments in tags of their own: `<parameter=name>value</parameter>`.
fn parameters(body: &str) -> Option<Values> {
    let mut args = Values::new();
    let mut rest = body.trim();
    while let Some(named) = rest.strip_prefix("<parameter=") {
        let (name, value) = named.split_once('>')?;
        let (value, after) = value.split_once("</parameter>")?;
        let value = value.trim();
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        args.insert(name.trim().to_owned(), value);
        rest = after.trim_start();
    }
    (!args.is_empty() && rest.trim().is_empty()).then_some(args)
}
