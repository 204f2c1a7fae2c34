//! The classic text of ReAct: `Thought:`, `Action:`, `Observation:`.

mod action;
mod labels;
mod literal;

use self::action::Unread;
use self::labels::{Label, Labels};
use super::live::{self, Line, LineReader, Live};
use super::outputs::{cut_off, plain, written};
use super::sections::{Section, Sections};
use super::task::{Completion, Task, Tooling};
use super::{
    Adapter, Misread, Read, ReadCall, Repair, RepairKind, StepReply, chat, describe, json,
    pictures, thinking, worked,
};
use crate::model::{Capabilities, FinishReason, Message, Reply, Request};
use crate::run::Entry;
use crate::signature::Values;

/// Labels of messages that are neither fields nor steps.
const OWN_LABELS: [&str; 2] = ["notice", "summary of what came before"];

/// The most calls of one step; a model that writes more goes round in circles.
const MOST_ACTIONS: usize = 32;

/// The words before the colons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tags {
    /// Before a thought.
    pub thought: String,
    /// Before a call.
    pub action: String,
    /// Before a result.
    pub observation: String,
}

impl Default for Tags {
    fn default() -> Self {
        Self {
            thought: "Thought".to_owned(),
            action: "Action".to_owned(),
            observation: "Observation".to_owned(),
        }
    }
}

/// `Thought: …`, `Action: tool(argument="value")`, `Observation: …`, for models that were trained
/// on such text, and for completion models.
///
/// Data cannot forge a label: a line of data that starts like one gets a backslash in front, which
/// is taken away again when a field is read. Several calls in one step are several `Action:` lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tagged {
    tags: Tags,
}

impl Tagged {
    /// With other words than `Thought`, `Action` and `Observation`.
    pub fn new(tags: Tags) -> Self {
        Self { tags }
    }

    /// The words before the colons.
    pub fn tags(&self) -> &Tags {
        &self.tags
    }

    fn step_form(&self) -> String {
        let Tags {
            thought, action, ..
        } = &self.tags;
        format!(
            "Reply with `{thought}: …`, then on a new line `{action}: tool(argument=\"value\")`."
        )
    }

    fn step<'a>(
        &self,
        labels: &Labels,
        thought: &str,
        actions: impl IntoIterator<Item = std::borrow::Cow<'a, str>>,
    ) -> String {
        let mut text = Vec::new();
        let thought = thought.trim();
        if !thought.is_empty() {
            text.push(format!("{}: {}", self.tags.thought, labels.escape(thought)));
        }
        let action = &self.tags.action;
        text.extend(
            actions
                .into_iter()
                .map(|a| format!("{action}: {}", labels.escape(&a))),
        );
        text.join("\n")
    }
}

impl Tagged {
    /// The outputs behind labels.
    fn sections(&self, task: &Task, text: &str) -> Sections {
        let data = Labels::of_data(&self.tags, task);
        let cut = Labels::of_outputs(task).cut(text, &data);
        let list = cut
            .pieces
            .into_iter()
            .filter_map(|(label, text)| match label {
                Label::Field(name) => Some(Section { name, text }),
                _ => None,
            });
        // Nothing marks the end of the last value, so a cut reply is never whole.
        Sections {
            leading: cut.leading,
            list: list.collect(),
            ended: false,
        }
    }
}

/// The outputs behind labels, in the usual words.
pub(super) fn labelled_outputs(task: &Task, text: &str) -> Sections {
    Tagged::default().sections(task, text)
}

/// The calls of a text with labelled actions, in the usual words; `None` if there is no action.
pub(super) fn labelled_step(task: &Task, text: &str) -> Option<Read<StepReply>> {
    let tags = Tags::default();
    let data = Labels::of_data(&tags, task);
    let step = Step::of(Labels::of_step(&tags).cut(text, &data));
    if step.actions.is_empty() {
        return None;
    }
    let tooling = task.tooling.as_ref()?;
    step.read(tooling, FinishReason::Stop, "").ok()
}

/// A call written as code: `tool(argument="value")`.
pub(super) fn code_call(
    tooling: &Tooling,
    text: &str,
    repairs: &mut Vec<Repair>,
) -> Option<Vec<ReadCall>> {
    let read = action::read(tooling, text, None, repairs).ok()?;
    Some(read.into_iter().map(|action| action.call).collect())
}

/// The place of the parenthesis that closes the one at the start.
pub(super) fn closing(text: &str) -> Option<usize> {
    literal::closing(text)
}

/// Whether a text is empty, or begins with the label of a thought.
pub(super) fn is_thought(text: &str) -> bool {
    let labels = Labels::of_step(&Tags::default());
    let text = text.trim();
    let is_reasoning = || text.to_lowercase().starts_with("reasoning:");
    text.is_empty() || matches!(labels.read(text), Some((Label::Thought, _))) || is_reasoning()
}

fn labelled<N: AsRef<str>>(labels: &Labels, list: impl IntoIterator<Item = (N, String)>) -> String {
    let fields: Vec<String> = list
        .into_iter()
        .map(|(name, text)| format!("{}: {}", name.as_ref(), labels.escape(&text)))
        .collect();
    fields.join("\n")
}

fn outputs_form(task: &Task) -> String {
    let names: Vec<String> = task
        .signature
        .outputs()
        .iter()
        .map(|field| format!("`{}: …`", field.name))
        .collect();
    format!("Reply with these lines in order: {}.", names.join(", "))
}

impl Adapter for Tagged {
    fn name(&self) -> &str {
        "tagged"
    }

    fn system(&self, task: &Task) -> String {
        let mut text = format!("{}\n", task.signature.instructions().trim_end());
        text.push_str("\nInputs:\n");
        text.push_str(&describe::fields(task.signature.inputs()));
        let Some(tooling) = &task.tooling else {
            text.push_str("\nOutputs:\n");
            text.push_str(&describe::fields(task.signature.outputs()));
            text.push_str(
                "\nEvery field stands after its name and a colon. Reply with all of these in \
                 exactly this form, replacing the braces:\n",
            );
            for field in task.signature.outputs() {
                text.push_str(&format!(
                    "\n{}: {}",
                    field.name,
                    describe::placeholder(field)
                ));
            }
            return text;
        };
        let Tags {
            thought,
            action,
            observation,
        } = &self.tags;
        text.push_str("\nTools:\n");
        text.push_str(&describe::tools(tooling));
        text.push_str(&format!(
            "\nEvery reply is a step: a `{thought}` and an `{action}`. The result is given to you as \
             `{observation}: …`, which you never write. {}",
            worked::steps(self, task, tooling)
        ));
        if tooling.completion == Completion::Finish {
            text.push_str("\n\n");
            text.push_str(&describe::ending(tooling, |name| format!("call `{name}`")));
        }
        text
    }

    fn render(&self, task: &Task, entry: &Entry) -> Vec<Message> {
        let labels = Labels::of_data(&self.tags, task);
        let message = match entry {
            Entry::System { text } => Message::System { text: text.clone() },
            Entry::Inputs { values } => {
                let (values, images) = pictures::lift(values);
                let list = values
                    .iter()
                    .map(|(name, value)| (name.as_str(), plain(value)));
                pictures::message(labelled(&labels, list), images)
            }
            Entry::User { parts } => pictures::said(parts, |text| labels.escape(text)),
            Entry::Assistant { text, calls, .. } if calls.is_empty() => {
                Message::assistant(text.clone())
            }
            Entry::Assistant { text, calls, .. } => {
                let actions = calls.iter().map(|call| action::write(call).into());
                Message::assistant(self.step(&labels, text, actions))
            }
            Entry::Results { results } => {
                let several = results.len() > 1;
                let list = results.iter().enumerate().map(|(index, result)| {
                    let number = if several {
                        format!(" {}", index + 1)
                    } else {
                        String::new()
                    };
                    let mark = if result.observation.is_error {
                        " (error)"
                    } else {
                        ""
                    };
                    let label = format!("{}{number}{mark}", self.tags.observation);
                    (label, result.observation.text())
                });
                let images = results
                    .iter()
                    .flat_map(|result| result.observation.images.clone());
                pictures::message(labelled(&labels, list), images)
            }
            Entry::Notice { text } => Message::user(labelled(&labels, [("Notice", text.clone())])),
            Entry::Summary { text, .. } => Message::user(labelled(
                &labels,
                [("Summary of what came before", text.clone())],
            )),
            Entry::Outputs {
                values, thought, ..
            } => Message::assistant(match task.committing_tool() {
                Some(name) => {
                    let call = format!("{name}({})", action::write_args(values));
                    self.step(&labels, thought, [call.into()])
                }
                None => {
                    let list = values
                        .iter()
                        .map(|(name, value)| (name.as_str(), written(task, name, value)));
                    labelled(&labels, list)
                }
            }),
        };
        vec![message]
    }

    fn shape(&self, task: &Task, capabilities: Capabilities, mut request: Request) -> Request {
        let _ = capabilities;
        if task.tooling.is_some() {
            request.stop.push(format!("\n{}:", self.tags.observation));
        }
        request
    }

    fn live(&self, task: &Task) -> Box<dyn Live> {
        let labels = match task.tooling {
            Some(_) => Labels::of_step(&self.tags),
            None => Labels::of_outputs(task),
        };
        let data = Labels::of_data(&self.tags, task);
        let classify = move |line: Line<'_>| labels.classify(&data, line);
        Box::new(LineReader::new(live::Fields::of(task), classify))
    }

    fn parse_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
        let form = outputs_form(task);
        let sections = self.sections(task, thinking::spoken(&reply.text).text);
        if sections.list.is_empty() {
            return json::unstructured_outputs(task, reply, &form, |_| false);
        }
        sections.outputs(task, reply.finish, &form)
    }

    fn parse_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
        let form = self.step_form();
        let Some(tooling) = &task.tooling else {
            return chat::unstructured_step(task, reply, &form, |_| false);
        };
        let data = Labels::of_data(&self.tags, task);
        let text = thinking::spoken(&reply.text).text;
        let labels = Labels::of_step(&self.tags);
        let step = Step::of(labels.cut(text, &data));
        if step.actions.is_empty() && step.answer.is_none() {
            return talk(task, (&labels, &data), reply, step, &form);
        }
        step.read(tooling, reply.finish, &form)
    }
}

/// A reply without an action: a call in JSON, a thought, or mere talk.
fn talk(
    task: &Task,
    labels: (&Labels, &Labels),
    reply: &Reply,
    step: Step,
    form: &str,
) -> Result<Read<StepReply>, Misread> {
    let mut read = chat::unstructured_step(task, reply, form, |_| step.has_input)?;
    if !read.value.calls.is_empty() {
        // What stands before the call may be a labelled thought.
        let before = Step::of(labels.0.cut(&read.value.thought, labels.1));
        read.value.thought = before.thought;
    } else if !step.thought.is_empty() {
        read.value.thought = step.thought;
    } else if step.observed {
        return Err(Misread::new(format!(
            "The reply has an observation but no action. {form}"
        )));
    }
    read.repairs.extend(step.repairs);
    Ok(read)
}

/// The pieces of a reply that make one step.
#[derive(Debug, Default)]
struct Step {
    thought: String,
    /// Each with the input that was given for it.
    actions: Vec<(String, Option<String>)>,
    answer: Option<String>,
    has_input: bool,
    observed: bool,
    repairs: Vec<Repair>,
}

impl Step {
    /// Everything up to the first sign of a further step.
    fn of(cut: labels::Labelled) -> Self {
        let mut step = Self::default();
        let mut thoughts = Vec::new();
        if !cut.leading.trim().is_empty() {
            thoughts.push(cut.leading.trim().to_owned());
        }
        let mut dropped = false;
        for (label, text) in cut.pieces {
            let acted = !step.actions.is_empty() || step.answer.is_some();
            match label {
                Label::Observation => {
                    step.observed = true;
                    dropped = true;
                }
                Label::Thought | Label::FinalAnswer if acted => dropped = true,
                Label::Thought => thoughts.push(text),
                Label::Action if step.answer.is_some() || step.actions.len() >= MOST_ACTIONS => {
                    dropped = true;
                }
                Label::Action => step.actions.push((text, None)),
                Label::ActionInput => {
                    step.has_input = true;
                    if let Some((_, input @ None)) = step.actions.last_mut() {
                        *input = Some(text);
                    }
                }
                Label::FinalAnswer => step.answer = Some(text),
                Label::Field(_) => {}
            }
            if dropped {
                let detail = "a further step or an invented observation was dropped";
                step.repairs
                    .push(Repair::new(RepairKind::Surroundings, detail));
                break;
            }
        }
        thoughts.retain(|thought| !thought.is_empty());
        step.thought = thoughts.join("\n");
        step
    }

    fn read(
        self,
        tooling: &Tooling,
        finish: FinishReason,
        form: &str,
    ) -> Result<Read<StepReply>, Misread> {
        let cut = finish == FinishReason::Length && !self.observed;
        let Self {
            mut thought,
            actions,
            answer,
            mut repairs,
            ..
        } = self;
        let misread = |unread| match unread {
            Unread::Open if finish == FinishReason::Length => cut_off(form),
            Unread::Open => Misread::new(format!("The action is not closed. {form}")),
            Unread::Problem(problem) => Misread::new(format!("{problem} {form}")),
        };
        let mut read = Vec::new();
        for (text, input) in &actions {
            // Without a closing bracket nothing tells whether a name or an input is whole.
            let is_closed = input.is_none() && text.trim_end().ends_with([')', ']', '}', '`']);
            if cut && !is_closed {
                return Err(cut_off(form));
            }
            read.extend(
                action::read(tooling, text, input.as_deref(), &mut repairs).map_err(misread)?,
            );
        }
        if let Some(answer) = answer {
            if cut {
                return Err(cut_off(form));
            }
            read.push(action::final_answer(tooling, &answer, &mut repairs).map_err(misread)?);
        }
        for action in &read {
            if let Some(answer) = &action.answer {
                // A completing call without arguments has no place for it; the extraction does.
                thought = format!("{thought}\n{answer}").trim().to_owned();
            }
        }
        let calls = read.into_iter().map(|action| action.call).collect();
        Ok(Read {
            value: StepReply { thought, calls },
            repairs,
        })
    }
}
