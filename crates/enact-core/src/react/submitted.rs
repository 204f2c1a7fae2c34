//! The outputs in a reply after the loop, in any form.

use super::check;
use super::read::{invalid_outputs, is_answer};
use super::state::RunState;
use crate::adapter::forms::{self, Apart, Found};
use crate::adapter::{Completion, Read, RepairKind, StepReply, beside};
use crate::model::{FinishReason, Reply};
use crate::run::PredictorName;
use crate::signature::Values;

/// The declared outputs of a reply: submitted by a call, written in the requested form or any other, or
/// the whole reply. A thought beside them becomes their `reasoning`. If there is only reasoning, it may
/// contain them, but is not used as a whole.
pub(super) fn submitted(
    state: &RunState,
    predictor: PredictorName,
    reply: &Reply,
) -> Result<Read<Values>, String> {
    let program = &state.program;
    let adapter = state.wording.adapter(predictor);
    let reasoned = beside::reasoned(reply);
    let reply = reasoned.as_ref().unwrap_or(reply);
    let step = program.step.as_ref();
    let read = step.and_then(|step| beside::step(adapter, step.task(), reply).ok());
    let Read { value, repairs } = read.unwrap_or_else(|| Read::exact(StepReply::default()));
    let said = value.thought.trim();
    let is_call = !value.calls.is_empty();
    // What a tool is to be given is no output, even where the names are the same.
    let calls_tool = value
        .calls
        .iter()
        .any(|call| program.tool(&call.name).is_some());
    let beside = (calls_tool && reply.calls.is_empty()).then(|| Reply {
        text: said.to_owned(),
        ..reply.clone()
    });
    let reply = beside.as_ref().unwrap_or(reply);
    let mut problem = format!("The reply does not hold {}.", state.output_names());
    for call in value.calls {
        let is_completing = call.name == program.completion.tool_name();
        // `finish()` submits nothing.
        let is_given = |args: &Values| !args.is_empty() || program.completion == Completion::Submit;
        let (true, Some(args)) = (is_completing, call.args.ok().filter(is_given)) else {
            continue;
        };
        let mut repairs = repairs.clone();
        match check::outputs(program, args, &mut repairs) {
            Ok(Apart { values, thought }) => {
                let thought = thought.filter(|_| said.is_empty());
                let value = with_reasoning(values, thought.as_deref().unwrap_or(said));
                return Ok(Read { value, repairs });
            }
            Err(problems) => problem = invalid_outputs(program, &problems),
        }
    }
    let asked = program.extract.task();
    let has_helper = asked.signature.outputs().len() > program.declared.outputs().len();
    if has_helper && let Ok(read) = adapter.parse_outputs(asked, reply) {
        return Ok(read);
    }
    let found = match reasoned {
        Some(_) => forms::find_structured(&program.answer, adapter.name(), reply),
        None => forms::find(&program.answer, adapter.name(), reply),
    };
    match found {
        Some(Found::Outputs(read)) => return Ok(read),
        Some(Found::Invalid(problems)) => problem = invalid_outputs(program, &problems),
        None => {}
    }
    let may_be_whole = reasoned.is_none()
        && !is_call
        && !beside::is_silent(reply)
        && reply.finish != FinishReason::Length
        && !said.is_empty();
    match program.declared.outputs() {
        [only] if only.ty.is_str() && may_be_whole && is_answer(state, said) => {
            let value = Values::from_iter([(only.name.clone(), said.into())]);
            let detail = format!("the whole reply was taken for `{}`", only.name);
            Ok(Read::exact(value).mended(RepairKind::Structure, detail))
        }
        _ => Err(problem),
    }
}

/// The outputs with a thought beside them.
fn with_reasoning(mut outputs: Values, thought: &str) -> Values {
    let thought = thought.trim();
    if !thought.is_empty() && !outputs.contains_key("reasoning") {
        outputs.insert("reasoning".to_owned(), thought.into());
    }
    outputs
}
