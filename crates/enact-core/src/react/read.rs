//! Reads replies: from a model's reply to the resulting event.

use std::time::Duration;

use serde_json::Value;

use super::program::Program;
use super::progress::says_again;
use super::state::{Phase, RunState};
use super::submitted::submitted;
use super::verdict::{CallCheck, Verdict};
use super::{check, thoughts};
use crate::adapter::beside;
use crate::adapter::forms::{self, Found};
use crate::adapter::talk::{self, Talk};
use crate::adapter::{Completion, Misread, Read, ReadCall, Repair, StepReply};
use crate::model::{ModelError, RawCall, Reply};
use crate::run::{
    Call, Event, PredictorName, Reading, Replied, Standing, StepCall, StepOutcome, Stepped,
};
use crate::signature::Values;

const NO_CALLS_LEFT: &str = "This call was not executed: the tools may not be called any more.";
const NO_SUMMARY: &str = "the reply holds no summary";

/// A reply that has been read. Rules and custom checks can still judge its calls before it is
/// logged.
#[derive(Debug)]
#[must_use]
pub struct ReadReply {
    read: Result<Box<Replied>, Event>,
    /// The calls that need a verdict.
    unchecked: Vec<usize>,
    /// The outputs that need a verdict, as the call that submits them.
    outputs: Option<Call>,
}

impl ReadReply {
    /// The calls that rules and checks judge, in order. Outputs are one of them, in whichever
    /// way they were returned.
    pub fn unchecked(&self) -> Vec<&Call> {
        let calls = match &self.read {
            Ok(replied) => replied.stepped().map_or(&[][..], |stepped| &stepped.calls),
            Err(_) => &[],
        };
        let unchecked = self.unchecked.iter();
        unchecked
            .filter_map(|index| Some(&*calls.get(*index)?.call))
            .chain(&self.outputs)
            .collect()
    }

    /// The resulting event, with verdicts on the [unchecked](Self::unchecked) calls. Without a verdict, a
    /// person is asked about a call if its tool asks about some.
    pub fn event(self, state: &RunState, said: impl IntoIterator<Item = CallCheck>) -> Event {
        let mut replied = match self.read {
            Ok(replied) => *replied,
            Err(event) => return event,
        };
        let mut said = said.into_iter();
        let mut is_mended = !replied.repairs.is_empty();
        if self.outputs.is_some() {
            let verdict = said.next().unwrap_or_default().verdict;
            is_mended |= matches!(verdict, Verdict::Change(_));
            state.program.checked_outputs(&mut replied, verdict);
        }
        if let Reading::Step(stepped) = &mut replied.read {
            for index in self.unchecked {
                let said = said.next().unwrap_or_default();
                is_mended |= matches!(said.verdict, Verdict::Change(_));
                if let Some(planned) = stepped.calls.get_mut(index) {
                    let is_allowed = state.is_tool_allowed(&planned.call.name);
                    state.program.checked(planned, said, is_allowed);
                }
            }
            if stepped.outcome == StepOutcome::Act {
                ration(state, &mut stepped.calls);
            }
            is_mended |= stepped.calls.iter().any(|call| call.refusal.is_some());
            // If calls were left out, the reply keeps them all.
            if replied.reply.calls.len() == stepped.calls.len() {
                let written = std::mem::take(&mut replied.reply.calls);
                // Without repairs, what was read is what was written.
                if is_mended {
                    note_written(&mut stepped.calls, written);
                }
            }
        }
        Event::replied(replied)
    }
}

/// Refuses the calls that are more than may still be made.
fn ration(state: &RunState, calls: &mut [StepCall]) {
    let mut left = state.budget.calls_left();
    for call in calls.iter_mut().filter(|call| call.refusal.is_none()) {
        if left == 0 {
            call.confirm = false;
            call.refusal = Some(NO_CALLS_LEFT.to_owned());
        }
        left = left.saturating_sub(1);
    }
}

impl RunState {
    /// Reads a model's answer to the request of [`RunState::decide`], which this predictor made.
    pub fn read(
        &self,
        predictor: PredictorName,
        outcome: Result<Reply, &ModelError>,
        duration: Duration,
    ) -> ReadReply {
        let read = outcome.map_err(|error| Event::failed_request(predictor, error));
        let read = read.map(|reply| {
            let read = match (predictor, &self.phase) {
                (PredictorName::Step, Phase::Demand(_)) => {
                    let outputs = submitted(self, predictor, &reply);
                    outputs.map(|read| read.map(Reading::Outputs))
                }
                (PredictorName::Step, _) => step(self, &reply),
                (PredictorName::Extract, _) => outputs(self, &reply),
                (PredictorName::Summarise, _) => summary(self, &reply),
                (PredictorName::Judge, _) => judgement(self, &reply),
                (PredictorName::Condense, _) => condensed(self, &reply),
            };
            let read = read.unwrap_or_else(|problem| Read {
                value: Reading::Unreadable { problem },
                repairs: Vec::new(),
            });
            Box::new(Replied::new(predictor, reply, read.value, duration).mended(read.repairs))
        });
        let stepped = read.as_ref().ok().and_then(|replied| replied.stepped());
        let unchecked = match stepped {
            Some(stepped) if stepped.outcome == StepOutcome::Act => {
                let calls = stepped.calls.iter().enumerate();
                calls
                    .filter(|(_, planned)| {
                        planned.refusal.is_none() && self.program.is_checked(&planned.call)
                    })
                    .map(|(index, _)| index)
                    .collect()
            }
            _ => Vec::new(),
        };
        let outputs = read.as_ref().ok();
        let outputs = outputs.and_then(|replied| self.program.outputs_to_check(replied));
        ReadReply {
            read,
            unchecked,
            outputs,
        }
    }
}

/// The contents of a reply, or the problem with it.
type Readable = Result<Read<Reading>, String>;

/// A reply to a step.
fn step(state: &RunState, reply: &Reply) -> Readable {
    let adapter = state.wording.adapter(PredictorName::Step);
    let task = state.program.predictor(PredictorName::Step).task();
    let read = beside::step(adapter, task, reply);
    // A reply that calls nothing may hold the outputs themselves.
    let is_call = matches!(&read, Ok(read) if !read.value.calls.is_empty());
    let found = match is_call {
        true => None,
        false => forms::find(&state.program.answer, adapter.name(), reply),
    };
    let (read, committed) = match (read, found) {
        (_, Some(Found::Invalid(problems))) => {
            return Err(invalid_outputs(&state.program, &problems));
        }
        (_, Some(Found::Outputs(outputs))) => {
            let thought = reply.text.trim().to_owned();
            let calls = Vec::new();
            let value = StepReply { thought, calls };
            let repairs = outputs.repairs;
            (Read { value, repairs }, Some(outputs.value))
        }
        (Ok(read), None) => (read, None),
        (Err(misread), None) => return Err(misread.problem),
    };
    let StepReply { mut thought, calls } = read.value;
    // An empty reply is never an answer, however often it is repeated.
    if calls.is_empty() && thought.trim().is_empty() {
        return Err(format!("Your reply is empty. {}", way_on(state)));
    }
    let done = state.program.completion.tool_name();
    let acts = calls.iter().any(|call| call.name != done);
    if acts && let Some(problem) = thoughts::problem(state, &thought, &calls) {
        return Err(problem);
    }
    let mut repairs = read.repairs;
    let ids = state.ids.assign(&calls);
    let (planned, outcome) = match committed {
        Some(outputs) => (Vec::new(), StepOutcome::Answer(outputs)),
        None if calls.is_empty() => {
            // Reasoning is not an answer.
            let said = match beside::is_silent(reply) {
                true => "",
                false => thought.as_str(),
            };
            (Vec::new(), without_calls(state, said))
        }
        None => {
            let calls = calls.into_iter().zip(ids).collect();
            decide(state, calls, &mut thought, &mut repairs)
        }
    };
    let thought = (thought != reply.text).then_some(thought);
    let value = Reading::Step(Stepped {
        thought,
        calls: planned,
        outcome,
    });
    Ok(Read { value, repairs })
}

/// Keeps with each call what the model wrote, where that says something else than what was read.
fn note_written(planned: &mut [StepCall], written: Vec<RawCall>) {
    for (planned, written) in planned.iter_mut().zip(written) {
        let args = serde_json::from_str::<Values>(&written.arguments);
        let is_same = match args {
            Ok(args) => args == planned.call.args,
            Err(_) => written.arguments.is_empty() && planned.call.args.is_empty(),
        };
        // Unparsable arguments are already stored with the call.
        let is_known = planned.call.raw.as_ref() == Some(&written.arguments);
        if written.name != planned.call.name || !(is_same || is_known) {
            planned.written = Some(RawCall {
                id: None,
                ..written
            });
        }
    }
}

/// What a reply without a call is.
fn talk_of(state: &RunState, text: &str) -> Talk {
    match state.program.tooling() {
        Some(tooling) => talk::read(tooling, text),
        None => Talk::Answer,
    }
}

/// Whether a text is taken for the answer: because it is one, or because it may be one and nothing
/// better is to come. A model that says the same again means it.
pub(super) fn is_answer(state: &RunState, text: &str) -> bool {
    let Some(tooling) = state.program.tooling() else {
        return true;
    };
    let is_last = || {
        let is_again = |before| says_again(text, before);
        state.is_last_try() || state.said_before().is_some_and(is_again)
    };
    talk::read(tooling, text) == Talk::Answer || (talk::may_answer(tooling, text) && is_last())
}

/// A reply that calls nothing: the answer itself if the signature takes one string, else a
/// reminder, once; then whatever was said has to do.
fn without_calls(state: &RunState, text: &str) -> StepOutcome {
    let program = &state.program;
    let adapter = state.wording.adapter(PredictorName::Step);
    let is_guess = state.steps_taken() == 0
        && !adapter.takes_plain_words()
        && program.tool_specs().next().is_some();
    if let [only] = program.declared.outputs()
        && only.ty.is_str()
        && !is_guess
        && !text.trim().is_empty()
        && is_answer(state, text)
    {
        return StepOutcome::Answer(Values::from_iter([(
            only.name.clone(),
            Value::String(text.trim().to_owned()),
        )]));
    }
    // A model that does not call natively gets another chance in other words.
    if state.patience.was_nudged && !state.wording.may_write_calls(PredictorName::Step) {
        return StepOutcome::Extract;
    }
    let what = match talk_of(state, text) {
        Talk::Answer => "You called no tool.",
        Talk::Announcement => "You said what you are about to do, but called no tool.",
        Talk::Call => "No tool was called: the call in your text could not be read.",
    };
    StepOutcome::Nudge(format!("{what} {}", way_on(state)))
}

/// How a model that called nothing can continue.
fn way_on(state: &RunState) -> String {
    let outputs = state.output_names();
    match state.program.completion {
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
    thought: &mut String,
    repairs: &mut Vec<Repair>,
) -> (Vec<StepCall>, StepOutcome) {
    let completion = state.program.completion;
    let completing = |call: &ReadCall| call.name == completion.tool_name();
    let stands_alone = calls.iter().all(|(call, _)| completing(call));
    let mut planned = Vec::with_capacity(calls.len());
    for (call, id) in calls {
        if !completing(&call) {
            let mut call = check::tool_call(&state.program, id, call, repairs);
            call.confirm &= !state.is_tool_allowed(&call.call.name);
            planned.push(call);
            continue;
        }
        let (mut call, problem) = check::as_read(id, call);
        let result = match (completion, stands_alone, problem) {
            (_, false, _) => Err(format!(
                "`{}` was not carried out: call it alone, after you have seen the results of the \
                 other calls.",
                call.name
            )),
            (Completion::Finish, true, _) if call.args.is_empty() => Ok(StepOutcome::Extract),
            (Completion::Finish, true, _) => {
                // If the outputs are included, they don't have to be requested.
                let mut made = Vec::new();
                match check::outputs(&state.program, call.args.clone(), &mut made) {
                    Ok(given) => {
                        repairs.append(&mut made);
                        call.args = given.values;
                        Ok(StepOutcome::Submit)
                    }
                    Err(_) => Ok(StepOutcome::Extract),
                }
            }
            (Completion::Submit, true, Some(problem)) => {
                Err(invalid_outputs(&state.program, &problem))
            }
            (Completion::Submit, true, None) => {
                let checked = check::outputs(&state.program, call.args.clone(), repairs);
                checked
                    .map(|given| {
                        call.args = given.values;
                        if let (true, Some(said)) = (thought.trim().is_empty(), given.thought) {
                            *thought = said;
                        }
                        StepOutcome::Submit
                    })
                    .map_err(|problems| invalid_outputs(&state.program, &problems))
            }
        };
        match result {
            // The first valid commit wins; what came beside it is not looked at.
            Ok(done) => return (vec![StepCall::new(call)], done),
            Err(refusal) => planned.push(StepCall::refused(call, refusal)),
        }
    }
    (planned, StepOutcome::Act)
}

/// The explanation of invalid outputs for the model: the problem, and what is expected.
pub(super) fn invalid_outputs(program: &Program, problems: &str) -> String {
    let fields = program.declared.outputs().iter();
    let expected: Vec<String> = fields
        .map(|field| format!("\"{}\": {}", field.name, field.ty))
        .collect();
    format!(
        "Invalid outputs: {problems}. Call `submit` again with the arguments {{{}}}.",
        expected.join(", ")
    )
}

/// A reply with the outputs.
fn outputs(state: &RunState, reply: &Reply) -> Readable {
    let predictor = PredictorName::Extract;
    // A missing helper field is no reason to reject an answer.
    let read = parsed(state, predictor, reply)
        .or_else(|misread| submitted(state, predictor, reply).map_err(|_| misread.problem));
    read.map(|read| read.map(Reading::Outputs))
}

/// A reply with a summary of the transcript.
fn summary(state: &RunState, reply: &Reply) -> Readable {
    let text = summary_of(state, PredictorName::Summarise, reply)?;
    let Phase::Summarise { covers, .. } = state.phase else {
        return Err(NO_SUMMARY.to_owned());
    };
    Ok(Read::exact(Reading::Summary { text, covers }))
}

/// A reply with the summary of an observation.
fn condensed(state: &RunState, reply: &Reply) -> Readable {
    let summary = summary_of(state, PredictorName::Condense, reply)?;
    let (call, _) = state.condensing().ok_or(NO_SUMMARY)?;
    let call_id = call.id.clone();
    Ok(Read::exact(Reading::Condensed { call_id, summary }))
}

fn summary_of(
    state: &RunState,
    predictor: PredictorName,
    reply: &Reply,
) -> Result<String, &'static str> {
    let values = parsed(state, predictor, reply).map(|read| read.value);
    match values.unwrap_or_default().get("summary") {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        _ => Err(NO_SUMMARY),
    }
}

/// A reply that judges the task.
fn judgement(state: &RunState, reply: &Reply) -> Readable {
    let read = parsed(state, PredictorName::Judge, reply);
    let values = read.map(|read| read.value).unwrap_or_default();
    let word = |name: &str| values.get(name).and_then(Value::as_str);
    let mut standings = Standing::ALL.into_iter();
    let standing = standings
        .find(|standing| word("standing") == Some(standing.as_str()))
        .ok_or("the reply does not say how the task stands")?;
    let why = word("why").unwrap_or_default().to_owned();
    Ok(Read::exact(Reading::Judged { standing, why }))
}

/// The outputs of a predictor as its adapter reads them.
fn parsed(
    state: &RunState,
    predictor: PredictorName,
    reply: &Reply,
) -> Result<Read<Values>, Misread> {
    let task = state.program.predictor(predictor).task();
    state.wording.adapter(predictor).parse_outputs(task, reply)
}
