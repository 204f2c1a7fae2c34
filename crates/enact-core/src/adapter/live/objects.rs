//! Replies that are one JSON object.

use super::{JsonReader, Live, Names, Piece, Reads, Speech, Tell, Trimmed};
use crate::adapter::sections::{ARGS, THOUGHT, TOOL};
use crate::adapter::task::Task;

/// Reads a reply that is one JSON object: a step, or outputs.
pub(in crate::adapter) struct ObjectReader {
    names: Names,
    json: JsonReader,
    thought: Trimmed,
    tool: String,
}

impl ObjectReader {
    pub(in crate::adapter) fn live(task: &Task) -> Box<dyn Live> {
        Speech::live(Self {
            names: Names::of(task),
            json: JsonReader::default(),
            thought: Trimmed::default(),
            tool: String::new(),
        })
    }
}

impl Reads for ObjectReader {
    fn take(&mut self, text: &str, tell: &mut Tell<'_>) {
        let Self {
            names,
            json,
            thought,
            tool,
        } = self;
        json.push(text, &mut |path, text| {
            let name = match path {
                [key] if names.is_step && key == THOUGHT => {
                    return thought.push(text, |text| tell(&Piece::Thought, text));
                }
                [key] if names.is_step && key == TOOL => return tool.push_str(text),
                [args, name] if names.is_step && args == ARGS && names.is_committing(tool) => name,
                [name] if !names.is_step => name,
                _ => return,
            };
            if let Some(piece) = names.output(name) {
                tell(&piece, text);
            }
        });
    }
}
