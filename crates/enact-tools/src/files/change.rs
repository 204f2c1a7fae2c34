//! Previews the change that a call makes to a file.

use std::path::Path;

use enact_core::signature::Values;
use enact_core::tool::ToolError;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::folder::{Folder, relative, shown};
use super::read::text;
use super::{AppendArgs, EditArgs, WriteArgs};

/// The maximum size of a file to edit or compare.
pub(super) const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// A file before and after a call of `write_file`, `append_file` or `edit_file`, for the person who
/// decides on it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileChange {
    /// The path, as in the call.
    pub path: String,
    /// The current content; none if the file doesn't exist.
    pub before: Option<String>,
    /// The new content.
    pub after: String,
}

/// The change that a call would make; none if the tool changes no files.
pub(super) fn of(
    folder: &Folder,
    tool: &str,
    args: &Values,
) -> Result<Option<FileChange>, ToolError> {
    let (path, before, after) = match tool {
        "write_file" => {
            let args: WriteArgs = read(args)?;
            let before = existing(folder, &args.path)?;
            (args.path, before, args.content)
        }
        "append_file" => {
            let args: AppendArgs = read(args)?;
            let before = existing(folder, &args.path)?;
            let after = before.clone().unwrap_or_default() + &args.text;
            (args.path, before, after)
        }
        "edit_file" => {
            let args: EditArgs = read(args)?;
            let before = text(folder, &relative(&args.path)?, MAX_BYTES)?;
            let after = edited(&before, &args)?;
            (args.path, Some(before), after)
        }
        _ => return Ok(None),
    };
    Ok(Some(FileChange {
        path,
        before,
        after,
    }))
}

fn read<T: DeserializeOwned>(args: &Values) -> Result<T, ToolError> {
    let args = Value::Object(args.clone());
    serde_json::from_value(args).map_err(|error| ToolError::new(error.to_string()))
}

/// The text of a file, if it exists.
fn existing(folder: &Folder, path: &str) -> Result<Option<String>, ToolError> {
    let path = relative(path)?;
    match folder.dir.metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        _ => text(folder, &path, MAX_BYTES).map(Some),
    }
}

/// The text with the only match replaced.
pub(super) fn edited(before: &str, args: &EditArgs) -> Result<String, ToolError> {
    let (old, path) = (&args.old_text, shown(Path::new(&args.path)));
    let refused = |message: String| Err(ToolError::new(message));
    if old.is_empty() {
        return refused("`old_text` is empty: give the text to replace, as the file has it".into());
    }
    if *old == args.new_text {
        return refused("`old_text` and `new_text` are the same: nothing would change".into());
    }
    // Overlapping matches count: it is unclear which one is meant.
    let places = before.char_indices();
    let count = places
        .filter(|(at, _)| before[*at..].starts_with(old.as_str()))
        .count();
    match count {
        1 => Ok(before.replacen(old.as_str(), &args.new_text, 1)),
        0 => refused(format!(
            "`old_text` is not in `{path}`: read the file again, and copy the text exactly, with \
             its spaces and line breaks"
        )),
        count => refused(format!(
            "`old_text` is in `{path}` {count} times: add lines before or after it, so that it \
             matches once"
        )),
    }
}
