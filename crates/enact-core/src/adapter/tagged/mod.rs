//! The classic text of ReAct: `Thought:`, `Action:`, `Observation:`.

mod action;
mod labels;
mod literal;

use std::sync::Arc;

use serde_json::Value;

use self::action::Unread;
use self::labels::{Label, Labels};
pub(super) use self::literal::closing;
use super::describe::{self, quoted};
use super::live::{Fields, LineReader, Live};
use super::outputs::cut_off;
use super::sections::{Section, Sections};
use super::style::{self, Style, Words};
use super::task::{Completion, Task, Tooling};
use super::{Misread, Read, ReadCall, Repair, RepairKind, StepReply, thinking, worked};
use crate::model::{Capabilities, FinishReason, Reply, Request};
use crate::run::{Call, ToolResult};
use crate::signature::Values;

/// Labels of messages that are neither fields nor steps.
const OWN_LABELS: [&str; 2] = ["notice", "summary of what came before"];

/// The maximum number of calls in a step; a model that writes more repeats itself.
const MOST_ACTIONS: usize = 32;

/// The labels of the adapter [`Tagged`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tags {
    /// Label of thoughts.
    pub thought: String,
    /// Label of calls.
    pub action: String,
    /// Label of results.
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

/// `Thought: …`, `Action: tool(argument="value")`, `Observation: …`, for models trained on such text, and
/// for completion models.
///
/// Data can't forge a label: a line of data that starts like one is escaped with a backslash, which is
/// removed when a field is read. Several calls in one step are several `Action:` lines.
///
/// ```
/// use enact::ReAct;
/// use enact::adapter::{Tagged, Tags};
///
/// let tags = Tags { thought: "Reasoning".into(), ..Tags::default() };
/// let agent = ReAct::builder("question -> answer").adapter(Tagged::new(tags)).build()?;
/// # Ok::<_, enact::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tagged {
    tags: Tags,
}

impl Tagged {
    /// Sets labels other than `Thought`, `Action` and `Observation`.
    pub fn new(tags: Tags) -> Self {
        Self { tags }
    }

    /// The labels.
    pub fn tags(&self) -> &Tags {
        &self.tags
    }

    /// The outputs after labels.
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
        // The last value has no end marker, so an incomplete reply is never complete.
        Sections {
            leading: cut.leading,
            list: list.collect(),
            ended: false,
        }
    }
}

/// What says whether a line starts with the label of an output.
pub(super) fn output_label(task: &Task) -> impl Fn(&str) -> bool {
    let labels = Labels::of_outputs(task);
    move |line| labels.read(line).is_some()
}

/// The outputs behind labels, in the usual words.
pub(super) fn labelled_outputs(task: &Task, text: &str) -> Sections {
    Tagged::default().sections(task, text)
}

/// The calls in a text with labelled actions, with the default labels; `None` without an action.
pub(super) fn labelled_step(task: &Task, text: &str) -> Option<Read<StepReply>> {
    let tags = Tags::default();
    let data = Labels::of_data(&tags, task);
    let step = Step::of(Labels::of_step(&tags).cut(text, &data));
    if step.actions.is_empty() {
        return None;
    }
    let tooling = task.tooling.as_ref()?;
    step.read(tooling, FinishReason::Stop).ok()
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

/// Whether a text is empty, or starts with the label of a thought.
pub(super) fn is_thought(text: &str) -> bool {
    let labels = Labels::of_step(&Tags::default());
    let text = text.trim();
    let is_reasoning = || text.to_lowercase().starts_with("reasoning:");
    text.is_empty() || matches!(labels.read(text), Some((Label::Thought, _))) || is_reasoning()
}

/// How outputs are requested without steps.
const WORDS: Words = Words {
    place: "after its name and a colon",
    results: "",
    submitted: "",
    finished: "",
    field: |name, text| format!("{name}: {text}"),
    between: "\n",
};

impl Style for Tagged {
    const NAME: &'static str = "tagged";
    const NOTICE: &'static str = "Notice";
    const SUMMARY: &'static str = "Summary of what came before";

    fn system(&self, task: &Task) -> String {
        let Some(tooling) = &task.tooling else {
            return style::system(self, task, &WORDS);
        };
        let Tags {
            thought,
            action,
            observation,
        } = &self.tags;
        let mut text = format!(
            "{}\n\nInputs:\n{}\nTools:\n{}\nEvery reply is a step: a `{thought}` and an \
             `{action}`. The result is given to you as `{observation}: …`, which you never write. \
             {}",
            task.signature.instructions().trim_end(),
            describe::fields(task.signature.inputs()),
            describe::tools(tooling),
            worked::steps(self, task, tooling)
        );
        if tooling.completion == Completion::Finish {
            text.push_str("\n\n");
            text.push_str(&describe::ending(tooling, |name| format!("call `{name}`")));
        }
        text
    }

    fn form(&self, task: &Task) -> String {
        let Tags {
            thought, action, ..
        } = &self.tags;
        if task.tooling.is_some() {
            return format!(
                "Reply with `{thought}: …`, then on a new line `{action}: \
                 tool(argument=\"value\")`."
            );
        }
        let outputs = task.signature.outputs().iter();
        let lines = outputs.map(|field| format!("{}: …", field.name));
        format!("Reply with these lines in order: {}.", quoted(lines))
    }

    fn fields(&self, task: &Task, fields: impl IntoIterator<Item = (String, Value)>) -> String {
        let labels = Labels::of_data(&self.tags, task);
        style::fields(&WORDS, fields, |text| labels.escape(text))
    }

    fn said(&self, task: &Task, text: &str) -> String {
        Labels::of_data(&self.tags, task).escape(text)
    }

    fn results(&self, task: &Task, results: &[ToolResult]) -> String {
        let fields = style::numbered(results, |number, is_error| {
            let mark = if is_error { " (error)" } else { "" };
            format!("{}{number}{mark}", self.tags.observation)
        });
        self.fields(task, fields)
    }

    fn step(&self, task: &Task, thought: &str, calls: &[Arc<Call>]) -> String {
        let field = |name: &String, text: String| (name.clone(), Value::String(text));
        let thought = Some(thought.trim()).filter(|thought| !thought.is_empty());
        let thought = thought.map(|thought| field(&self.tags.thought, thought.to_owned()));
        let calls = calls.iter();
        let actions = calls.map(|call| field(&self.tags.action, action::write(call)));
        self.fields(task, thought.into_iter().chain(actions))
    }

    fn shape(&self, task: &Task, _: Capabilities, mut request: Request) -> Request {
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
        LineReader::live(Fields::of(task), move |line| labels.classify(&data, line))
    }

    fn read_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
        let sections = self.sections(task, thinking::spoken(&reply.text).text);
        style::outputs(&sections, task, reply, |_| false)
    }

    fn read_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
        let Some(tooling) = &task.tooling else {
            return style::unstructured_step(task, reply, |_| false);
        };
        let data = Labels::of_data(&self.tags, task);
        let text = thinking::spoken(&reply.text).text;
        let labels = Labels::of_step(&self.tags);
        let step = Step::of(labels.cut(text, &data));
        if step.actions.is_empty() && step.answer.is_none() {
            return talk(task, (&labels, &data), reply, step);
        }
        step.read(tooling, reply.finish)
    }
}

/// A reply without an action: a call in JSON, a thought, or just text.
fn talk(
    task: &Task,
    labels: (&Labels, &Labels),
    reply: &Reply,
    step: Step,
) -> Result<Read<StepReply>, Misread> {
    let mut read = style::unstructured_step(task, reply, |_| step.has_input)?;
    if !read.value.calls.is_empty() {
        // The text before the call may be a labelled thought.
        let before = Step::of(labels.0.cut(&read.value.thought, labels.1));
        read.value.thought = before.thought;
    } else if !step.thought.is_empty() {
        read.value.thought = step.thought;
    } else if step.observed {
        return Err(Misread::new("The reply has an observation but no action."));
    }
    read.repairs.extend(step.repairs);
    Ok(read)
}

/// The parts of a reply that form one step.
#[derive(Debug, Default)]
struct Step {
    thought: String,
    /// Each with its input.
    actions: Vec<(String, Option<String>)>,
    answer: Option<String>,
    has_input: bool,
    observed: bool,
    repairs: Vec<Repair>,
}

impl Step {
    /// Everything before the first sign of a further step.
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

    fn read(self, tooling: &Tooling, finish: FinishReason) -> Result<Read<StepReply>, Misread> {
        let cut = finish == FinishReason::Length && !self.observed;
        let Self {
            mut thought,
            actions,
            answer,
            mut repairs,
            ..
        } = self;
        let misread = |unread| match unread {
            Unread::Open if finish == FinishReason::Length => cut_off(),
            Unread::Open => Misread::new("The action is not closed."),
            Unread::Problem(problem) => Misread::new(problem),
        };
        let mut read = Vec::new();
        for (text, input) in &actions {
            // Without a closing bracket, a name or an input may be incomplete.
            let is_closed = input.is_none() && text.trim_end().ends_with([')', ']', '}', '`']);
            if cut && !is_closed {
                return Err(cut_off());
            }
            read.extend(
                action::read(tooling, text, input.as_deref(), &mut repairs).map_err(misread)?,
            );
        }
        if let Some(answer) = answer {
            if cut {
                return Err(cut_off());
            }
            read.push(action::final_answer(tooling, &answer, &mut repairs).map_err(misread)?);
        }
        for action in &read {
            if let Some(answer) = &action.answer {
                // A completing call without arguments can't contain it; the extraction can.
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
