//! Lists directories.

use std::io;
use std::path::Path;

use cap_std::fs::DirEntry;

use super::folder::{Folder, refusal, relative, shown};
use enact_core::tool::ToolError;

/// The maximum number of names in a result.
const MAX_NAMES: usize = 500;

/// The names in a directory, in order; those of directories end with `/`.
pub(super) fn list(folder: &Folder, path: &str) -> Result<Vec<String>, ToolError> {
    let path = relative(path)?;
    if folder.metadata(&path)?.is_file() {
        return Err(ToolError::new(format!(
            "`{}` is a file: use `read_file` to see what it holds",
            shown(&path)
        )));
    }
    let mut names: Vec<String> = entries(folder, &path)
        .map_err(|error| refusal(&path, &error))?
        .into_iter()
        .map(|(name, kind)| match kind {
            Kind::Folder => format!("{name}/"),
            Kind::File | Kind::Other => name,
        })
        .collect();
    if names.len() > MAX_NAMES {
        let more = names.len() - MAX_NAMES;
        names.truncate(MAX_NAMES);
        names.push(format!("… and {more} more"));
    }
    Ok(names)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    /// A symbolic link, a pipe, a device: never entered.
    Other,
}

/// The entries of a directory by name, in order.
pub(super) fn entries(folder: &Folder, path: &Path) -> io::Result<Vec<(String, Kind)>> {
    let mut entries = Vec::new();
    for entry in folder.dir.read_dir(path)? {
        let entry = entry?;
        entries.push((
            entry.file_name().to_string_lossy().into_owned(),
            kind(&entry)?,
        ));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(entries)
}

fn kind(entry: &DirEntry) -> io::Result<Kind> {
    let kind = entry.file_type()?;
    Ok(if kind.is_dir() {
        Kind::Folder
    } else if kind.is_file() {
        Kind::File
    } else {
        Kind::Other
    })
}
