//! Built-in tools by name, for command lines and configuration files.

use std::sync::Arc;

use super::{Files, ask_user, calculator, current_time, note, read_observation};
use enact_core::signature::instead;
use enact_core::tool::Tools;

/// The names of all built-in tools, except those that need settings.
pub const NAMES: &[&str] = &[
    "ask_user",
    "calculator",
    "current_time",
    "note",
    "read_observation",
    "list_files",
    "read_file",
    "search_files",
    "write_file",
    "append_file",
    "edit_file",
];

/// The names of the tools that need a directory.
pub const FILE_TOOL_NAMES: &[&str] = &[
    "list_files",
    "read_file",
    "search_files",
    "write_file",
    "append_file",
    "edit_file",
];

/// The names of the tools that need settings.
pub const SET_UP_TOOL_NAMES: &[&str] = &["http_get", "shell"];

/// A name without a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PickError {
    /// The tool doesn't exist.
    #[error("unknown tool `{name}`: {}", instead(name, NAMES.iter().chain(SET_UP_TOOL_NAMES).copied()))]
    Unknown {
        /// The name.
        name: String,
    },
    /// The tool needs a directory.
    #[error("the tool `{0}` needs a folder to work in")]
    NeedsFolder(&'static str),
    /// The tool needs settings.
    #[error("the tool `{0}` has to be set up first")]
    NeedsSetUp(&'static str),
}

/// The tools with these names, in this order; repeated names count once.
pub fn pick<'a>(
    names: impl IntoIterator<Item = &'a str>,
    files: Option<&Files>,
) -> Result<Tools, PickError> {
    let mut all = Tools::new()
        .with(ask_user())
        .with(calculator())
        .with(current_time())
        .with(note())
        .with(read_observation());
    if let Some(files) = files {
        all = all.and(files.tools());
    }
    let mut tools = Tools::new();
    for name in names {
        if tools.get(name).is_some() {
            continue;
        }
        tools = match all.get(name) {
            Some(tool) => tools.with_shared(Arc::clone(tool)),
            None => return Err(missing(name)),
        };
    }
    Ok(tools)
}

fn missing(name: &str) -> PickError {
    let among = |names: &[&'static str]| names.iter().copied().find(|known| *known == name);
    match (among(FILE_TOOL_NAMES), among(SET_UP_TOOL_NAMES)) {
        (Some(name), _) => PickError::NeedsFolder(name),
        (_, Some(name)) => PickError::NeedsSetUp(name),
        (None, None) => PickError::Unknown {
            name: name.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_gives_its_tool() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::open(folder.path()).unwrap();
        let tools = pick(NAMES.iter().copied().chain(["calculator"]), Some(&files)).unwrap();
        assert_eq!(tools.names().collect::<Vec<_>>(), NAMES);
    }

    #[test]
    fn what_is_wrong_with_a_name_is_said() {
        assert_eq!(
            pick(["calculater"], None).unwrap_err().to_string(),
            "unknown tool `calculater`: did you mean `calculator`?"
        );
        assert_eq!(
            pick(["zzz"], None).unwrap_err().to_string(),
            "unknown tool `zzz`: there are `ask_user`, `calculator`, `current_time`, `note`, \
             `read_observation`, `list_files`, `read_file`, `search_files`, `write_file`, \
             `append_file`, `edit_file`, `http_get`, `shell`"
        );
        assert_eq!(
            pick(["shell"], None).unwrap_err().to_string(),
            "the tool `shell` has to be set up first"
        );
        assert_eq!(
            pick(["read_file"], None).unwrap_err().to_string(),
            "the tool `read_file` needs a folder to work in"
        );
    }
}
