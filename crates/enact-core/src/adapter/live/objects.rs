//! Replies that are one JSON object.

use super::{JsonReader, Live, Names, Piece, Spoken, Trimmed};
use crate::adapter::sections::{ARGS, THOUGHT, TOOL};
use crate::adapter::task::Task;
use crate::model::Chunk;

/// Reads a reply that is one JSON object: a step, or outputs.
pub(in crate::adapter) struct ObjectReader {
    names: Names,
    spoken: Spoken,
    json: JsonReader,
    thought: Trimmed,
    tool: String,
}

impl ObjectReader {
    pub(in crate::adapter) fn new(task: &Task) -> Self {
        Self {
            names: Names::of(task),
            spoken: Spoken::default(),
            json: JsonReader::default(),
            thought: Trimmed::default(),
            tool: String::new(),
        }
    }
}

impl Live for ObjectReader {
    fn push(&mut self, chunk: &Chunk, tell: &mut dyn FnMut(&Piece, &str)) {
        let Chunk::Text(text) = chunk else {
            return;
        };
        let Self {
            names,
            spoken,
            json,
            thought,
            tool,
        } = self;
        let mut take = |path: &[String], text: &str| match path {
            [key] if names.is_step && key == THOUGHT => {
                thought.push(text, |text| tell(&Piece::Thought, text));
            }
            [key] if names.is_step && key == TOOL => tool.push_str(text),
            [args, name] if names.is_step && args == ARGS && names.is_committing(tool) => {
                if let Some(piece) = names.output(name) {
                    tell(&piece, text);
                }
            }
            [name] if !names.is_step => {
                if let Some(piece) = names.output(name) {
                    tell(&piece, text);
                }
            }
            _ => {}
        };
        spoken.push(text, &mut |text| json.push(text, &mut take));
    }
}
