//! Reads steps and outputs from replies in named sections, however they are marked.

use super::outputs::{self, normal};
use super::task::{Task, Tooling};
use super::{Misread, Read, ReadCall, Repair, RepairKind, StepReply, calls, field_text};
use crate::model::FinishReason;
use crate::signature::Values;

/// The names of a step's sections.
pub(super) const THOUGHT: &str = "next_thought";
pub(super) const TOOL: &str = "next_tool_name";
pub(super) const ARGS: &str = "next_tool_args";

/// A named section of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// As written.
    pub(super) name: String,
    /// Trimmed, and unescaped.
    pub(super) text: String,
}

/// A reply in sections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sections {
    /// The text before the first section.
    pub(super) leading: String,
    /// The sections in order.
    pub(super) list: Vec<Section>,
    /// Whether the last section is known to be complete.
    pub(super) ended: bool,
}

impl Sections {
    fn first(&self, name: &str) -> Option<&Section> {
        let exact = self.list.iter().find(|section| section.name == name);
        let wanted = normal(name);
        exact.or_else(|| {
            self.list
                .iter()
                .find(|section| normal(&section.name) == wanted)
        })
    }

    /// Whether any of these sections exists.
    pub(super) fn has_any<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> bool {
        names.any(|name| self.first(name).is_some())
    }

    /// Reads the declared outputs.
    pub(super) fn outputs(
        &self,
        task: &Task,
        finish: FinishReason,
    ) -> Result<Read<Values>, Misread> {
        if finish == FinishReason::Length && !self.ended {
            return Err(outputs::cut_off());
        }
        let mut repairs = Vec::new();
        let picked = self.pick(task, &mut repairs);
        outputs::complete(task, picked, repairs)
    }

    /// The outputs that have a section.
    pub(super) fn pick(&self, task: &Task, repairs: &mut Vec<Repair>) -> Values {
        let outputs = task.signature.outputs().iter();
        outputs
            .filter_map(|field| {
                let section = self.first(&field.name)?;
                // An empty section for an optional output means that it is left out.
                if section.text.is_empty() && !field.is_required() && !field.ty.is_str() {
                    return None;
                }
                let value = field_text::read(&field.ty, &section.text, repairs);
                Some((field.name.clone(), value))
            })
            .collect()
    }

    /// Reads a thought and its calls. Several calls are several pairs of name and arguments.
    pub(super) fn step(
        &self,
        tooling: &Tooling,
        finish: FinishReason,
    ) -> Result<Read<StepReply>, Misread> {
        let cut_off = finish == FinishReason::Length && !self.ended;
        let mut repairs = Vec::new();
        let mut thought = None;
        let mut pairs: Vec<(&str, Option<&str>)> = Vec::new();
        for section in &self.list {
            match normal(&section.name).as_str() {
                "next_thought" | "thought" | "reasoning" => {
                    if !pairs.is_empty() {
                        let detail = "a further step in the same reply was dropped";
                        repairs.push(Repair::new(RepairKind::Surroundings, detail));
                        break;
                    }
                    thought.get_or_insert(section.text.as_str());
                }
                "next_tool_name" | "tool_name" => pairs.push((&section.text, None)),
                "next_tool_args" | "tool_args" => {
                    if let Some((_, args @ None)) = pairs.last_mut() {
                        *args = Some(&section.text);
                    }
                }
                _ => {}
            }
        }
        let thought = thought.unwrap_or(&self.leading).trim().to_owned();
        if cut_off {
            let args = pairs.last().and_then(|(_, args)| *args);
            let is_whole = args.is_some_and(|args| serde_json::from_str::<Values>(args).is_ok());
            if !is_whole {
                return Err(outputs::cut_off());
            }
        }
        if pairs.is_empty() {
            return Err(Misread::new(format!("`{TOOL}` is missing.")));
        }
        pairs.retain(|(name, _)| !matches!(normal(name).as_str(), "" | "none" | "null"));
        let calls = pairs.into_iter().map(|(name, args)| {
            let name = calls::resolve_name(tooling, name, &mut repairs);
            ReadCall::new(
                name,
                calls::args_of_text(args.unwrap_or_default(), &mut repairs),
            )
        });
        let calls = calls.collect();
        Ok(Read {
            value: StepReply { thought, calls },
            repairs,
        })
    }
}
