//! The outputs of a reply after the loop, in whatever form it has them.

use super::check;
use super::read::{invalid_outputs, talk_of};
use super::state::RunState;
use crate::adapter::forms::{self, Found};
use crate::adapter::talk::Talk;
use crate::adapter::{Adapter, Completion, Read, Repair, RepairKind, Task, beside};
use crate::model::{FinishReason, Reply};
use crate::run::PredictorName;
use crate::signature::Values;

/// The declared outputs of a reply: submitted by a call, written in any form, or the whole of it. A
/// thought beside them stands for their `reasoning`. Where there is nothing but reasoning, that may
/// hold them, but is not taken whole.
pub(super) fn submitted(
    state: &RunState,
    predictor: PredictorName,
    reply: &Reply,
) -> Result<Read<Values>, String> {
    let adapter = state.wording.adapter(predictor);
    let reasoned = beside::reasoned(reply);
    let held = match &reasoned {
        Some(reasoned) => held(state, adapter, reasoned, forms::find_structured),
        None => held(state, adapter, reply, forms::find),
    };
    let problem = match held.outputs {
        Ok(read) => return Ok(read),
        Err(problem) => problem,
    };
    let may_be_whole = reasoned.is_none()
        && !held.is_call
        && !beside::is_silent(reply)
        && reply.finish != FinishReason::Length;
    let said = held.said.trim();
    match state.program.declared.outputs() {
        [only]
            if only.ty.is_str()
                && may_be_whole
                && !said.is_empty()
                && talk_of(state, said) == Talk::Answer =>
        {
            let detail = format!("the whole reply was taken for `{}`", only.name);
            Ok(Read {
                value: Values::from_iter([(only.name.clone(), said.into())]),
                repairs: vec![Repair::new(RepairKind::Structure, detail)],
            })
        }
        _ => Err(problem),
    }
}

/// What a reply holds.
struct Held {
    /// The outputs, or why there are none.
    outputs: Result<Read<Values>, String>,
    /// What it says beside calls.
    said: String,
    is_call: bool,
}

/// Looks for outputs: in a call, in the form that was asked for, and in any other one.
fn held(
    state: &RunState,
    adapter: &dyn Adapter,
    reply: &Reply,
    find: fn(&Task, &str, &Reply) -> Option<Found>,
) -> Held {
    let program = &state.program;
    let step = program.step.as_ref();
    let read = step.and_then(|step| beside::step(adapter, step.task(), reply).ok());
    let mut problem = format!("The reply does not hold {}.", state.output_names());
    let (mut said, mut is_call) = (String::new(), false);
    if let Some(read) = read {
        said = read.value.thought;
        is_call = !read.value.calls.is_empty();
        for call in read.value.calls {
            let is_completing = call.name == program.completion.tool_name();
            // `finish()` hands in nothing.
            let args = call.args.ok();
            let args =
                args.filter(|args| !args.is_empty() || program.completion == Completion::Submit);
            let (true, Some(args)) = (is_completing, args) else {
                continue;
            };
            let mut repairs = read.repairs.clone();
            match check::outputs(program, args, &mut repairs) {
                Ok(given) => {
                    let thought = match said.trim() {
                        "" => given.thought.unwrap_or_default(),
                        said => said.to_owned(),
                    };
                    let value = given.values;
                    return Held {
                        outputs: Ok(Read { value, repairs }.with_reasoning(&thought)),
                        said,
                        is_call,
                    };
                }
                Err(problems) => problem = invalid_outputs(program, &problems),
            }
        }
    }
    let asked = program.extract.task();
    let has_helper = asked.signature.outputs().len() > program.declared.outputs().len();
    let as_asked = match has_helper {
        true => adapter.parse_outputs(asked, reply).ok(),
        false => None,
    };
    let outputs = as_asked.ok_or(problem).or_else(|problem| {
        match find(&program.answer, adapter.name(), reply) {
            Some(Found::Outputs(read)) => Ok(read),
            Some(Found::Invalid(problems)) => Err(invalid_outputs(program, &problems)),
            None => Err(problem),
        }
    });
    Held {
        outputs,
        said,
        is_call,
    }
}

impl Read<Values> {
    /// The same with a thought that stood beside the outputs.
    fn with_reasoning(mut self, thought: &str) -> Self {
        let thought = thought.trim();
        if !thought.is_empty() && !self.value.contains_key("reasoning") {
            self.value.insert("reasoning".to_owned(), thought.into());
        }
        self
    }
}
