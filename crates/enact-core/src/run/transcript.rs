//! The transcript view: the log as a conversation.

use std::collections::HashSet;

use super::event::{PredictorName, Reading, Replied, StepOutcome};
use super::history::{Entry, Observation, ToolResult};
use super::log::Run;
use super::step::{Remark, Step};
use super::step_call::StepCall;
use super::trajectory::COMPLETED;
use crate::model::FinishReason;

/// The number of characters to show of a reply that was cut off. It is mostly repetition, and a model
/// that reads all of it continues it, at a cost.
const SHOWN_OF_CUT_OFF: usize = 200;
/// The notice for a model whose reply was cut off for repeating itself.
const REPEATS: &str = "You wrote the same text over and over, so your reply was stopped. Write each \
                       thing once.";

/// A place in a transcript: after so many steps, and so many remarks after the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    steps: usize,
    remarks: usize,
}

impl Place {
    /// After so many steps, and all that was remarked since.
    pub(crate) fn after(run: &Run, steps: usize) -> Self {
        let remarks = run.remarks_after(steps).len();
        Self { steps, remarks }
    }
}

/// What the run added to its transcript between two places.
pub(crate) fn between(run: &Run, from: Place, to: Place) -> Vec<Entry> {
    let mut entries = Vec::new();
    for number in from.steps..=to.steps {
        let (step, known) = match number == from.steps {
            true => (None, from.remarks),
            false => (run.steps().get(number - 1), 0),
        };
        entries.extend(step.into_iter().flat_map(stepped));
        let remarks = run.remarks_after(number).iter().skip(known);
        entries.extend(remarks.flat_map(remarked));
    }
    entries
}

/// The conversation before the run and what the run added to it, up to so many steps: for people the
/// step under way stands at the end, with what is known of its calls; it joins prompts once it is over.
pub(crate) fn of(run: &Run, steps: usize) -> Vec<Entry> {
    let mut entries = run.started().history.entries().to_vec();
    entries.push(Entry::Inputs {
        values: run.started().inputs.clone(),
    });
    let whole = (Place::default(), Place::after(run, steps));
    entries.extend(between(run, whole.0, whole.1));
    if let Some(outputs) = run.outputs() {
        let committed = run.steps().last().filter(|step| step.outputs().is_some());
        let thought = match committed {
            Some(step) => commit_thought(step),
            None => run.reasoning().unwrap_or_default(),
        };
        let call = committed.and_then(|step| step.calls.first());
        entries.push(Entry::Outputs {
            values: outputs.clone(),
            thought: thought.to_owned(),
            call_id: Some(call.map_or_else(|| own_id(run), |call| call.call.id.clone())),
        });
    }
    entries
}

/// The id with which native calls show outputs that no call committed. Each turn of a conversation
/// has its own, and the same conversation has the same ids again, so that it matches a recording.
fn own_id(run: &Run) -> String {
    let entries = run.started().history.entries().iter();
    let used: HashSet<&str> = entries
        .filter_map(|entry| match entry {
            Entry::Outputs { call_id, .. } => call_id.as_deref(),
            _ => None,
        })
        .collect();
    let mut turn = used.len();
    loop {
        let id = format!("answer_{turn}");
        if !used.contains(id.as_str()) {
            return id;
        }
        turn += 1;
    }
}

/// What a step adds to the transcript. A commit is told by the outputs at the end.
fn stepped(step: &Step) -> Vec<Entry> {
    match step.outcome() {
        StepOutcome::Act => acted(step),
        StepOutcome::Submit | StepOutcome::Answer(_) => Vec::new(),
        StepOutcome::Extract if step.calls.is_empty() => vec![said(step.thought().to_owned())],
        StepOutcome::Extract => with_results(step, |_| Observation::value(COMPLETED)),
        StepOutcome::Nudge(notice) => vec![
            said(step.thought().to_owned()),
            Entry::Notice {
                text: notice.clone(),
            },
        ],
    }
}

/// The thought that a commit adds to the transcript: none if the text was the answer itself.
fn commit_thought(step: &Step) -> &str {
    if step.calls.is_empty() {
        ""
    } else {
        step.thought()
    }
}

fn acted(step: &Step) -> Vec<Entry> {
    with_results(step, |call| match (call.observation(), call.attempts) {
        (Some(observation), _) => observation,
        (None, 0) => Observation::pending("It has not run: it waits for a decision."),
        (None, _) => Observation::pending("It was started and has given no result yet."),
    })
}

fn with_results(step: &Step, result: impl Fn(&StepCall) -> Observation) -> Vec<Entry> {
    let results = step.calls.iter().map(|call| ToolResult {
        call_id: call.call.id.clone(),
        name: call.call.name.clone(),
        observation: result(call),
    });
    let results = results.collect();
    let calls = step.calls.iter().map(|call| call.call.clone()).collect();
    let said = Entry::Assistant {
        text: step.thought().to_owned(),
        calls,
        opaque: step.replied.reply.opaque.clone(),
    };
    vec![said, Entry::Results { results }]
}

/// What a remark adds to the transcript.
fn remarked(remark: &Remark) -> Vec<Entry> {
    match remark {
        Remark::Reply { replied, .. } => match (&replied.read, replied.predictor) {
            (Reading::Unreadable { problem }, PredictorName::Step) => {
                unreadable(replied, problem).into()
            }
            (Reading::Summary { text, covers }, _) => vec![Entry::Summary {
                text: text.clone(),
                covers: *covers,
            }],
            _ => Vec::new(),
        },
        Remark::Notice { text, .. } => vec![Entry::Notice { text: text.clone() }],
        Remark::Failure { .. } | Remark::Adapter { .. } => Vec::new(),
    }
}

/// What an unreadable reply adds to the transcript.
pub(crate) fn unreadable(replied: &Replied, problem: &str) -> [Entry; 2] {
    let reply = &replied.reply;
    let mut text = reply.text.clone();
    for call in &reply.calls {
        text.push_str(&format!("\n{}({})", call.name, call.arguments));
    }
    if reply.finish == FinishReason::Length
        && let Some((end, _)) = text.char_indices().nth(SHOWN_OF_CUT_OFF)
    {
        text.replace_range(end.., " …");
    }
    let problem = match reply.repeats {
        // Whatever reads replies sees that one is too long. The model sees why.
        true => format!("{REPEATS} {problem}"),
        false => problem.to_owned(),
    };
    [
        said(text.trim().to_owned()),
        Entry::Notice { text: problem },
    ]
}

fn said(text: String) -> Entry {
    // Providers reject an assistant message without content.
    let text = if text.is_empty() {
        "(nothing)".to_owned()
    } else {
        text
    };
    Entry::Assistant {
        text,
        calls: Vec::new(),
        opaque: None,
    }
}
