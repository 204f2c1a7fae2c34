//! Adapters: convert a task and its transcript to messages, and parse the reply.
//!
//! An [`Adapter`] is pure: it turns transcript entries into messages and replies into values. Users
//! choose one; predictors and the core of ReAct call it. Each entry is rendered independently, so a
//! prompt only grows at its end and provider caches stay effective.

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

/// Converts a task to a prompt and parses the reply. Implemented by the adapters here and by users;
/// called by predictors and by the core of ReAct.
pub trait Adapter: Send + Sync + fmt::Debug {
    /// The name of the adapter, such as `chat`.
    fn name(&self) -> &str;

    /// The system part: instructions, tools if the provider doesn't receive them separately, and the form
    /// of the reply. Depends on the task only.
    fn system(&self, task: &Task) -> String;

    /// A transcript entry as messages. Depends on the task and the entry only, so that earlier messages
    /// never change.
    fn render(&self, task: &Task, entry: &Entry) -> Vec<Message>;

    /// Adds to a request what the adapter needs besides the prompt: tools, a response schema, stop
    /// texts.
    fn shape(&self, task: &Task, capabilities: Capabilities, request: Request) -> Request {
        let _ = (task, capabilities);
        request
    }

    /// Changes the request of the last step so that the model commits its outputs now.
    fn demand(&self, task: &Task, capabilities: Capabilities, request: Request) -> Request {
        let _ = (task, capabilities);
        request
    }

    /// Reads a reply while it is written. Without it, thoughts and outputs are only shown when they are
    /// complete.
    fn live(&self, task: &Task) -> Box<dyn Live> {
        let _ = task;
        Box::new(Silent)
    }

    /// Whether a plain reply without a call is accepted as the answer to a task with one text output. An
    /// adapter that requires a form returns false: there, a first reply without the form is more often a
    /// guess than an answer, so the model is reminded once.
    fn takes_plain_words(&self) -> bool {
        false
    }

    /// Parses the declared outputs in a reply.
    fn parse_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread>;

    /// Parses a thought and tool calls in a reply to a task with tools.
    fn parse_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread>;
}

/// A parsed reply, with the repairs that were needed.
#[derive(Debug, Clone, PartialEq)]
pub struct Read<T> {
    /// The result.
    pub value: T,
    /// The repairs.
    pub repairs: Vec<Repair>,
}

impl<T> Read<T> {
    /// A result without repairs.
    pub(crate) fn exact(value: T) -> Self {
        Self {
            value,
            repairs: Vec::new(),
        }
    }

    /// Adds a repair.
    pub(crate) fn mended(mut self, kind: RepairKind, detail: impl Into<String>) -> Self {
        self.repairs.push(Repair::new(kind, detail));
        self
    }

    /// Converts the result, keeping the repairs.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Read<U> {
        Read {
            value: change(self.value),
            repairs: self.repairs,
        }
    }
}

/// A thought and its calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepReply {
    /// The thought; without calls, the whole text.
    pub thought: String,
    /// The calls in order; empty if there are none.
    pub calls: Vec<ReadCall>,
}

impl StepReply {
    /// Only text.
    fn said(text: &str) -> Self {
        Self {
            thought: text.trim().to_owned(),
            calls: Vec::new(),
        }
    }
}

/// A parsed tool call. Its name and arguments are not validated yet.
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

/// Arguments that are not a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableArgs {
    /// What the model wrote.
    pub raw: String,
    /// The problem.
    pub problem: String,
}

/// A reply that can't be parsed. The text explains the problem and what is expected to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Misread {
    /// The problem, for the model.
    pub problem: String,
}

impl Misread {
    /// A misread with this explanation.
    pub fn new(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
        }
    }

    /// Adds what is expected.
    fn asking_for(self, form: &str) -> Self {
        Self::new(format!("{} {form}", self.problem))
    }
}
