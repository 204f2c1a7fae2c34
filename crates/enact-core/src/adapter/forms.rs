//! Finds the declared outputs in a reply, in any form.
//!
//! A model that has the answer doesn't always return it in the requested form. If every declared output
//! is there, it counts as an answer: as a JSON object, between tags, under markers, after labels, or, if
//! only one value is declared, as just that value.

use std::borrow::Cow;

use serde_json::Value;

use super::outputs::{self, normal};
use super::sections::Sections;
use super::task::{Completion, Tooling};
use super::{
    Read, Repair, RepairKind, Task, call_text, chat, describe, field_text, json_text, tagged, talk,
    thinking, xml,
};
use crate::model::{FinishReason, Reply};
use crate::signature::{Field, Values};

/// Fields in which models explain themselves, besides the declared ones.
const THOUGHTS: [&str; 8] = [
    "reasoning",
    "thought",
    "next_thought",
    "thoughts",
    "thinking",
    "rationale",
    "explanation",
    "analysis",
];
/// Other fields that models add, which don't make an object suspicious.
const ASIDES: [&str; 1] = ["confidence"];

/// Outputs found in a reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// All of them, validated.
    Outputs(Read<Values>),
    /// All of them, but invalid: the problem.
    Invalid(String),
}

type Picked = (Values, Vec<Repair>);
type Form = (&'static str, fn(&Task, &Reply) -> Option<Picked>);

const FORMS: [Form; 5] = [
    ("json", object),
    ("xml", tags),
    ("chat", markers),
    ("tagged", labels),
    ("call", call),
];

/// Finds all outputs of a task in a reply, trying the form of the adapter named `own` first.
pub(crate) fn find(task: &Task, own: &str, reply: &Reply) -> Option<Found> {
    let picked = structured(task, own, reply).or_else(|| bare(task, reply))?;
    Some(checked(task, picked))
}

/// Like `find`, but a bare value doesn't count.
pub(crate) fn find_structured(task: &Task, own: &str, reply: &Reply) -> Option<Found> {
    Some(checked(task, structured(task, own, reply)?))
}

/// Outputs in any form, or the whole reply as the only output if that is a text. `is_broken` says
/// whether the reply was supposed to have structure.
pub(super) fn find_other(
    task: &Task,
    reply: &Reply,
    is_broken: impl Fn(&str) -> bool,
) -> Option<Read<Values>> {
    match find(task, "", reply) {
        Some(Found::Outputs(read)) => return Some(read),
        Some(Found::Invalid(_)) => return None,
        None => {}
    }
    let spoken = thinking::spoken(&reply.text);
    let text = spoken.text.trim();
    let field = outputs::sole_text(task)?;
    let is_unfinished = spoken.is_open || reply.finish == FinishReason::Length;
    if is_unfinished || text.is_empty() || is_broken(text) {
        return None;
    }
    let picked = Values::from_iter([(field.name.clone(), Value::from(text))]);
    let detail = format!("the whole reply was taken for `{}`", field.name);
    let repairs = vec![Repair::new(RepairKind::Structure, detail)];
    outputs::complete(task, picked, repairs).ok()
}

fn checked(task: &Task, (picked, repairs): Picked) -> Found {
    match outputs::complete(task, picked, repairs) {
        Ok(read) => Found::Outputs(read),
        Err(misread) => Found::Invalid(misread.problem.trim().trim_end_matches('.').to_owned()),
    }
}

/// Declared outputs that were submitted as an object, without additional fields.
#[derive(Debug)]
pub(crate) struct Apart {
    /// The outputs, or what may be meant for one if some are missing.
    pub(crate) values: Values,
    /// A thought in another field.
    pub(crate) thought: Option<String>,
}

/// Separates the outputs of an object from its other fields: any fields if all outputs are there,
/// otherwise only known ones.
pub(crate) fn set_apart(fields: &[Field], given: Values, repairs: &mut Vec<Repair>) -> Apart {
    let mut rest = given;
    let is_whole = covers(fields, rest.keys().map(String::as_str));
    let mut values = outputs::pick(fields, &mut rest, repairs);
    let mut dropped = Vec::new();
    let mut thought = None;
    for (name, value) in rest {
        let is_thought = THOUGHTS.contains(&normal(&name).as_str());
        if !is_whole && !is_aside(&name) {
            values.insert(name, value);
            continue;
        }
        dropped.push(format!("`{name}`"));
        if let (true, None, Value::String(text)) = (is_thought, &thought, value) {
            thought = Some(text);
        }
    }
    if !dropped.is_empty() {
        let detail = format!("{} beside the outputs: left out", dropped.join(", "));
        repairs.push(Repair::new(RepairKind::Structure, detail));
    }
    Apart { values, thought }
}

/// Whether models add this field on their own.
pub(super) fn is_aside(name: &str) -> bool {
    let name = normal(name);
    THOUGHTS.contains(&name.as_str()) || ASIDES.contains(&name.as_str())
}

/// The outputs in a form that has their names in it. Where a reply can be read in several, in the
/// first one that has all outputs, those included that may be left out, and they fit.
fn structured(task: &Task, own: &str, reply: &Reply) -> Option<Picked> {
    let own = FORMS.iter().find(|(name, _)| *name == own);
    let mut first = own.and_then(|(_, read)| read(task, reply));
    let is_whole = |(picked, repairs): &Picked| {
        picked.len() == task.signature.outputs().len()
            && outputs::complete(task, picked.clone(), repairs.clone()).is_ok()
    };
    if first.as_ref().is_some_and(is_whole) || reply.text.len() > call_text::LOOKED_THROUGH {
        return first;
    }
    // A single text output may contain an object or tags.
    let is_text = outputs::sole_text(task).is_some();
    let forms = FORMS.iter();
    let forms = forms.filter(|(form, _)| !is_text || is_nothing_but(form, &reply.text));
    for picked in forms.filter_map(|(_, read)| read(task, reply)) {
        if is_whole(&picked) {
            return Some(picked);
        }
        first.get_or_insert(picked);
    }
    first
}

/// Whether the whole text appears to be in this form.
fn is_nothing_but(form: &str, text: &str) -> bool {
    let text = thinking::spoken(text).text.trim();
    let text = talk::without_fence(text);
    match form {
        "json" => text.starts_with('{') && text.ends_with('}'),
        "xml" => text.starts_with('<') && text.ends_with('>'),
        "chat" => text.starts_with("[["),
        _ => true,
    }
}

fn written(how: &str) -> Repair {
    Repair::new(RepairKind::Structure, format!("the outputs were {how}"))
}

/// Whether these names include all required outputs.
pub(super) fn covers<'n>(
    fields: &[Field],
    mut names: impl Iterator<Item = &'n str> + Clone,
) -> bool {
    let has = |field: &Field| {
        let mut names = names.clone();
        let wanted = normal(&field.name);
        names.any(|name| normal(name) == wanted)
    };
    let is_any = fields.iter().any(has);
    let is_all = fields
        .iter()
        .all(|field| !field.is_required() || has(field));
    // An object without any of them says nothing, even if none is required.
    names.next().is_some() && is_any && is_all
}

/// An object with the outputs, directly or one level down: `{"outputs": {…}}`.
fn object(task: &Task, reply: &Reply) -> Option<Picked> {
    let fields = task.signature.outputs();
    let is_complete = |object: &&Values| {
        covers(fields, object.keys().map(String::as_str)) && is_meant(task, object)
    };
    let held = |value: &Value| {
        let object = value.as_object()?;
        let inner = object.values().filter_map(Value::as_object);
        let mut objects = std::iter::once(object).chain(inner);
        objects.find(is_complete).cloned()
    };
    let is_wanted = |value: &Value| held(value).is_some();
    let found = json_text::find(&reply.text, reply.finish, is_wanted).ok()?;
    let mut repairs = found.repairs;
    repairs.push(written("written as JSON"));
    let picked = outputs::pick(fields, &mut held(&found.value)?, &mut repairs);
    Some((picked, repairs))
}

/// Whether an object represents the outputs. A single text output may be about an object with
/// further fields.
fn is_meant(task: &Task, object: &Values) -> bool {
    outputs::sole_text(task).is_none_or(|only| {
        object
            .keys()
            .all(|key| normal(key) == normal(&only.name) || is_aside(key))
    })
}

fn in_sections(task: &Task, reply: &Reply, sections: &Sections, how: &str) -> Option<Picked> {
    let names = sections.list.iter().map(|section| section.name.as_str());
    let is_cut = reply.finish == FinishReason::Length && !sections.ended;
    if is_cut || !covers(task.signature.outputs(), names) {
        return None;
    }
    let mut repairs = vec![written(how)];
    let picked = sections.pick(task, &mut repairs);
    Some((picked, repairs))
}

fn tags(task: &Task, reply: &Reply) -> Option<Picked> {
    let names: Vec<&str> = describe::names(task.signature.outputs()).collect();
    let sections = xml::scan(&reply.text, &names);
    if outputs::sole_text(task).is_some() && !sections.ended {
        return None;
    }
    in_sections(task, reply, &sections, "written between tags")
}

fn markers(task: &Task, reply: &Reply) -> Option<Picked> {
    let sections = chat::scan(&reply.text);
    in_sections(task, reply, &sections, "written under markers")
}

/// `Answer: …`. Text before the label may belong to a single text output, unless it is a
/// thought.
fn labels(task: &Task, reply: &Reply) -> Option<Picked> {
    let text = without_bullets(task, thinking::spoken(&reply.text).text);
    let sections = tagged::labelled_outputs(task, &text);
    if outputs::sole_text(task).is_some()
        && (!tagged::is_thought(&sections.leading)
            || sections.list.iter().any(|section| section.text.is_empty()))
    {
        return None;
    }
    in_sections(task, reply, &sections, "written behind labels")
}

/// The text without the marks of a list whose items are labelled outputs.
fn without_bullets<'t>(task: &Task, text: &'t str) -> Cow<'t, str> {
    const MARKS: [&str; 4] = ["- ", "* ", "• ", "+ "];
    let text = text.trim();
    let unmarked = |line: &'t str| MARKS.iter().find_map(|mark| line.strip_prefix(mark));
    if !text.lines().any(|line| unmarked(line).is_some()) {
        return Cow::Borrowed(text);
    }
    let is_label = tagged::output_label(task);
    let items = text.split_inclusive('\n');
    let items = items.map(|line| unmarked(line).filter(|item| is_label(item)).unwrap_or(line));
    Cow::Owned(items.collect())
}

/// A call of the tool that ends a task, although there is none here.
fn call(task: &Task, reply: &Reply) -> Option<Picked> {
    if task.tooling.is_some() {
        return None;
    }
    let ending = Tooling::new(task.signature.clone(), Vec::new(), Completion::Submit);
    let step = Task {
        tooling: Some(ending),
        ..task.clone()
    };
    let tooling = step.tooling.as_ref()?;
    let text = thinking::spoken(&reply.text).text.trim();
    let read = call_text::find(&step, tooling, text, reply.finish).ok()??;
    let [call] = &read.value.calls[..] else {
        return None;
    };
    if call.name != tooling.completion.tool_name() {
        return None;
    }
    let mut args = call.args.clone().ok()?;
    let is_text = outputs::sole_text(task).is_some();
    let thought = &read.value.thought;
    let stands_alone = thought.is_empty() || !text.starts_with(thought.as_str());
    let fields = task.signature.outputs();
    if !covers(fields, args.keys().map(String::as_str)) || (is_text && !stands_alone) {
        return None;
    }
    let mut repairs = read.repairs;
    repairs.push(written("handed in by a call"));
    let picked = outputs::pick(fields, &mut args, &mut repairs);
    Some((picked, repairs))
}

/// Just the only output, if a text could not be mistaken for it.
fn bare(task: &Task, reply: &Reply) -> Option<Picked> {
    let [only] = task.signature.outputs() else {
        return None;
    };
    let spoken = thinking::spoken(&reply.text);
    let text = spoken.text.trim();
    if text.is_empty()
        || spoken.is_open
        || reply.finish == FinishReason::Length
        || field_text::takes_any_text(&only.ty)
    {
        return None;
    }
    let mut repairs = vec![written("nothing but the value")];
    let value = field_text::read(&only.ty, text, &mut repairs);
    let picked = Values::from_iter([(only.name.clone(), value)]);
    // A value that doesn't fit is text about it.
    task.outputs.check(Value::Object(picked.clone())).ok()?;
    Some((picked, repairs))
}
