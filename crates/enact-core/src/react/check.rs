//! Checks calls before anything runs: does the tool exist, do the arguments fit.

use serde_json::Value;

use super::program::Program;
use crate::adapter::forms::{self, Apart};
use crate::adapter::{ReadCall, Repair, RepairKind, names};
use crate::run::{Call, PlannedCall};
use crate::signature::{Field, Validator, Values, did_you_mean};
use crate::tool::{Confirmation, ToolSpec};

/// How many names an answer to an unknown name may list.
const MAX_NAMES: usize = 5;
/// How much of a schema an answer may show.
const MAX_SCHEMA: usize = 600;

/// A call of a user's tool, ready to run or refused with what the model is told.
pub(super) fn tool_call(
    program: &Program,
    id: String,
    read: ReadCall,
    repairs: &mut Vec<Repair>,
) -> PlannedCall {
    let (name, raw_args) = (read.name, read.args);
    let refused = |name: String, args: Values, raw: Option<String>, refusal: String| {
        let id = id.clone();
        let call = Call {
            id,
            name,
            args,
            raw,
        };
        PlannedCall::refused(call, refusal)
    };
    let known = names::meant(&name, program.tool_specs().map(|spec| spec.name.as_str()));
    let Some(known) = known.map(str::to_owned) else {
        let refusal = unknown_tool(program, &name);
        return match raw_args {
            Ok(args) => refused(name, args, None, refusal),
            Err(unreadable) => refused(name, Values::new(), Some(unreadable.raw), refusal),
        };
    };
    if known != name {
        repairs.push(Repair::new(
            RepairKind::Name,
            format!("`{name}` → `{known}`"),
        ));
    }
    let args = match raw_args {
        Ok(args) => args,
        Err(unreadable) => {
            let refusal = format!(
                "Invalid arguments for `{known}`: {}. Expected a JSON object that fits {}",
                unreadable.problem,
                schema_excerpt(program, &known)
            );
            return refused(known, Values::new(), Some(unreadable.raw), refusal);
        }
    };
    match checked_args(program, &known, args) {
        Ok((args, coerced)) => {
            repairs.extend(
                coerced
                    .into_iter()
                    .map(|what| Repair::new(RepairKind::Coercion, what)),
            );
            // A rule that looks at the arguments is asked for what it says: see `ReadReply`.
            let confirm = program
                .tool(&known)
                .is_some_and(|(spec, _)| spec.confirmation == Confirmation::Always);
            let call = Call {
                id,
                name: known,
                args,
                raw: None,
            };
            PlannedCall {
                confirm,
                ..PlannedCall::new(call)
            }
        }
        Err((problems, args)) => {
            let refusal = format!(
                "Invalid arguments for `{known}`: {problems}. Expected a JSON object that fits {}",
                schema_excerpt(program, &known)
            );
            refused(known, args, None, refusal)
        }
    }
}

/// A call that a person put in place of another: checked like any, with all problems told.
pub(super) fn edit(
    program: &Program,
    name: &str,
    args: Values,
) -> Result<(String, Values), String> {
    if program.tool(name).is_none() {
        return Err(unknown_tool(program, name));
    }
    match checked_args(program, name, args) {
        Ok((args, _)) => Ok((name.to_owned(), args)),
        Err((problems, _)) => Err(problems),
    }
}

/// Why a call that was checked against an earlier state of its tool cannot run as it stands. A call
/// that would have to be changed first is another call.
pub(super) fn misfit(program: &Program, call: &Call) -> Option<String> {
    if program.tool(&call.name).is_none() {
        return Some("it is not available any more".to_owned());
    }
    let problems = match checked_args(program, &call.name, call.args.clone()) {
        Ok((args, _)) if args == call.args => return None,
        Ok((_, coerced)) => coerced.join(", "),
        Err((problems, _)) => problems,
    };
    Some(format!(
        "the arguments do not fit any more: {problems}. Expected a JSON object that fits {}",
        schema_excerpt(program, &call.name)
    ))
}

/// The same for one who knows no more of the tools than their specs.
pub fn check_call(
    specs: &[ToolSpec],
    name: &str,
    args: Values,
) -> Result<(String, Values), String> {
    let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
        return Err(unknown_name(specs.iter(), None, name));
    };
    let validator = Validator::new(spec.parameters.clone()).map_err(|error| error.to_string())?;
    match fitting(&validator, args) {
        Ok((args, _)) => Ok((name.to_owned(), args)),
        Err((problems, _)) => Err(problems),
    }
}

fn checked_args(
    program: &Program,
    name: &str,
    args: Values,
) -> Result<(Values, Vec<String>), Misfit> {
    match program.tool(name) {
        Some((_, validator)) => fitting(validator, args),
        None => Err((unknown_tool(program, name), args)),
    }
}

/// What is wrong with arguments, and the arguments.
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

/// Outputs that a model handed in, and a thought that came with them.
#[derive(Debug)]
pub(super) struct HandedIn {
    pub(super) values: Values,
    pub(super) thought: Option<String>,
}

/// The declared outputs from what the model handed in: coerced, checked, in declared order, with
/// what may be left out filled in. What stands beside them is no reason to refuse them.
pub(super) fn outputs(
    program: &Program,
    values: Values,
    repairs: &mut Vec<Repair>,
) -> Result<HandedIn, String> {
    let Apart { values, thought } = forms::set_apart(program.declared.outputs(), values, repairs);
    let values = fill_optional(program.declared.outputs(), values);
    let checked = program
        .outputs
        .check(Value::Object(values))
        .map_err(|problems| problems.to_string())?;
    repairs.extend(
        checked
            .coerced
            .into_iter()
            .map(|what| Repair::new(RepairKind::Coercion, what)),
    );
    let Value::Object(mut values) = checked.value else {
        return Err("the outputs are not an object".to_owned());
    };
    let mut ordered = Values::new();
    for field in program.declared.outputs() {
        if let Some(value) = values.shift_remove(&field.name) {
            ordered.insert(field.name.clone(), value);
        }
    }
    Ok(HandedIn {
        values: ordered,
        thought,
    })
}

fn fill_optional(fields: &[Field], mut values: Values) -> Values {
    for field in fields
        .iter()
        .filter(|field| field.default.is_some() || field.ty.is_optional())
    {
        let default = || field.default.clone().unwrap_or(Value::Null);
        values.entry(field.name.as_str()).or_insert_with(default);
    }
    values
}

fn unknown_tool(program: &Program, name: &str) -> String {
    let done = program.completion.tool_name();
    unknown_name(program.tool_specs(), Some(done), name)
}

/// What is said of a name that no tool has; `done` is the tool that ends the task.
fn unknown_name<'a>(
    specs: impl Iterator<Item = &'a ToolSpec>,
    done: Option<&'a str>,
    name: &str,
) -> String {
    let shown: String = name.chars().take(64).collect();
    let names: Vec<&str> = specs.map(|spec| spec.name.as_str()).collect();
    let near = did_you_mean(&shown, names.iter().copied());
    let quoted = |names: &mut dyn Iterator<Item = &str>| {
        names
            .take(MAX_NAMES)
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !near.is_empty() {
        let near = quoted(&mut near.into_iter());
        let end = done.map(|done| format!(" To end the task call `{done}`."));
        return format!(
            "Unknown tool `{shown}`. Did you mean {near}?{}",
            end.unwrap_or_default()
        );
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let known = quoted(&mut names.into_iter().chain(done));
    format!("Unknown tool `{shown}`. There is {known}{rest}.")
}

fn schema_excerpt(program: &Program, name: &str) -> String {
    let schema = program
        .tool(name)
        .map(|(spec, _)| spec.parameters.to_string())
        .unwrap_or_default();
    match schema.char_indices().nth(MAX_SCHEMA) {
        Some((end, _)) => format!("{}…", &schema[..end]),
        None => schema,
    }
}
