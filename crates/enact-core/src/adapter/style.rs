//! The common part of adapters that put everything into the text of messages.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::live::Live;
use super::outputs::{self, plain, written};
use super::sections::{ARGS, Sections, THOUGHT, TOOL};
use super::task::{Completion, Task};
use super::{
    Adapter, Misread, Read, RepairKind, StepReply, call_text, calls, describe, forms, json,
    pictures, thinking, worked,
};
use crate::model::{Capabilities, FinishReason, Message, Reply, Request};
use crate::run::{Call, Entry, ToolResult};
use crate::signature::Values;

/// The specific part of one of these adapters. Implemented by all but the native one.
#[diagnostic::on_unimplemented(message = "`{Self}` does not implement `Adapter`")]
pub trait Style: fmt::Debug + Send + Sync + Sized {
    /// The name of the adapter.
    const NAME: &'static str;
    /// The name of a field with a notice.
    const NOTICE: &'static str = "notice";
    /// The name of a field with a summary.
    const SUMMARY: &'static str = "summary_of_what_came_before";

    /// See [`Adapter::system`].
    fn system(&self, task: &Task) -> String;

    /// The required form of a reply, for a model whose reply could not be parsed.
    fn form(&self, task: &Task) -> String;

    /// Values with their names.
    fn fields(&self, task: &Task, fields: impl IntoIterator<Item = (String, Value)>) -> String;

    /// The inputs of the task.
    fn inputs(&self, task: &Task, values: Values) -> String {
        self.fields(task, values)
    }

    /// A message of the user.
    fn said(&self, task: &Task, text: &str) -> String {
        self.fields(task, [("message".to_owned(), text.into())])
    }

    /// A reply with calls.
    fn step(&self, task: &Task, thought: &str, calls: &[Arc<Call>]) -> String {
        let field = |name: &str, text: String| (name.to_owned(), Value::String(text));
        let mut fields = vec![field(THOUGHT, thought.trim().to_owned())];
        for call in calls {
            fields.push(field(TOOL, call.name.clone()));
            fields.push(field(ARGS, call.args_text()));
        }
        self.ended(self.fields(task, fields))
    }

    /// The results of calls.
    fn results(&self, task: &Task, results: &[ToolResult]) -> String;

    /// A reply with the outputs.
    fn outputs(&self, task: &Task, values: &Values) -> String {
        let fields = values.iter();
        let fields = fields.map(|(name, value)| (name.clone(), written(task, name, value).into()));
        self.ended(self.fields(task, fields))
    }

    /// A reply with its end marker.
    fn ended(&self, reply: String) -> String {
        reply
    }

    /// See [`Adapter::shape`].
    fn shape(&self, _: &Task, _: Capabilities, request: Request) -> Request {
        request
    }

    /// See [`Adapter::demand`].
    fn demand(&self, _: &Task, _: Capabilities, request: Request) -> Request {
        request
    }

    /// See [`Adapter::live`].
    fn live(&self, task: &Task) -> Box<dyn Live>;

    /// See [`Adapter::parse_outputs`]; the form is added to the problem.
    fn read_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread>;

    /// See [`Adapter::parse_step`]; the form is added to the problem.
    fn read_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread>;
}

impl<S: Style> Adapter for S {
    fn name(&self) -> &str {
        S::NAME
    }

    fn system(&self, task: &Task) -> String {
        Style::system(self, task)
    }

    fn render(&self, task: &Task, entry: &Entry) -> Vec<Message> {
        let user = |name: &str, text: &String| {
            Message::user(self.fields(task, [(name.to_owned(), text.as_str().into())]))
        };
        vec![match entry {
            Entry::System { text } => Message::System { text: text.clone() },
            Entry::Inputs { values } => {
                let (values, images) = pictures::lift(values);
                pictures::message(self.inputs(task, values), images)
            }
            Entry::User { parts } => pictures::said(parts, |text| self.said(task, text)),
            Entry::Assistant { text, calls, .. } => Message::assistant(match calls.is_empty() {
                true => text.clone(),
                false => self.step(task, text, calls),
            }),
            Entry::Results { results } => {
                pictures::message(self.results(task, results), pictures::of_results(results))
            }
            Entry::Notice { text } => user(S::NOTICE, text),
            Entry::Summary { text, .. } => user(S::SUMMARY, text),
            Entry::Outputs {
                values, thought, ..
            } => Message::assistant(match task.committing_tool() {
                Some(name) => self.step(
                    task,
                    thought,
                    &[Call::without_id(name, values.clone()).into()],
                ),
                None => self.outputs(task, values),
            }),
        }]
    }

    fn shape(&self, task: &Task, capabilities: Capabilities, request: Request) -> Request {
        Style::shape(self, task, capabilities, request)
    }

    fn demand(&self, task: &Task, capabilities: Capabilities, request: Request) -> Request {
        Style::demand(self, task, capabilities, request)
    }

    fn live(&self, task: &Task) -> Box<dyn Live> {
        Style::live(self, task)
    }

    fn parse_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
        let read = self.read_outputs(task, reply);
        read.map_err(|misread| misread.asking_for(&self.form(task)))
    }

    fn parse_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
        let read = self.read_step(task, reply);
        read.map_err(|misread| misread.asking_for(&self.form(task)))
    }
}

/// The phrases with which a system part describes the fields of messages.
pub(super) struct Words {
    /// Where fields appear.
    pub(super) place: &'static str,
    /// How results are returned.
    pub(super) results: &'static str,
    /// The arguments of the call that submits or finishes.
    pub(super) submitted: &'static str,
    pub(super) finished: &'static str,
    /// A field with this name and text.
    pub(super) field: fn(&str, &str) -> String,
    /// The separator between fields.
    pub(super) between: &'static str,
}

/// The instructions, and the tools of a step: how results are returned, and how a run ends.
pub(super) fn introduction(
    task: &Task,
    results: &str,
    end: impl Fn(&str, Completion) -> String,
) -> String {
    let mut text = format!("{}\n", task.signature.instructions().trim_end());
    if let Some(tooling) = &task.tooling {
        text.push_str(&format!(
            "\nWork in steps. In each step, think, then call one tool; its result comes back \
             {results}.\n\nTools:\n{}\n{}\n",
            describe::tools(tooling),
            describe::ending(tooling, |name| end(name, tooling.completion)),
        ));
    }
    text
}

/// The system part with these phrases.
pub(super) fn system(style: &impl Style, task: &Task, words: &Words) -> String {
    let mut text = introduction(task, words.results, |name, completion| {
        let args = match completion {
            Completion::Submit => words.submitted,
            Completion::Finish => words.finished,
        };
        format!("call `{name}` with {args} as its arguments")
    });
    text.push_str("\nInputs:\n");
    text.push_str(&describe::fields(task.signature.inputs()));
    text.push_str(&describe::outputs(task));
    text.push_str(&format!("\nEvery field stands {}. ", words.place));
    match &task.tooling {
        Some(tooling) => text.push_str(&format!(
            "`{ARGS}` must be a valid JSON object with the arguments of the tool by name. {}",
            worked::steps(style, task, tooling)
        )),
        None => {
            let outputs = task.signature.outputs().iter();
            let outputs: Vec<String> = outputs
                .map(|field| (words.field)(&field.name, &describe::placeholder(field)))
                .collect();
            text.push_str(&format!(
                "Reply with all of these in exactly this form, replacing the braces:\n\n{}",
                style.ended(outputs.join(words.between))
            ));
        }
    }
    text
}

/// Fields with their texts passed through `escape`.
pub(super) fn fields(
    words: &Words,
    fields: impl IntoIterator<Item = (String, Value)>,
    escape: impl Fn(&str) -> String,
) -> String {
    let fields = fields.into_iter();
    let fields: Vec<String> = fields
        .map(|(name, value)| (words.field)(&name, &escape(&plain(&value))))
        .collect();
    fields.join(words.between)
}

/// The results as fields; if there are several, `name` names them by number.
pub(super) fn numbered(
    results: &[ToolResult],
    name: impl Fn(&str, bool) -> String,
) -> impl Iterator<Item = (String, Value)> {
    let is_one = results.len() == 1;
    results.iter().enumerate().map(move |(index, result)| {
        let number = match is_one {
            true => String::new(),
            false => format!(" {}", index + 1),
        };
        let name = name(&number, result.observation.is_error);
        (name, result.observation.text().into())
    })
}

impl Call {
    /// A call without a result.
    pub(super) fn without_id(name: &str, args: Values) -> Self {
        Self {
            id: String::new(),
            name: name.to_owned(),
            args,
            raw: None,
        }
    }

    /// The arguments as text: as JSON, or as the model wrote them.
    pub(super) fn args_text(&self) -> String {
        match &self.raw {
            Some(raw) => raw.clone(),
            None => Value::Object(self.args.clone()).to_string(),
        }
    }
}

/// The outputs of a reply in sections, or in any other form. `is_broken` says whether a text without
/// sections was supposed to have some.
pub(super) fn outputs(
    sections: &Sections,
    task: &Task,
    reply: &Reply,
    is_broken: impl Fn(&str) -> bool,
) -> Result<Read<Values>, Misread> {
    if sections.has_any(describe::names(task.signature.outputs())) {
        return sections.outputs(task, reply.finish);
    }
    if let Ok(read) = json::object_outputs(task, reply) {
        return Ok(read.mended(RepairKind::Structure, "the outputs were written as JSON"));
    }
    match forms::find_other(task, reply, is_broken) {
        Some(read) => Ok(read),
        None if reply.finish == FinishReason::Length => Err(outputs::cut_off()),
        None => outputs::complete(task, Values::new(), Vec::new())
            .and(Err(Misread::new("The reply has none of the outputs."))),
    }
}

/// The step of a reply in sections, or in any other form.
pub(super) fn step(
    sections: &Sections,
    task: &Task,
    reply: &Reply,
    is_broken: impl Fn(&str) -> bool,
) -> Result<Read<StepReply>, Misread> {
    match &task.tooling {
        Some(tooling) if sections.has_any([THOUGHT, TOOL, ARGS].into_iter()) => {
            sections.step(tooling, reply.finish)
        }
        _ => unstructured_step(task, reply, is_broken),
    }
}

/// A step that is not in sections: a call as JSON, or just text.
pub(super) fn unstructured_step(
    task: &Task,
    reply: &Reply,
    is_broken: impl Fn(&str) -> bool,
) -> Result<Read<StepReply>, Misread> {
    if let Ok(Some(found)) = calls::step_in_text(task, &reply.text, reply.finish) {
        let detail = "the call was written as JSON";
        return Ok(found.read.mended(RepairKind::Structure, detail));
    }
    if let Some(read) = call_text::other_form(task, reply) {
        return Ok(read);
    }
    if reply.finish == FinishReason::Length {
        return Err(outputs::cut_off());
    }
    let text = thinking::spoken(&reply.text).text;
    if is_broken(text) {
        return Err(Misread::new("The reply has none of the fields of a step."));
    }
    Ok(Read::exact(StepReply::said(text)))
}
