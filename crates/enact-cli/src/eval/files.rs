//! The files that an evaluation reads and writes.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use enact::__private::open_private;
use serde::Serialize;

use crate::exit::Failure;

/// The text of a file.
pub(super) fn read(path: &Path, what: &str) -> Result<String, Failure> {
    let shown = path.display();
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::usage("file", format!("{what} `{shown}` cannot be read: {error}"))
    })?;
    String::from_utf8(bytes)
        .map_err(|_| Failure::usage("file", format!("{what} `{shown}` is not UTF-8 text")))
}

/// Checks that a file can be written, before anything costs money, and that it is not one of the
/// input files.
pub(super) fn check_writable(path: &Path, read: &[&Path]) -> Result<(), Failure> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let shown = path.display();
    let wrong = |problem: &str| Err(Failure::usage("file", format!("`{shown}` {problem}")));
    if path.is_dir() {
        return wrong("is a folder: name a file");
    }
    if !folder.is_dir() {
        return wrong("is in a directory that doesn't exist: create it first");
    }
    let is_same = |other: &&Path| match (path.canonicalize(), other.canonicalize()) {
        (Ok(path), Ok(other)) => path == other,
        _ => path == *other,
    };
    if read.iter().any(is_same) {
        return wrong("is read here, and would be overwritten: name another file");
    }
    Ok(())
}

/// Writes a file for its owner alone: it has what models said in it.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let shown = path.display();
    let failed = |error: std::io::Error| {
        Failure::failed("file", format!("`{shown}` cannot be written: {error}"))
    };
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    let mut file = open_private(&mut options, path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

/// A value as JSON for a file.
pub(super) fn json(value: &impl Serialize) -> Result<String, Failure> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::failed("file", error.to_string()))?;
    text.push('\n');
    Ok(text)
}
