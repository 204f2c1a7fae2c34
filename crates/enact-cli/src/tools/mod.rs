//! The built-in tools of the command, and `enact tools`.

mod list;
pub(crate) mod preview;
mod reach;

use std::path::Path;

use enact::Tools;
use enact::tool::builtin::{self, Files, PickError};

pub(crate) use self::list::{execute, show_brief};
pub(crate) use self::reach::Reach;
use crate::agent::Agent;
use crate::exit::Failure;

/// The built-in tools of an agent.
pub(crate) fn own(agent: &Agent) -> Result<Tools, Failure> {
    let folder = agent.own.files.as_ref().map(open_folder).transpose()?;
    let names = agent.own.names();
    agent.own.reach.check(&names)?;
    pick(names, folder.as_ref(), &agent.own.reach)
}

/// The tools with these names, in this order.
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
        tools = match reach.tool(name)? {
            Some(tool) => tools.with(tool),
            None => tools.and(builtin::pick([name], files).map_err(wrong)?),
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
