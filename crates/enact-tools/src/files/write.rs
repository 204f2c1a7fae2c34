//! Writing text.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use cap_std::fs::OpenOptions;

use super::EditArgs;
use super::change::{self, edited};
use super::folder::{Folder, refusal, relative, shown};
use super::read::text;
use enact_core::tool::ToolError;

/// The maximum size of a write.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Creates a file, or replaces its content. Reports which.
pub(super) fn replace(folder: &Folder, path: &str, content: &str) -> Result<String, ToolError> {
    let place = Place::prepare(folder, path, "content", content)?;
    let written = folder.dir.write(&place.path, content);
    place.told("replaced", content, written)
}

/// Creates a file, or appends to it. Reports which.
pub(super) fn append(folder: &Folder, path: &str, text: &str) -> Result<String, ToolError> {
    let place = Place::prepare(folder, path, "text", text)?;
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    let opened = folder.dir.open_with(&place.path, &options);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    place.told("appended to", text, written)
}

/// Replaces a text that occurs once in a file. Reports the change.
pub(super) fn edit(folder: &Folder, args: &EditArgs) -> Result<String, ToolError> {
    let before = text(folder, &relative(&args.path)?, change::MAX_BYTES)?;
    let after = edited(&before, args)?;
    let place = Place::prepare(folder, &args.path, "edited file", &after)?;
    let written = folder.dir.write(&place.path, &after);
    place.told("edited", &after, written)
}

/// The destination of text.
struct Place {
    path: PathBuf,
    existed: bool,
}

impl Place {
    /// Validates path and text, and creates missing directories.
    fn prepare(folder: &Folder, path: &str, what: &str, text: &str) -> Result<Self, ToolError> {
        if text.len() > MAX_BYTES {
            return Err(ToolError::new(format!(
                "the {what} is too large: {} bytes, and the limit is {MAX_BYTES}",
                text.len()
            )));
        }
        let path = relative(path)?;
        if path.file_name().is_none() {
            return Err(ToolError::new(format!("`{}` names no file", shown(&path))));
        }
        let refused = |error: io::Error| refusal(&path, &error);
        if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
            // Checked first, because creating a directory that is a link outwards only reports that it exists.
            match folder.dir.metadata(parent) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(refused(io::ErrorKind::NotADirectory.into())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    folder.dir.create_dir_all(parent).map_err(refused)?;
                }
                Err(error) => return Err(refused(error)),
            }
        }
        let existed = match folder.dir.metadata(&path) {
            Ok(found) if found.is_dir() => {
                return Err(ToolError::new(format!("`{}` is a folder", shown(&path))));
            }
            Ok(found) if !found.is_file() => {
                return Err(ToolError::new(format!("`{}` is not a file", shown(&path))));
            }
            found => found.is_ok(),
        };
        Ok(Self { path, existed })
    }

    fn told(&self, done: &str, text: &str, written: io::Result<()>) -> Result<String, ToolError> {
        written.map_err(|error| refusal(&self.path, &error))?;
        let done = if self.existed { done } else { "wrote" };
        Ok(format!(
            "{done} `{}` ({} bytes)",
            shown(&self.path),
            text.len()
        ))
    }
}
