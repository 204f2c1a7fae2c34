//! Replies with native tool calls.

use std::collections::HashMap;

use super::{JsonReader, Live, Names, Piece, Speech, TextReader};
use crate::adapter::task::Task;
use crate::model::Chunk;

/// Reads a step with native calls. The text is the thought.
pub(in crate::adapter) struct CallReader {
    names: Names,
    thought: Speech<TextReader>,
    /// The arguments of the calls that commit.
    commits: HashMap<usize, JsonReader>,
}

impl CallReader {
    pub(in crate::adapter) fn live(task: &Task) -> Box<dyn Live> {
        Box::new(Self {
            names: Names::of(task),
            thought: TextReader::of(Piece::Thought),
            commits: HashMap::new(),
        })
    }
}

impl Live for CallReader {
    fn push(&mut self, chunk: &Chunk, tell: &mut dyn FnMut(&Piece, &str)) {
        let Chunk::Call {
            index,
            name,
            arguments,
            ..
        } = chunk
        else {
            return self.thought.push(chunk, tell);
        };
        if name
            .as_ref()
            .is_some_and(|name| self.names.is_committing(name))
        {
            self.commits.entry(*index).or_default();
        }
        if let Some(json) = self.commits.get_mut(index) {
            self.names.read(json, arguments, tell);
        }
    }
}
