//! Writing text.

use std::io;
use std::path::Path;

use super::folder::{Folder, refusal, relative, shown};
use crate::tool::ToolError;

/// The largest file that is written.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Makes a file, or replaces what it holds. Says which.
pub(super) fn replace(folder: &Folder, path: &str, content: &str) -> Result<String, ToolError> {
    if content.len() > MAX_BYTES {
        return Err(ToolError::new(format!(
            "the content is too large: {} bytes, and the limit is {MAX_BYTES}",
            content.len()
        )));
    }
    let path = relative(path)?;
    if path.file_name().is_none() {
        return Err(ToolError::new(format!("`{}` names no file", shown(&path))));
    }
    let refused = |error: io::Error| refusal(&path, &error);
    if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
        // Asked first because making a folder that is a link outwards only says that it exists.
        match folder.dir().metadata(parent) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(refused(io::ErrorKind::NotADirectory.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                folder.dir().create_dir_all(parent).map_err(refused)?;
            }
            Err(error) => return Err(refused(error)),
        }
    }
    let existed = match folder.dir().metadata(&path) {
        Ok(found) if found.is_dir() => {
            return Err(ToolError::new(format!("`{}` is a folder", shown(&path))));
        }
        Ok(found) if !found.is_file() => {
            return Err(ToolError::new(format!("`{}` is not a file", shown(&path))));
        }
        found => found.is_ok(),
    };
    folder.dir().write(&path, content).map_err(refused)?;
    let done = if existed { "replaced" } else { "wrote" };
    Ok(format!(
        "{done} `{}` ({} bytes)",
        shown(&path),
        content.len()
    ))
}
