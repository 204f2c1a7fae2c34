//! The declared outputs in whatever form a reply holds them.
//!
//! A model that has the answer does not always hand it over in the form that it was asked for. As
//! long as every declared output is there, that is an answer: as a JSON object, between tags, under
//! markers, behind labels, or, where one value is declared, as nothing but that value.

use serde_json::Value;

use super::outputs::{self, normal};
use super::sections::Sections;
use super::{
    Read, Repair, RepairKind, Task, call_text, chat, field_text, json_text, tagged, thinking, xml,
};
use crate::model::{FinishReason, Reply};
use crate::signature::{Field, Values};

/// Fields that models add to the declared ones, and that are no reason to doubt an object.
const ASIDES: [&str; 4] = ["reasoning", "thought", "next_thought", "confidence"];

/// Outputs that were found in a reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// All of them, checked.
    Outputs(Read<Values>),
    /// All of them, but they do not fit: what is wrong.
    Invalid(String),
}

type Picked = (Values, Vec<Repair>);
type Form = (&'static str, fn(&Task, &Reply) -> Option<Picked>);

const FORMS: [Form; 4] = [
    ("json", object),
    ("xml", tags),
    ("chat", markers),
    ("tagged", labels),
];

/// Finds all outputs of a task in a reply, looking for the form of the adapter called `own` first.
pub(crate) fn find(task: &Task, own: &str, reply: &Reply) -> Option<Found> {
    let own = FORMS.iter().find(|(name, _)| *name == own);
    let picked = own.and_then(|(_, read)| read(task, reply)).or_else(|| {
        if reply.text.len() > call_text::LOOKED_THROUGH {
            return None;
        }
        // The only text may well have an object or tags somewhere in it.
        let is_text = outputs::sole_text(task).is_some();
        let mut forms = FORMS
            .iter()
            .filter(|(form, _)| !is_text || is_nothing_but(form, &reply.text));
        forms.find_map(|(_, read)| read(task, reply))
    });
    let (picked, repairs) = picked.or_else(|| bare(task, reply))?;
    Some(match outputs::complete(task, picked, repairs, "") {
        Ok(read) => Found::Outputs(read),
        Err(misread) => Found::Invalid(misread.problem.trim().trim_end_matches('.').to_owned()),
    })
}

/// Whether a text is in this form from its beginning to its end, as far as can be seen.
fn is_nothing_but(form: &str, text: &str) -> bool {
    let text = thinking::spoken(text).text.trim();
    let text = text.strip_prefix("```").map_or(text, |fenced| {
        let fenced = fenced.trim_start_matches(char::is_alphanumeric);
        fenced.strip_suffix("```").unwrap_or(fenced).trim()
    });
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

/// Whether all outputs that have to be there are among these names.
fn covers<'n>(fields: &[Field], mut names: impl Iterator<Item = &'n str> + Clone) -> bool {
    let has = |field: &Field| {
        let mut names = names.clone();
        let wanted = normal(&field.name);
        names.any(|name| normal(name) == wanted)
    };
    let is_any = fields.iter().any(has);
    let is_all = fields
        .iter()
        .all(|field| !field.is_required() || has(field));
    // An object without any of them says nothing, even if none has to be there.
    names.next().is_some() && is_any && is_all
}

/// An object with the outputs, or one level down in one: `{"outputs": {…}}`.
fn object(task: &Task, reply: &Reply) -> Option<Picked> {
    let fields = task.signature.outputs();
    let is_complete = |object: &Values| {
        covers(fields, object.keys().map(String::as_str)) && is_meant(task, object)
    };
    let wanted = |value: &Value| {
        let object = value.as_object();
        object.is_some_and(|object| {
            is_complete(object)
                || object
                    .values()
                    .any(|inner| inner.as_object().is_some_and(is_complete))
        })
    };
    let found = json_text::find(&reply.text, reply.finish, wanted).ok()?;
    let Value::Object(object) = found.value else {
        return None;
    };
    let mut repairs = found.repairs;
    let object = if is_complete(&object) {
        object
    } else {
        let inner = object.into_iter().find_map(|(_, inner)| match inner {
            Value::Object(inner) if is_complete(&inner) => Some(inner),
            _ => None,
        });
        inner?
    };
    repairs.push(written("written as JSON"));
    let picked = outputs::pick(fields, object, &mut repairs);
    Some((picked, repairs))
}

/// Whether an object stands for the outputs. The only text may well be about an object that has
/// more in it.
fn is_meant(task: &Task, object: &Values) -> bool {
    outputs::sole_text(task).is_none_or(|only| {
        object
            .keys()
            .all(|key| normal(key) == normal(&only.name) || ASIDES.contains(&normal(key).as_str()))
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
    let outputs = task.signature.outputs().iter();
    let names: Vec<&str> = outputs.map(|field| field.name.as_str()).collect();
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

/// `Answer: …`. What stands before the label of the only text may belong to it, unless it is a
/// thought.
fn labels(task: &Task, reply: &Reply) -> Option<Picked> {
    let sections = tagged::labelled_outputs(task, thinking::spoken(&reply.text).text);
    if outputs::sole_text(task).is_some()
        && (!tagged::is_thought(&sections.leading)
            || sections.list.iter().any(|section| section.text.is_empty()))
    {
        return None;
    }
    in_sections(task, reply, &sections, "written behind labels")
}

/// Nothing but the only output, where a text could not be taken for it by mistake.
fn bare(task: &Task, reply: &Reply) -> Option<Picked> {
    let [only] = task.signature.outputs() else {
        return None;
    };
    let text = thinking::spoken(&reply.text).text.trim();
    if text.is_empty() || reply.finish == FinishReason::Length || field_text::admits_text(&only.ty)
    {
        return None;
    }
    let mut repairs = vec![written("nothing but the value")];
    let value = field_text::read(&only.ty, text, &mut repairs);
    let picked = Values::from_iter([(only.name.clone(), value)]);
    // What does not fit is talk about the value.
    task.outputs.check(Value::Object(picked.clone())).ok()?;
    Some((picked, repairs))
}
