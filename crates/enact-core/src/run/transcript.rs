//! The transcript view: the log as a conversation.

use std::collections::{HashMap, HashSet};

use super::event::{Event, PlannedCall, PredictorName, StepOutcome, Stepped};
use super::history::{Call, Entry, Observation, ToolResult};
use super::log::Run;
use super::question::Decision;
use super::trajectory::COMPLETED;
use crate::model::FinishReason;

/// How many characters are shown of a reply that was cut off. Most of them go round in circles: a
/// model that reads all of it goes on so, and pays for it.
const SHOWN_OF_CUT_OFF: usize = 200;
/// What a model is told whose reply was cut off because it repeats itself.
const REPEATS: &str = "You wrote the same text over and over, so your reply was stopped. Write each \
                       thing once.";

/// Whether a transcript shows a step whose calls have not all given something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenStep {
    /// For people: the step stands at the end, with what is known of its calls.
    Shown,
    /// For prompts: the step joins the transcript once it is over.
    Hidden,
}

/// The conversation before the run and all that the run added.
pub(super) fn of(run: &Run, open: OpenStep) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut step: Option<&Stepped> = None;
    let mut results: HashMap<&str, &Observation> = HashMap::new();
    let mut edits: HashMap<&str, Call> = HashMap::new();
    let mut asked: HashMap<&str, &Call> = HashMap::new();
    let mut started: HashSet<&str> = HashSet::new();
    let mut extract_thought = String::new();
    for event in run.events() {
        match event {
            Event::Started(started) => {
                entries.extend(started.history.entries().iter().cloned());
                entries.push(Entry::Inputs {
                    values: started.inputs.clone(),
                });
            }
            Event::Stepped(stepped) => match &stepped.outcome {
                StepOutcome::Act => {
                    step = Some(stepped);
                    results.clear();
                    edits.clear();
                    started.clear();
                }
                StepOutcome::Nudge(notice) => entries.extend(nudged(stepped, notice)),
                StepOutcome::Commit(_) => step = Some(stepped),
                StepOutcome::Extract if stepped.calls.is_empty() => {
                    entries.push(said(stepped.thought().to_owned()));
                }
                StepOutcome::Extract => entries.extend(finished(stepped)),
            },
            Event::ToolStarted { call_id } => {
                started.insert(call_id);
            }
            Event::Misread {
                predictor: PredictorName::Step,
                reply,
                problem,
                ..
            } => {
                entries.extend(misread(reply, problem));
            }
            Event::ToolFinished {
                call_id,
                observation,
                ..
            } => {
                results.insert(call_id, observation);
            }
            Event::Condensed {
                call_id, summary, ..
            } => {
                // The step is over by then.
                if let Some(Entry::Results { results }) = entries.last_mut()
                    && let Some(result) = results.iter_mut().find(|one| one.call_id == *call_id)
                {
                    result.observation.summary = Some(summary.clone());
                }
            }
            Event::Asked(question) => {
                asked.insert(&question.confirmation_id, &question.tool_call);
            }
            Event::Answered {
                confirmation_id,
                decision: Decision::Edit { name, args },
                ..
            } => {
                if let Some(call) = asked.get(confirmation_id.as_str()) {
                    let edited = Call {
                        id: call.id.clone(),
                        name: name.clone(),
                        args: args.clone(),
                        raw: None,
                    };
                    edits.insert(&call.id, edited);
                }
            }
            Event::Withdrawn { confirmation_id } => {
                // The call is again what it was when the question was asked.
                if let Some(call) = asked.get(confirmation_id.as_str()) {
                    edits.insert(&call.id, (*call).clone());
                }
            }
            Event::Noticed { text, .. } => entries.push(noticed(text)),
            Event::Summarised {
                summary, covers, ..
            } => {
                entries.push(Entry::Summary {
                    text: summary.clone(),
                    covers: *covers,
                });
            }
            Event::Extracted { outputs, .. } => {
                let thought = outputs.get("reasoning").and_then(serde_json::Value::as_str);
                extract_thought = thought.unwrap_or_default().to_owned();
            }
            Event::Finished { outputs, .. } => {
                let committed = step.filter(|step| matches!(step.outcome, StepOutcome::Commit(_)));
                entries.push(Entry::Outputs {
                    values: outputs.clone(),
                    thought: committed.map_or_else(
                        || std::mem::take(&mut extract_thought),
                        |step| commit_thought(step).to_owned(),
                    ),
                    call_id: Some(
                        committed
                            .and_then(|step| step.calls.first())
                            .map_or_else(|| own_id(run), |planned| planned.call.id.clone()),
                    ),
                });
            }
            _ => {}
        }
        if let Some(acted) = step
            && acted.outcome == StepOutcome::Act
            && let Some(done) = step_entries(acted, |_, call| {
                let id = call.id.as_str();
                (edits.get(id), results.get(id).copied())
            })
        {
            entries.extend(done);
            step = None;
        }
    }
    let waiting = step.filter(|step| step.outcome == StepOutcome::Act);
    if let (Some(step), OpenStep::Shown) = (waiting, open) {
        let pending = |id: &str| match started.contains(id) {
            true => Observation::pending("It was started and has given no result yet."),
            false => Observation::pending("It has not run: it waits for a decision."),
        };
        let ids = step.calls.iter().map(|planned| planned.call.id.as_str());
        let shown: HashMap<&str, Observation> = ids.map(|id| (id, pending(id))).collect();
        let entries_of_step = step_entries(step, |_, call| {
            let id = call.id.as_str();
            let observation = results.get(id).copied().or_else(|| shown.get(id));
            (edits.get(id), observation)
        });
        entries.extend(entries_of_step.into_iter().flatten());
    }
    entries
}

/// The id under which native calls show outputs that no call committed. Each turn of a conversation
/// has another, and the same conversation has the same ids again, so that a recording fits.
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

/// What the step that declares the work done adds to the transcript.
pub(crate) fn finished(step: &Stepped) -> [Entry; 2] {
    let calls: Vec<Call> = step
        .calls
        .iter()
        .map(|planned| planned.call.clone())
        .collect();
    let results = calls.iter().map(|call| ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        observation: Observation::value(COMPLETED),
    });
    let results = results.collect();
    let said = Entry::Assistant {
        text: step.thought().to_owned(),
        calls,
        opaque: step.reply.opaque.clone(),
    };
    [said, Entry::Results { results }]
}

/// The thought that a commit leaves in the transcript: none when the text was the answer itself.
fn commit_thought(step: &Stepped) -> &str {
    if step.calls.is_empty() {
        ""
    } else {
        step.thought()
    }
}

/// What a step adds to the transcript, once every call has its observation. `outcome` tells, by its
/// place and the call, what ran in place of a call, if it was edited, and what it gave.
pub(crate) fn step_entries<'a>(
    step: &Stepped,
    outcome: impl Fn(usize, &Call) -> (Option<&'a Call>, Option<&'a Observation>),
) -> Option<[Entry; 2]> {
    let is_done = |(index, planned): (usize, &PlannedCall)| {
        planned.refusal.is_some() || outcome(index, &planned.call).1.is_some()
    };
    if !step.calls.iter().enumerate().all(is_done) {
        return None;
    }
    let mut calls = Vec::with_capacity(step.calls.len());
    let mut results = Vec::with_capacity(step.calls.len());
    for (index, planned) in step.calls.iter().enumerate() {
        let (call, observation) = match &planned.refusal {
            Some(refusal) => (&planned.call, Observation::error(refusal.clone())),
            None => {
                let (edit, observation) = outcome(index, &planned.call);
                (edit.unwrap_or(&planned.call), observation?.clone())
            }
        };
        results.push(ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            observation,
        });
        calls.push(call.clone());
    }
    let said = Entry::Assistant {
        text: step.thought().to_owned(),
        calls,
        opaque: step.reply.opaque.clone(),
    };
    Some([said, Entry::Results { results }])
}

/// What a reply without calls adds to the transcript.
pub(crate) fn nudged(step: &Stepped, notice: &str) -> [Entry; 2] {
    [
        said(step.thought().to_owned()),
        Entry::Notice {
            text: notice.to_owned(),
        },
    ]
}

/// What a notice adds to the transcript.
pub(crate) fn noticed(text: &str) -> Entry {
    Entry::Notice {
        text: text.to_owned(),
    }
}

/// What an unreadable reply adds to the transcript.
pub(crate) fn misread(reply: &crate::model::Reply, problem: &str) -> [Entry; 2] {
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
        // What reads replies sees one that is too long. The model is told why.
        true => format!("{REPEATS} {problem}"),
        false => problem.to_owned(),
    };
    [
        said(text.trim().to_owned()),
        Entry::Notice { text: problem },
    ]
}

fn said(text: String) -> Entry {
    // A provider refuses an assistant message without content.
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
