//! Adapters: a task and its transcript put into words for a model, and the reply read back.
//!
//! An [`Adapter`] is pure: it turns transcript entries into messages and replies into values.
//! Users pick one; predictors and the core of ReAct call it. Because every entry is rendered by
//! itself, a prompt only ever grows at its end, so provider caches keep hitting.

mod announcement;
pub(crate) mod beside;
mod call_text;
mod calls;
mod chat;
mod choice;
pub(crate) mod describe;
mod field_text;
mod foreign;
pub(crate) mod forms;
mod json;
mod json_text;
mod lines;
mod live;
pub(crate) mod names;
mod native;
pub(crate) mod outputs;
mod pictures;
mod sample;
mod sections;
mod style;
mod tagged;
pub(crate) mod talk;
mod task;
mod thinking;
mod worked;
mod xml;

use std::fmt;

use crate::model::{Capabilities, Message, Reply, Request};
use crate::run::Entry;
pub use crate::run::{Repair, RepairKind};
use crate::signature::Values;

pub use chat::Chat;
pub use choice::{AdapterChoice, UnknownAdapter};
pub use json::Json;
pub use live::{Live, Piece, Silent};
pub use native::Native;
pub use tagged::{Tagged, Tags};
pub use task::{Completion, Task, Tooling};
pub use xml::Xml;

/// Puts a task into words and reads the reply. Implemented by the adapters here and by users;
/// called by predictors and by the core of ReAct.
pub trait Adapter: Send + Sync + fmt::Debug {
    /// The name by which it is chosen, such as `chat`.
    fn name(&self) -> &str;

    /// The system part: instructions, tools where the provider does not take them separately,
    /// and the form of the reply. A function of the task alone.
    fn system(&self, task: &Task) -> String;

    /// One entry of the transcript as messages. A function of the task and the entry alone, so
    /// that what was said stays said.
    fn render(&self, task: &Task, entry: &Entry) -> Vec<Message>;

    /// Adds to a request what the adapter needs beside the prompt: tools, a response schema,
    /// stop texts.
    fn shape(&self, task: &Task, capabilities: Capabilities, request: Request) -> Request {
        let _ = (task, capabilities);
        request
    }

    /// Adds to the request of a last step what makes the model commit its outputs now.
    fn demand(&self, task: &Task, capabilities: Capabilities, request: Request) -> Request {
        let _ = (task, capabilities);
        request
    }

    /// Reads along while one reply is written. An adapter that does not leaves people without
    /// thoughts and outputs until they are whole.
    fn live(&self, task: &Task) -> Box<dyn Live> {
        let _ = task;
        Box::new(Silent)
    }

    /// Whether a reply in plain words, without a call, is taken at once as the answer of a task that
    /// asks for one text. An adapter that asks for a form of its own says no: there a first reply
    /// without the form is a guess more often than an answer, so the model is reminded once.
    fn takes_plain_words(&self) -> bool {
        false
    }

    /// Reads the declared outputs from a reply.
    fn parse_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread>;

    /// Reads a thought and tool calls from a reply to a task that has tools.
    fn parse_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread>;
}

/// What was read from a reply, and what had to be mended to read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Read<T> {
    /// What was read.
    pub value: T,
    /// What was mended.
    pub repairs: Vec<Repair>,
}

impl<T> Read<T> {
    /// What was read as it was written.
    pub(crate) fn exact(value: T) -> Self {
        Self {
            value,
            repairs: Vec::new(),
        }
    }

    /// The same, read after one more mending.
    pub(crate) fn mended(mut self, kind: RepairKind, detail: impl Into<String>) -> Self {
        self.repairs.push(Repair::new(kind, detail));
        self
    }

    /// The same as part of something else.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Read<U> {
        Read {
            value: change(self.value),
            repairs: self.repairs,
        }
    }
}

/// A thought and the calls that follow from it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepReply {
    /// Why; without calls, all that the model said.
    pub thought: String,
    /// The calls in order; empty when the model just talked.
    pub calls: Vec<ReadCall>,
}

impl StepReply {
    /// Nothing but talk.
    fn said(text: &str) -> Self {
        Self {
            thought: text.trim().to_owned(),
            calls: Vec::new(),
        }
    }
}

/// A tool call as read from a reply. Neither its name nor its arguments were checked yet.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadCall {
    /// The provider's id, if it gave one.
    pub id: Option<String>,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments.
    pub args: Result<Values, UnreadableArgs>,
}

impl ReadCall {
    /// A call without an id.
    fn new(name: impl Into<String>, args: Result<Values, UnreadableArgs>) -> Self {
        Self {
            id: None,
            name: name.into(),
            args,
        }
    }
}

/// Arguments that are no JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableArgs {
    /// What the model wrote.
    pub raw: String,
    /// What is wrong with it.
    pub problem: String,
}

/// A reply that cannot be read. The text tells the model what was wrong and what is expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Misread {
    /// What was wrong, for the model.
    pub problem: String,
}

impl Misread {
    /// A misread with this explanation.
    pub fn new(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
        }
    }

    /// The same, and what is expected.
    fn asking_for(self, form: &str) -> Self {
        Self::new(format!("{} {form}", self.problem))
    }
}
