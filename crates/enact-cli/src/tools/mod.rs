//! The tools that the command has itself, and `enact tools`.

mod list;
mod reach;

use std::path::{Path, PathBuf};

use enact::Tools;
use enact::tool::builtin::{self, FILE_TOOL_NAMES, Files, PickError, SET_UP_TOOL_NAMES};

pub(crate) use self::list::execute;
pub(crate) use self::reach::Reach;
use crate::exit::Failure;

/// The tools of these names, those of a folder if there is one.
pub(crate) fn chosen(
    names: &[String],
    files: Option<&PathBuf>,
    reach: &Reach,
) -> Result<Tools, Failure> {
    let folder = files.map(open_folder).transpose()?;
    let named = names.iter().map(|name| name.trim());
    let mut names: Vec<&str> = named.filter(|name| !name.is_empty()).collect();
    // A folder without a word on how to use it is there to be used.
    if folder.is_some() && !names.iter().any(|name| FILE_TOOL_NAMES.contains(name)) {
        names.extend(FILE_TOOL_NAMES);
    }
    reach.check(&names)?;
    pick(names, folder.as_ref(), reach)
}

/// The tools of these names, in this order.
pub(crate) fn pick(
    names: Vec<&str>,
    files: Option<&Files>,
    reach: &Reach,
) -> Result<Tools, Failure> {
    let mut tools = Tools::new();
    for name in names {
        if tools.get(name).is_some() {
            continue;
        }
        tools = match SET_UP_TOOL_NAMES.contains(&name) {
            true => tools.with(reach.tool(name)?),
            false => tools.and(builtin::pick([name], files).map_err(wrong)?),
        };
    }
    Ok(tools)
}

pub(crate) fn open_folder(path: impl AsRef<Path>) -> Result<Files, Failure> {
    Files::open(path).map_err(|error| Failure::usage("files", error.to_string()))
}

fn wrong(error: PickError) -> Failure {
    let message = match &error {
        PickError::NeedsFolder(_) => format!("{error}: name it with `--files DIR`"),
        _ => error.to_string(),
    };
    Failure::usage("tools", message)
}
