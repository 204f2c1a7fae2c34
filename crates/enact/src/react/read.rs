//! Reads replies: from what the model said to the event that follows.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::Value;

use super::program::Program;
use super::state::{Acting, RunState};
use super::{check, thoughts};
use crate::adapter::{Completion, ReadCall, Repair, StepReply};
use crate::model::Reply;
use crate::run::{Call, Event, PlannedCall, PredictorName, Standing, StepOutcome, Stepped};
use crate::signature::Values;

const NO_CALLS_LEFT: &str = "This call was not executed: the tools may not be called any more.";

/// The event that follows from a reply to a step.
pub(super) fn step(state: &RunState, reply: Reply, duration: Duration) -> Event {
    let Some(predictor) = &state.program().step else {
        return outputs(state, reply, duration);
    };
    let read = match state
        .wording()
        .adapter(PredictorName::Step)
        .parse_step(predictor.task(), &reply)
    {
        Ok(read) => read,
        Err(misread) => {
            let problem = misread.problem;
            return Event::Misread {
                predictor: PredictorName::Step,
                reply,
                problem,
                duration,
            };
        }
    };
    let StepReply { thought, calls } = read.value;
    // Who says nothing has not answered, however often.
    if calls.is_empty() && thought.trim().is_empty() {
        let problem = format!("Your reply is empty. {}", way_on(state.program()));
        return Event::Misread {
            predictor: PredictorName::Step,
            reply,
            problem,
            duration,
        };
    }
    let done = state.program().completion.tool_name();
    let acts = calls.iter().any(|call| call.name != done);
    if acts && let Some(problem) = thoughts::problem(state, &thought, &calls) {
        return Event::Misread {
            predictor: PredictorName::Step,
            reply,
            problem,
            duration,
        };
    }
    let mut repairs = read.repairs;
    let ids = call_ids(state, &calls);
    let (calls, outcome) = if calls.is_empty() {
        (Vec::new(), without_calls(state, &thought))
    } else {
        decide(state, calls.into_iter().zip(ids).collect(), &mut repairs)
    };
    let thought = (thought != reply.text).then_some(thought);
    Event::Stepped(Box::new(Stepped {
        reply,
        thought,
        calls,
        outcome,
        repairs,
        duration,
    }))
}

/// The provider's ids where they tell the calls apart, else numbers of our own.
fn call_ids(state: &RunState, calls: &[ReadCall]) -> Vec<String> {
    let mut seen = HashSet::new();
    let number = state.step_number();
    calls
        .iter()
        .enumerate()
        .map(|(index, call)| match &call.id {
            Some(id) if !id.is_empty() && seen.insert(id.clone()) => id.clone(),
            _ => format!("call_{number}_{index}"),
        })
        .collect()
}

/// A reply that calls nothing: the answer itself if the signature takes one string, else a
/// reminder, once; then whatever was said has to do.
fn without_calls(state: &RunState, text: &str) -> StepOutcome {
    let program = state.program();
    let adapter = state.wording().adapter(PredictorName::Step);
    let is_guess = state.steps_taken() == 0
        && !adapter.takes_plain_words()
        && program.tool_specs().next().is_some();
    if let [only] = program.declared.outputs()
        && only.ty.is_str()
        && !is_guess
    {
        return StepOutcome::Commit(Values::from_iter([(
            only.name.clone(),
            Value::String(text.trim().to_owned()),
        )]));
    }
    if state.was_nudged() {
        return StepOutcome::Extract;
    }
    StepOutcome::Nudge(format!("You called no tool. {}", way_on(program)))
}

/// How a model that called nothing can go on.
fn way_on(program: &Program) -> String {
    let fields = program.declared.outputs().iter();
    let outputs: Vec<String> = fields.map(|field| format!("`{}`", field.name)).collect();
    let outputs = outputs.join(", ");
    match program.completion {
        Completion::Submit => format!(
            "If the task is done, call `submit` with {outputs}; otherwise call the tool that takes \
             you further."
        ),
        Completion::Finish => format!(
            "If you know enough to give {outputs}, call `finish`; otherwise call the tool that \
             takes you further."
        ),
    }
}

fn decide(
    state: &RunState,
    calls: Vec<(ReadCall, String)>,
    repairs: &mut Vec<Repair>,
) -> (Vec<PlannedCall>, StepOutcome) {
    let completion = state.program().completion;
    let completing = |call: &ReadCall| call.name == completion.tool_name();
    let stands_alone = calls.iter().all(|(call, _)| completing(call));
    let mut planned = Vec::with_capacity(calls.len());
    let mut calls_left = state.calls_left();
    for (call, id) in calls {
        if !completing(&call) {
            let mut call = check::tool_call(state.program(), id, call, repairs);
            call.confirm &= !state.is_tool_allowed(&call.call.name);
            if let (Some(hook), None) = (&state.program().before_call, &call.refusal) {
                call = hook.apply(state.program(), call);
            }
            if call.refusal.is_none() {
                if calls_left == 0 {
                    call.confirm = false;
                    call.refusal = Some(NO_CALLS_LEFT.to_owned());
                }
                calls_left = calls_left.saturating_sub(1);
            }
            planned.push(call);
            continue;
        }
        let (args, raw, problem) = match call.args {
            Ok(args) => (args, None, None),
            Err(unreadable) => (
                Values::new(),
                Some(unreadable.raw),
                Some(unreadable.problem),
            ),
        };
        let result = match (completion, stands_alone, problem) {
            (_, false, _) => Err(format!(
                "`{}` was not carried out: call it alone, after you have seen the results of the \
                 other calls.",
                call.name
            )),
            (Completion::Finish, true, _) => Ok(StepOutcome::Extract),
            (Completion::Submit, true, Some(problem)) => {
                Err(invalid_outputs(state.program(), &problem))
            }
            (Completion::Submit, true, None) => {
                check::outputs(state.program(), args.clone(), repairs)
                    .map(StepOutcome::Commit)
                    .map_err(|problems| invalid_outputs(state.program(), &problems))
            }
        };
        let call = Call {
            id,
            name: call.name,
            args,
            raw,
        };
        match result {
            // The first valid commit wins; what came beside it is not looked at.
            Ok(done) => {
                return (
                    vec![PlannedCall {
                        call,
                        refusal: None,
                        confirm: false,
                    }],
                    done,
                );
            }
            Err(refusal) => planned.push(PlannedCall {
                call,
                refusal: Some(refusal),
                confirm: false,
            }),
        }
    }
    (planned, StepOutcome::Act)
}

/// What the model is told about outputs that do not fit: what is wrong, and what is expected.
fn invalid_outputs(program: &Program, problems: &str) -> String {
    let fields = program.declared.outputs().iter();
    let expected: Vec<String> = fields
        .map(|field| format!("\"{}\": {}", field.name, field.ty))
        .collect();
    format!(
        "Invalid outputs: {problems}. Call `submit` again with the arguments {{{}}}.",
        expected.join(", ")
    )
}

/// The event that follows from a reply with outputs.
pub(super) fn outputs(state: &RunState, reply: Reply, duration: Duration) -> Event {
    let task = state.program().extract.task();
    let adapter = state.wording().adapter(PredictorName::Extract);
    match adapter.parse_outputs(task, &reply) {
        Ok(read) => Event::Extracted {
            reply,
            outputs: read.value,
            repairs: read.repairs,
            duration,
        },
        Err(misread) => Event::Misread {
            predictor: PredictorName::Extract,
            reply,
            problem: misread.problem,
            duration,
        },
    }
}

/// The event that follows from a reply with a summary.
pub(super) fn summary(state: &RunState, reply: Reply, covers: usize, duration: Duration) -> Event {
    match summary_of(state, PredictorName::Summarise, &reply) {
        Some(summary) => Event::Summarised {
            reply,
            summary,
            covers,
            duration,
        },
        None => without_summary(PredictorName::Summarise, reply, duration),
    }
}

/// The event that follows from a reply with the summary of an observation.
pub(super) fn condensed(
    state: &RunState,
    acting: &Acting,
    reply: Reply,
    duration: Duration,
) -> Event {
    let predictor = PredictorName::Condense;
    let summary = summary_of(state, predictor, &reply);
    match (state.condensing(acting), summary) {
        (Some((call, _)), Some(summary)) => Event::Condensed {
            call_id: call.id.clone(),
            reply,
            summary,
            duration,
        },
        _ => without_summary(predictor, reply, duration),
    }
}

fn summary_of(state: &RunState, predictor: PredictorName, reply: &Reply) -> Option<String> {
    let task = state.program().predictor(predictor).task();
    let read = state
        .wording()
        .adapter(predictor)
        .parse_outputs(task, reply);
    match read.ok()?.value.get("summary") {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    }
}

fn without_summary(predictor: PredictorName, reply: Reply, duration: Duration) -> Event {
    Event::Misread {
        predictor,
        reply,
        problem: "the reply holds no summary".to_owned(),
        duration,
    }
}

/// The event that follows from a reply that says how the task stands.
pub(super) fn judgement(state: &RunState, reply: Reply, duration: Duration) -> Event {
    let predictor = PredictorName::Judge;
    let task = state.program().judge.task();
    let read = state
        .wording()
        .adapter(predictor)
        .parse_outputs(task, &reply);
    let values = read.map(|read| read.value).unwrap_or_default();
    let word = |name: &str| values.get(name).and_then(Value::as_str);
    let standing = Standing::ALL.into_iter();
    match standing
        .into_iter()
        .find(|standing| word("standing") == Some(standing.as_str()))
    {
        Some(standing) => Event::Judged {
            reply,
            standing,
            why: word("why").unwrap_or_default().to_owned(),
            duration,
        },
        None => Event::Misread {
            predictor,
            reply,
            problem: "the reply does not say how the task stands".to_owned(),
            duration,
        },
    }
}
