//! Finding text.

use std::path::{Path, PathBuf};

use super::folder::{Folder, refusal, relative};
use super::read;
use super::walk::{Kind, entries};
use enact_core::tool::{ToolContext, ToolError};

/// The maximum number of lines in a result.
const MAX_MATCHES: usize = 100;
/// The maximum number of files per search.
const MAX_FILES: usize = 5_000;
/// The maximum size of a file.
const MAX_BYTES: u64 = 2 * 1024 * 1024;
/// The maximum number of characters of a line in a result.
const MAX_CHARACTERS: usize = 200;
/// The maximum depth of directories.
const MAX_DEPTH: usize = 32;

/// Whether case matters.
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
    /// Why the search ended early, if it did.
    stopped: Option<String>,
}

/// The lines that contain a text, as `file:line: text`, and a last item that says if the search is
/// incomplete.
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
        // Errors are only reported for the requested directory: below it, what can't be opened is
        // skipped.
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
                // Hidden directories contain metadata, such as all earlier versions of the files.
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
        // Before anything is truncated or searched: a search must not reveal the contents of a
        // secret.
        let text = &*self.context.redact(text);
        // In full, however long it is: part of a path can't be opened.
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
