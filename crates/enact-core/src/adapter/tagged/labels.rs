//! Labels at the start of a line: `Thought:`, `Action 2:`, `**Answer:**`.

use super::Tags;
use crate::adapter::lines;
use crate::adapter::live::{Line, LineStart};
use crate::adapter::sections::THOUGHT;
use crate::adapter::task::Task;
use crate::adapter::thinking;

/// The maximum position of the end of a label in a line.
const LONGEST: usize = 120;

const FINAL_ANSWER: &str = "final answer";

/// The meaning of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Label {
    Thought,
    Action,
    ActionInput,
    Observation,
    FinalAnswer,
    /// A field of this name.
    Field(String),
}

/// The labels with a meaning in a task.
#[derive(Debug, Clone)]
pub(super) struct Labels {
    tags: Vec<(String, Label)>,
    fields: Vec<String>,
}

/// A reply split at its labels.
#[derive(Debug, Default)]
pub(super) struct Labelled {
    pub(super) leading: String,
    pub(super) pieces: Vec<(Label, String)>,
}

impl Labels {
    /// The labels of a step.
    pub(super) fn of_step(tags: &Tags) -> Self {
        let action_input = format!("{} input", tags.action);
        let tags = [
            (tags.thought.as_str(), Label::Thought),
            (&tags.action, Label::Action),
            (&action_input, Label::ActionInput),
            (&tags.observation, Label::Observation),
            (FINAL_ANSWER, Label::FinalAnswer),
        ];
        let tags = tags
            .into_iter()
            .map(|(name, label)| (normal(name), label))
            .collect();
        Self {
            tags,
            fields: Vec::new(),
        }
    }

    /// The labels of a reply with outputs.
    pub(super) fn of_outputs(task: &Task) -> Self {
        let outputs = task.signature.outputs();
        let tags = match outputs {
            [only] => vec![(FINAL_ANSWER.to_owned(), Label::Field(only.name.clone()))],
            _ => Vec::new(),
        };
        Self {
            tags,
            fields: outputs.iter().map(|field| field.name.clone()).collect(),
        }
    }

    /// All labels that data must not forge.
    pub(super) fn of_data(tags: &Tags, task: &Task) -> Self {
        let declared = task.tooling.as_ref().map(|tooling| &tooling.declared);
        let fields = [Some(&task.signature), declared]
            .into_iter()
            .flatten()
            .flat_map(|signature| signature.inputs().iter().chain(signature.outputs()))
            .map(|field| field.name.clone())
            .chain(super::OWN_LABELS.map(str::to_owned))
            .collect();
        Self {
            fields,
            ..Self::of_step(tags)
        }
    }

    /// The label at the start of a line, and the rest.
    pub(super) fn read<'a>(&self, line: &'a str) -> Option<(Label, &'a str)> {
        let line = line.trim_start();
        let body = line.trim_start_matches(['*', '#', '>', ' ']);
        let is_bold = line[..line.len() - body.len()].contains('*');
        let colon = body
            .char_indices()
            .take(LONGEST)
            .find(|(_, c)| matches!(c, ':' | '\n' | '\r'));
        let colon = colon.filter(|(_, c)| *c == ':').map(|(at, _)| at)?;
        let name = body[..colon].trim();
        let bare = name.trim_end_matches('*').trim_end();
        let label = self.find(bare)?;
        let after = &body[colon + 1..];
        let closes_after = is_bold && bare.len() == name.len();
        Some((
            label,
            if closes_after {
                after.trim_start_matches('*')
            } else {
                after
            },
        ))
    }

    fn find(&self, name: &str) -> Option<Label> {
        if let Some(field) = self.fields.iter().find(|field| *field == name) {
            return Some(Label::Field(field.clone()));
        }
        let wanted = normal(name);
        if let Some(field) = self.fields.iter().find(|field| normal(field) == wanted) {
            return Some(Label::Field(field.clone()));
        }
        let unmarked = wanted.strip_suffix("(error)").unwrap_or(&wanted).trim_end();
        let unnumbered = unmarked
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .trim_end_matches(['#', ' ']);
        let known = |name: &str| self.tags.iter().find(|(tag, _)| tag == name);
        known(unmarked)
            .or_else(|| known(unnumbered))
            .map(|(_, label)| label.clone())
    }

    /// Escapes every line of data that looks like a label.
    pub(super) fn escape(&self, text: &str) -> String {
        lines::escape(text, |line| self.is_structure(line))
    }

    fn is_structure(&self, line: &str) -> bool {
        self.read(line).is_some() || thinking::is_tag(line)
    }

    /// Splits a text at its labels. `data` says which lines were escaped.
    pub(super) fn cut(&self, text: &str, data: &Labels) -> Labelled {
        let mut cut = Labelled::default();
        for line in lines::each(text) {
            match (self.read(line), cut.pieces.last_mut()) {
                (Some((label, after)), _) => cut.pieces.push((label, after.to_owned())),
                (None, Some((_, piece))) => piece.push_str(line),
                (None, None) => cut.leading.push_str(line),
            }
        }
        for (_, piece) in &mut cut.pieces {
            *piece = lines::unescape(piece.trim(), |line| data.is_structure(line));
        }
        cut
    }
}

impl Labels {
    /// The meaning of the start of a line, while it is written. `data` says which lines were escaped.
    pub(super) fn classify(&self, data: &Labels, line: Line<'_>) -> LineStart {
        let is_structure = |rest: &str| data.is_structure(rest);
        let may_be = |rest: &str| data.may_be_label(rest);
        line.classify(is_structure, may_be, |text| {
            let (label, after) = self.read(text)?;
            // More stars may follow a bold label.
            let is_bold = text.trim_start().starts_with('*');
            if !line.is_whole && is_bold && after.trim_start().len() < 3 {
                return Some(LineStart::Unknown);
            }
            let name = match label {
                Label::Thought => THOUGHT.to_owned(),
                Label::Field(name) => name,
                _ => String::new(),
            };
            Some(LineStart::Field(name, after.to_owned()))
        })
    }

    /// Whether a line with this start could become a label.
    fn may_be_label(&self, start: &str) -> bool {
        let names = self.tags.iter().map(|(tag, _)| tag);
        let longest = names
            .chain(&self.fields)
            .map(|name| name.chars().count())
            .max();
        // Leaves room for a number, a mark and stars.
        let longest = longest.unwrap_or_default() + 16;
        let is_open = !start.contains(':') && start.chars().count() <= longest;
        is_open || thinking::may_be_tag(start)
    }
}

fn normal(name: &str) -> String {
    let lower = name.to_lowercase().replace('_', " ");
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}
