//! Reading text.

use std::path::Path;

use super::folder::{Folder, relative, shown};
use enact_core::model::Secrets;
use enact_core::tool::ToolError;

/// The maximum size of a file.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// The maximum number of lines in a result.
const MAX_LINES: usize = 400;
/// The maximum number of characters in a result.
const MAX_CHARACTERS: usize = 40_000;

/// Lines of a text file without secrets, with a note if there are more.
pub(super) fn lines(
    folder: &Folder,
    path: &str,
    from_line: Option<usize>,
    max_lines: Option<usize>,
    secrets: &Secrets,
) -> Result<String, ToolError> {
    let path = relative(path)?;
    let text = text(folder, &path, MAX_BYTES)?;
    // Before lines are counted: a secret may be longer than what is shown of it.
    let text = secrets.redact(&text);
    let first = from_line.unwrap_or(1).max(1);
    let wanted = max_lines.unwrap_or(MAX_LINES).clamp(1, MAX_LINES);
    let total = text.lines().count();
    if first > total && first > 1 {
        return Err(ToolError::new(format!(
            "`{}` has only {total} lines",
            shown(&path)
        )));
    }
    let mut result = String::new();
    let mut last = first - 1;
    for line in text.split_inclusive('\n').skip(first - 1).take(wanted) {
        let room = MAX_CHARACTERS.saturating_sub(result.chars().count());
        if line.chars().count() > room {
            // A single line that is too long is truncated; other lines wait for the next call.
            if last < first {
                result.extend(line.chars().take(room));
                last += 1;
                let note = format!("\n[line {last} is cut after {MAX_CHARACTERS} characters]");
                result.push_str(&note);
            }
            break;
        }
        result.push_str(line);
        last += 1;
    }
    if last < total {
        let gap = if result.ends_with('\n') { "" } else { "\n" };
        let next = last + 1;
        result.push_str(&format!(
            "{gap}[lines {first} to {last} of {total}; go on with from_line={next}]"
        ));
    }
    Ok(result)
}

/// The content of a text file.
pub(super) fn text(folder: &Folder, path: &Path, limit: u64) -> Result<String, ToolError> {
    let bytes = folder.bytes(path, limit)?;
    let size = bytes.len();
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(ToolError::new(format!(
            "`{}` is a binary file of {size} bytes, not text",
            shown(path)
        ))),
    }
}
