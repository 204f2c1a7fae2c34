//! What a kill hit.

use std::collections::BTreeMap;
use std::fmt;

use enact::Run;
use enact::run::{Event, QuestionKind};

/// Where a run was when its process was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    BeforeTheRun,
    BeforeTheModelIsAsked,
    WhileTheModelIsAsked,
    BeforeThePersonIsAsked,
    WaitingForAPerson,
    WaitingForAPersonInDoubt,
    AnsweredAndNotStarted,
    InDoubtWithoutTheEffect,
    InDoubtWithTheEffect,
    AfterTheEnd,
}

/// Where a call is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    Planned,
    Asked(QuestionKind),
    Answered,
    Started,
    Finished,
}

impl Phase {
    /// The phase of a run, given the lines in the file and whether the model was asked for the
    /// next step.
    pub(super) fn of(run: Option<&Run>, lines: &[&str], is_asked: bool) -> Self {
        let Some(run) = run else {
            return Self::BeforeTheRun;
        };
        if run.termination().is_some() {
            return Self::AfterTheEnd;
        }
        let stages = stages(run);
        let has = |stage: Stage| stages.iter().any(|(_, known)| *known == stage);
        if let Some((line, _)) = stages.iter().find(|(_, stage)| *stage == Stage::Started) {
            if lines.contains(&line.as_str()) {
                Self::InDoubtWithTheEffect
            } else {
                Self::InDoubtWithoutTheEffect
            }
        } else if has(Stage::Answered) {
            Self::AnsweredAndNotStarted
        } else if has(Stage::Planned) {
            Self::BeforeThePersonIsAsked
        } else if has(Stage::Asked(QuestionKind::InDoubt)) {
            Self::WaitingForAPersonInDoubt
        } else if has(Stage::Asked(QuestionKind::Confirm)) {
            Self::WaitingForAPerson
        } else if is_asked {
            Self::WhileTheModelIsAsked
        } else {
            Self::BeforeTheModelIsAsked
        }
    }

    /// Whether a process may have asked for a reply that is not in the log. A request may be on
    /// its way yet.
    pub(super) fn may_have_asked(self) -> bool {
        matches!(
            self,
            Self::WhileTheModelIsAsked | Self::BeforeTheModelIsAsked
        )
    }
}

/// The calls of the last step: the line that each appends, and where it is.
fn stages(run: &Run) -> Vec<(String, Stage)> {
    let mut calls: Vec<(String, String, Stage)> = Vec::new();
    for event in run.events() {
        let (call_id, stage) = match event {
            Event::Replied(replied) => {
                let Some(step) = replied.stepped() else {
                    continue;
                };
                let planned = step.calls.iter().map(|planned| {
                    let line = planned.call.args.get("text").and_then(|text| text.as_str());
                    let line = line.unwrap_or_default().trim_end().to_owned();
                    (planned.call.id.clone(), line, Stage::Planned)
                });
                calls = planned.collect();
                continue;
            }
            Event::Asked(asked) => (&asked.call_id, Stage::Asked(asked.kind)),
            Event::Answered {
                confirmation_id, ..
            } => (asked_about(run, confirmation_id), Stage::Answered),
            Event::ToolStarted { call_id } => (call_id, Stage::Started),
            Event::ToolFinished(finished) => (&finished.call_id, Stage::Finished),
            _ => continue,
        };
        let known = calls.iter_mut().find(|(id, _, _)| id == call_id);
        known.unwrap().2 = stage;
    }
    let placed = calls.into_iter().map(|(_, line, stage)| (line, stage));
    placed.collect()
}

/// The id of the call that a question was about.
pub(super) fn asked_about<'a>(run: &'a Run, confirmation_id: &str) -> &'a String {
    let questions = run.events().filter_map(|event| match event {
        Event::Asked(question) => Some(question),
        _ => None,
    });
    let mut about = questions.filter(|question| question.confirmation_id == confirmation_id);
    &about.next().unwrap().call_id
}

/// How many kills hit what.
#[derive(Debug, Default)]
pub(super) struct Tally {
    hits: BTreeMap<Phase, usize>,
    pub(super) runs: usize,
    pub(super) processes: usize,
}

impl Tally {
    pub(super) fn count(&mut self, phase: Phase) {
        *self.hits.entry(phase).or_default() += 1;
    }

    pub(super) fn of(&self, phase: Phase) -> usize {
        self.hits.get(&phase).copied().unwrap_or_default()
    }

    pub(super) fn kills(&self) -> usize {
        self.hits.values().sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kills = self.kills();
        writeln!(
            f,
            "{kills} kills, {} processes, {} runs:",
            self.processes, self.runs
        )?;
        for (phase, hits) in &self.hits {
            writeln!(f, "{hits:5} {phase:?}")?;
        }
        Ok(())
    }
}
