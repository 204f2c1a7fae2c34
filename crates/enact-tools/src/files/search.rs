//! Finding text.

use std::path::{Path, PathBuf};

use super::folder::{Folder, refusal, relative};
use super::read;
use super::walk::{Kind, entries};
use enact_core::tool::{ToolContext, ToolError};

/// The most lines in one result.
const MAX_MATCHES: usize = 100;
/// The most files that one search opens.
const MAX_FILES: usize = 5_000;
/// The largest file that is searched.
const MAX_BYTES: u64 = 2 * 1024 * 1024;
/// The most characters of a line that a result repeats.
const MAX_CHARACTERS: usize = 200;
/// How deep folders are searched.
const MAX_DEPTH: usize = 32;

/// Whether upper and lower case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Differs,
    Ignored,
}

struct Search<'a> {
    folder: &'a Folder,
    needle: String,
    case: Case,
    context: &'a ToolContext,
    found: Vec<String>,
    opened: usize,
    /// Why the search ended before its end, if it did.
    stopped: Option<String>,
}

/// The lines that hold a text, as `file:line: text`, and a last item that says so when the search
/// did not come to its end.
pub(super) fn find(
    folder: &Folder,
    path: &str,
    text: &str,
    case: Case,
    context: &ToolContext,
) -> Result<Vec<String>, ToolError> {
    if text.is_empty() {
        return Err(ToolError::new("`text` is empty: give the text to look for"));
    }
    let path = relative(path)?;
    let mut search = Search {
        folder,
        needle: match case {
            Case::Differs => text.to_owned(),
            Case::Ignored => text.to_lowercase(),
        },
        case,
        context,
        found: Vec::new(),
        opened: 0,
        stopped: None,
    };
    if folder.metadata(&path)?.is_dir() {
        // Named errors only for the folder that was asked for: below it, what cannot be opened
        // is passed over.
        entries(folder, &path).map_err(|error| refusal(&path, &error))?;
        search.walk(&path, 0);
    } else {
        let text = read::text(folder, &path, MAX_BYTES)?;
        search.lines(&path, &text);
    }
    search.found.extend(search.stopped);
    Ok(search.found)
}

impl Search<'_> {
    fn walk(&mut self, path: &Path, depth: usize) {
        let Ok(entries) = entries(self.folder, path) else {
            return;
        };
        for (name, kind) in entries {
            if self.context.is_cancelled() {
                self.stopped = Some("… the search was cancelled".to_owned());
            }
            if self.stopped.is_some() {
                return;
            }
            let below = below(path, &name);
            match kind {
                // Hidden folders hold bookkeeping, such as all earlier versions of the files.
                Kind::Folder if name.starts_with('.') || depth == MAX_DEPTH => {}
                Kind::Folder => self.walk(&below, depth + 1),
                Kind::File => self.file(&below),
                Kind::Other => {}
            }
        }
    }

    fn file(&mut self, path: &Path) {
        if self.opened == MAX_FILES {
            self.stopped = Some(format!(
                "… stopped after {MAX_FILES} files: search in a smaller folder"
            ));
            return;
        }
        self.opened += 1;
        if let Ok(text) = read::text(self.folder, path, MAX_BYTES) {
            self.lines(path, &text);
        }
    }

    fn lines(&mut self, path: &Path, text: &str) {
        // Before anything is cut, and before it is searched: a search must not tell what is in a
        // secret.
        let text = &*self.context.redact(text);
        // Whole, however long it is: nobody can open half a path.
        let file = path.to_string_lossy().replace('\\', "/");
        for (number, line) in (1..).zip(text.lines()) {
            let is_match = match self.case {
                Case::Differs => line.contains(&self.needle),
                Case::Ignored => line.to_lowercase().contains(&self.needle),
            };
            if !is_match {
                continue;
            }
            if self.found.len() == MAX_MATCHES {
                self.stopped = Some(format!(
                    "… stopped after {MAX_MATCHES} lines: look for a longer text"
                ));
                return;
            }
            let line = line.trim();
            let shown: String = line.chars().take(MAX_CHARACTERS).collect();
            let cut = if shown.len() < line.len() { "…" } else { "" };
            self.found.push(format!("{file}:{number}: {shown}{cut}"));
        }
    }
}

fn below(path: &Path, name: &str) -> PathBuf {
    if path == Path::new(".") {
        PathBuf::from(name)
    } else {
        path.join(name)
    }
}
