//! Validates calls before they run: does the tool exist, and are the arguments valid?

use serde_json::Value;

use super::program::Program;
use crate::adapter::describe::quoted;
use crate::adapter::forms::{self, Apart};
use crate::adapter::outputs::checked;
use crate::adapter::{ReadCall, Repair, RepairKind, UnreadableArgs, names};
use crate::run::{Call, StepCall};
use crate::signature::{Validator, Values, did_you_mean};
use crate::tool::{Confirmation, ToolSpec};

/// The maximum number of names to list for an unknown one.
const MAX_NAMES: usize = 5;
/// How much of a schema to show.
const MAX_SCHEMA: usize = 600;

/// A call of a user's tool, ready to run or rejected with an explanation for the model.
pub(super) fn tool_call(
    program: &Program,
    id: String,
    read: ReadCall,
    repairs: &mut Vec<Repair>,
) -> StepCall {
    let (mut call, problem) = as_read(id, read);
    let known = names::meant(&call.name, program.tool_specs().map(|spec| &*spec.name));
    let Some((spec, validator)) = known.and_then(|known| program.tool(known)) else {
        let refusal = unknown_tool(program, &call.name);
        return StepCall::refused(call, refusal);
    };
    if spec.name != call.name {
        let detail = format!("`{}` → `{}`", call.name, spec.name);
        repairs.push(Repair::new(RepairKind::Name, detail));
        call.name.clone_from(&spec.name);
    }
    let args = std::mem::take(&mut call.args);
    let checked = match problem {
        Some(problem) => Err((problem, args)),
        None => fitting(validator, args),
    };
    match checked {
        Ok((args, coerced)) => {
            repairs.extend(Repair::coercions(coerced));
            call.args = args;
            StepCall {
                // A rule that looks at the arguments is asked for what it says: see `ReadReply`.
                confirm: spec.confirmation == Confirmation::Always,
                ..StepCall::new(call)
            }
        }
        Err((problems, args)) => {
            let refusal = format!(
                "Invalid arguments for `{}`: {problems}. Expected a JSON object that fits {}",
                spec.name,
                schema_excerpt(spec)
            );
            call.args = args;
            StepCall::refused(call, refusal)
        }
    }
}

/// A call as the model wrote it, and the problem with its arguments if they could not be parsed.
pub(super) fn as_read(id: String, read: ReadCall) -> (Call, Option<String>) {
    let name = read.name;
    let (args, raw, problem) = match read.args {
        Ok(args) => (args, None, None),
        Err(UnreadableArgs { raw, problem }) => (Values::new(), Some(raw), Some(problem)),
    };
    let call = Call {
        id,
        name,
        args,
        raw,
    };
    (call, problem)
}

/// A call with which a person replaced another: validated as usual, reporting all problems.
pub(super) fn edit(
    program: &Program,
    name: &str,
    args: Values,
) -> Result<(String, Values), String> {
    let Some((_, validator)) = program.tool(name) else {
        return Err(unknown_tool(program, name));
    };
    match fitting(validator, args) {
        Ok((args, _)) => Ok((name.to_owned(), args)),
        Err((problems, _)) => Err(problems),
    }
}

/// Why a call that was validated for an earlier version of its tool can't run unchanged. A call that
/// would need changes is a different call.
pub(super) fn misfit(program: &Program, call: &Call) -> Option<String> {
    let Some((spec, validator)) = program.tool(&call.name) else {
        return Some("it is not available any more".to_owned());
    };
    let problems = match fitting(validator, call.args.clone()) {
        Ok((args, _)) if args == call.args => return None,
        Ok((_, coerced)) => coerced.join(", "),
        Err((problems, _)) => problems,
    };
    Some(format!(
        "the arguments do not fit any more: {problems}. Expected a JSON object that fits {}",
        schema_excerpt(spec)
    ))
}

/// The same check for code that only knows the specs of the tools.
pub fn check_call(
    specs: &[ToolSpec],
    name: &str,
    args: Values,
) -> Result<(String, Values), String> {
    let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
        return Err(unknown_name(specs.iter(), None, name));
    };
    let validator =
        Validator::of_arguments(spec.parameters.clone()).map_err(|error| error.to_string())?;
    match fitting(&validator, args) {
        Ok((args, _)) => Ok((name.to_owned(), args)),
        Err((problems, _)) => Err(problems),
    }
}

/// The problem with arguments, and the arguments.
type Misfit = (String, Values);

fn fitting(validator: &Validator, args: Values) -> Result<(Values, Vec<String>), Misfit> {
    let values = |value| match value {
        Value::Object(values) => values,
        _ => Values::new(),
    };
    match validator.check_keeping(Value::Object(args)) {
        Ok(checked) => Ok((values(checked.value), checked.coerced)),
        Err((problems, written)) => Err((problems.to_string(), values(written))),
    }
}

/// The declared outputs in a model's submission: coerced, validated, in declared order, with optional
/// ones added. Additional fields are no reason to reject them.
pub(super) fn outputs(
    program: &Program,
    values: Values,
    repairs: &mut Vec<Repair>,
) -> Result<Apart, String> {
    let fields = program.declared.outputs();
    let Apart { values, thought } = forms::set_apart(fields, values, repairs);
    let values = checked(fields, &program.outputs, values, repairs)?;
    Ok(Apart { values, thought })
}

fn unknown_tool(program: &Program, name: &str) -> String {
    let done = program.completion.tool_name();
    unknown_name(program.tool_specs(), Some(done), name)
}

/// The message for an unknown name; `done` is the tool that ends the task.
fn unknown_name<'a>(
    specs: impl Iterator<Item = &'a ToolSpec>,
    done: Option<&'a str>,
    name: &str,
) -> String {
    let shown: String = name.chars().take(64).collect();
    let names: Vec<&str> = specs.map(|spec| spec.name.as_str()).collect();
    let near = did_you_mean(&shown, names.iter().copied());
    if !near.is_empty() {
        let near = quoted(near.into_iter().take(MAX_NAMES));
        let end = done.map(|done| format!(" To end the task call `{done}`."));
        return format!(
            "Unknown tool `{shown}`. Did you mean {near}?{}",
            end.unwrap_or_default()
        );
    }
    let rest = match names.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let known = quoted(names.into_iter().chain(done).take(MAX_NAMES));
    format!("Unknown tool `{shown}`. There is {known}{rest}.")
}

fn schema_excerpt(spec: &ToolSpec) -> String {
    let schema = spec.parameters.to_string();
    match schema.char_indices().nth(MAX_SCHEMA) {
        Some((end, _)) => format!("{}…", &schema[..end]),
        None => schema,
    }
}
