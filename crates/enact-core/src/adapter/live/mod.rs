//! Reads a reply while it is written, to show thoughts and outputs early.
//!
//! A live reader only reports what is certain, and never a marker, tag or quote. The driver compares it
//! with the complete reply.

mod calls;
mod json;
mod lines;
mod objects;
mod tags;
mod text;

use serde::Serialize;

pub(super) use calls::CallReader;
use json::JsonReader;
pub(super) use lines::{Line, LineReader, LineStart};
pub(super) use objects::ObjectReader;
pub(super) use tags::TagReader;
pub(super) use text::TextReader;
use text::{Reads, Speech};

use super::sections::{ARGS, THOUGHT, TOOL};
use super::task::Task;
use crate::model::Chunk;

/// A piece of a reply that people want to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Piece {
    /// The thought of a step.
    Thought,
    /// The output with this name.
    Output(String),
}

/// Reads a reply while it is written. Created by [`Adapter::live`](super::Adapter::live) for one reply;
/// called by the driver with every chunk in order.
pub trait Live: Send {
    /// Reads a chunk, and returns what it adds to which piece.
    fn push(&mut self, chunk: &Chunk, tell: &mut dyn FnMut(&Piece, &str));
}

/// Reports nothing before the reply is complete.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Live for Silent {
    fn push(&mut self, _: &Chunk, _: &mut dyn FnMut(&Piece, &str)) {}
}

/// Receives the pieces as they grow.
type Tell<'a> = dyn FnMut(&Piece, &str) + 'a;

/// The meaning of the names in a reply.
#[derive(Debug, Clone)]
struct Names {
    /// Whether it is a step, with a thought and a call.
    is_step: bool,
    /// The tool whose arguments are outputs.
    committing: Option<&'static str>,
    /// The text outputs. All others are reported when they are complete.
    texts: Vec<String>,
}

impl Names {
    fn of(task: &Task) -> Self {
        let outputs = match &task.tooling {
            Some(tooling) => tooling.declared.outputs(),
            None => task.signature.outputs(),
        };
        let texts = outputs.iter().filter(|field| field.ty.is_str());
        Self {
            is_step: task.tooling.is_some(),
            committing: task.committing_tool(),
            texts: texts.map(|field| field.name.clone()).collect(),
        }
    }

    /// The output with this name, if it is a text.
    fn output(&self, name: &str) -> Option<Piece> {
        let is_known = self.texts.iter().any(|text| text == name);
        is_known.then(|| Piece::Output(name.to_owned()))
    }

    fn is_committing(&self, tool: &str) -> bool {
        self.committing == Some(tool.trim())
    }

    /// Reads more of an object of outputs.
    fn read(&self, json: &mut JsonReader, text: &str, tell: &mut Tell<'_>) {
        json.push(text, &mut |path, text| {
            if let [name] = path
                && let Some(piece) = self.output(name)
            {
                tell(&piece, text);
            }
        });
    }
}

/// A field of a reply that is being read.
#[derive(Debug)]
enum Field {
    /// A text that is reported as it arrives, without surrounding white space.
    Told(Piece, Trimmed),
    /// The name of a tool.
    Tool,
    /// The arguments of the committing tool.
    Args(JsonReader),
    /// Nothing that can be reported yet.
    Other,
}

/// The fields of a reply, however they are marked.
#[derive(Debug)]
pub(super) struct Fields {
    names: Names,
    open: Field,
    tool: String,
}

impl Fields {
    pub(super) fn of(task: &Task) -> Self {
        Self {
            names: Names::of(task),
            open: Field::Other,
            tool: String::new(),
        }
    }

    /// The field with this name starts.
    pub(super) fn open(&mut self, name: &str) {
        let told = |piece| Field::Told(piece, Trimmed::default());
        self.open = match name {
            THOUGHT if self.names.is_step => told(Piece::Thought),
            TOOL if self.names.is_step => {
                self.tool.clear();
                Field::Tool
            }
            ARGS if self.names.is_step && self.names.is_committing(&self.tool) => {
                Field::Args(JsonReader::default())
            }
            _ if self.names.is_step => Field::Other,
            _ => self.names.output(name).map_or(Field::Other, told),
        };
    }

    /// What follows belongs to no field.
    pub(super) fn close(&mut self) {
        self.open = Field::Other;
    }

    /// More of the current field.
    pub(super) fn push(&mut self, text: &str, tell: &mut Tell<'_>) {
        match &mut self.open {
            // Quotes may be part of the text or surround it.
            Field::Told(Piece::Output(_), trimmed)
                if !trimmed.has_begun && text.trim_start().starts_with('"') =>
            {
                self.open = Field::Other;
            }
            Field::Told(piece, trimmed) => trimmed.push(text, |text| tell(piece, text)),
            Field::Tool => self.tool.push_str(text),
            Field::Args(json) => self.names.read(json, text, tell),
            Field::Other => {}
        }
    }
}

/// A text without surrounding white space, as it arrives.
#[derive(Debug, Default)]
struct Trimmed {
    has_begun: bool,
    /// White space that only counts if text follows.
    held: String,
}

impl Trimmed {
    fn push(&mut self, text: &str, mut tell: impl FnMut(&str)) {
        let text = match self.has_begun {
            true => text,
            false => text.trim_start(),
        };
        if text.is_empty() {
            return;
        }
        self.has_begun = true;
        let solid = text.trim_end();
        if !solid.is_empty() {
            let held = std::mem::take(&mut self.held);
            if held.is_empty() {
                tell(solid);
            } else {
                tell(&(held + solid));
            }
        }
        self.held.push_str(&text[solid.len()..]);
    }
}
