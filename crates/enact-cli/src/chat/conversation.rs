//! The turns of a conversation so far.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use enact::__private::open_private;
use enact::model::Part;
use enact::run::Entry;
use enact::{History, Values};
use serde_json::Value;

/// The turns that the model sees. Removing one doesn't change its stored run.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    history: History,
}

impl From<History> for Conversation {
    fn from(history: History) -> Self {
        Self { history }
    }
}

impl Conversation {
    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// The number of turns.
    pub(super) fn turns(&self) -> usize {
        let entries = self.history.entries().iter();
        entries.filter(|entry| opening(entry).is_some()).count()
    }

    /// Removes the last turn and returns its first input. A history only grows, so everything before its
    /// last turn is the history at that time.
    pub(super) fn undo(&mut self) -> Option<String> {
        let (said, _) = self.take_back()?;
        Some(said)
    }

    /// Like `undo`, but returns the inputs of the turn; none for a turn from another
    /// program.
    pub(super) fn take_back(&mut self) -> Option<(String, Option<Values>)> {
        let entries = self.history.entries();
        let (position, said) = entries
            .iter()
            .enumerate()
            .rev()
            .find_map(|(position, entry)| Some((position, opening(entry)?)))?;
        let inputs = match &entries[position] {
            Entry::Inputs { values } => Some(values.clone()),
            _ => None,
        };
        self.history = History::from(entries[..position].to_vec());
        Some((said, inputs))
    }
}

/// The text of the user, if the entry starts a turn.
fn opening(entry: &Entry) -> Option<String> {
    match entry {
        Entry::Inputs { values } => Some(match values.values().next() {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        }),
        Entry::User { parts } => Some(match parts.first() {
            Some(Part::Text(text)) => text.clone(),
            _ => "(a picture)".to_owned(),
        }),
        _ => None,
    }
}

/// Writes a history to a file, for `--history`, and returns its absolute path.
pub(super) fn save(history: &History, file: &Path, replaces: bool) -> Result<PathBuf, String> {
    let write = || -> io::Result<PathBuf> {
        let text = serde_json::to_string(history)?;
        let mut options = OpenOptions::new();
        options.write(true);
        if replaces {
            options.create(true).truncate(true);
        } else {
            options.create_new(true);
        }
        // It holds what was said, which is nobody else's business.
        let mut opened = open_private(&mut options, file)?;
        opened.write_all(text.as_bytes())?;
        opened.write_all(b"\n")?;
        std::path::absolute(file)
    };
    write().map_err(|error| {
        let place = file.display();
        match error.kind() {
            io::ErrorKind::AlreadyExists => {
                format!("`{place}` already exists: name another file, or `/save! {place}`")
            }
            _ => format!("`{place}` cannot be written: {error}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn conversation(entries: Value) -> Conversation {
        Conversation::from(serde_json::from_value::<History>(entries).unwrap())
    }

    #[test]
    fn undo_goes_back_to_the_beginning() {
        let first = json!([
            {"type": "system", "text": "Be brief."},
            {"type": "user", "parts": [{"text": "hello"}]},
            {"type": "assistant", "text": "hi"},
        ]);
        let mut all = first.clone();
        all.as_array_mut().unwrap().extend([
            json!({"type": "inputs", "values": {"question": "one", "k": 3}}),
            json!({"type": "assistant", "text": "t", "calls": [{"id": "1", "name": "f", "args": {}}]}),
            json!({"type": "results", "results": [{"call_id": "1", "name": "f", "value": 1}]}),
            json!({"type": "summary", "text": "s", "covers": 2}),
            json!({"type": "outputs", "values": {"answer": "a"}}),
        ]);
        let mut conversation = conversation(all);
        assert_eq!(conversation.turns(), 2);
        assert_eq!(conversation.undo().as_deref(), Some("one"));
        assert_eq!(serde_json::to_value(conversation.history()).unwrap(), first);
        assert_eq!(conversation.undo().as_deref(), Some("hello"));
        assert_eq!(conversation.undo(), None);
        assert_eq!(conversation.turns(), 0);
        // What the conversation is under stays.
        assert_eq!(conversation.history().entries().len(), 1);
    }

    #[test]
    fn a_file_is_replaced_only_when_told_to() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("saved.json");
        let kept = conversation(json!([{"type": "inputs", "values": {"q": "x"}}]));
        assert_eq!(save(kept.history(), &file, false), Ok(file.clone()));
        let problem = save(&History::new(), &file, false).unwrap_err();
        assert!(problem.contains("already exists"), "{problem}");
        let read = || std::fs::read_to_string(&file).unwrap();
        assert_eq!(
            serde_json::from_str::<History>(&read()).unwrap(),
            *kept.history()
        );
        assert!(save(&History::new(), &file, true).is_ok());
        assert_eq!(read(), "[]\n");
        let nowhere = folder.path().join("no/such/folder");
        let problem = save(&History::new(), &nowhere, false).unwrap_err();
        assert!(problem.contains("cannot be written"), "{problem}");
    }
}
