//! The handle of the directory, and its errors.

use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use cap_std::fs::{Dir, File, Metadata};

use enact_core::tool::ToolError;

/// The maximum length of a path in a message.
const SHOWN: usize = 120;

/// A directory that tools can't leave.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) dir: Dir,
}

impl Folder {
    /// The metadata of a path, following symbolic links.
    pub(super) fn metadata(&self, path: &Path) -> Result<Metadata, ToolError> {
        self.dir
            .metadata(path)
            .map_err(|error| refusal(path, &error))
    }

    /// The bytes of a file, unless it is larger than `limit`.
    pub(super) fn bytes(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ToolError> {
        let metadata = self.metadata(path)?;
        if metadata.is_dir() {
            let shown = shown(path);
            return Err(ToolError::new(format!(
                "`{shown}` is a folder: use `list_files` to see what is in it"
            )));
        }
        // A pipe or a device may never end.
        if !metadata.is_file() {
            return Err(ToolError::new(format!("`{}` is not a file", shown(path))));
        }
        let file = self.dir.open(path).map_err(|error| refusal(path, &error))?;
        read_within(file, limit)
            .map_err(|error| refusal(path, &error))?
            .ok_or_else(|| {
                ToolError::new(format!(
                    "`{}` is too large to be read: {} bytes, and the limit is {limit}",
                    shown(path),
                    metadata.len()
                ))
            })
    }
}

/// The size was checked before, but a file may grow while it is read.
fn read_within(file: File, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// A path as the model wrote it, without parts that would accidentally point elsewhere.
pub(super) fn relative(path: &str) -> Result<PathBuf, ToolError> {
    let trimmed = path.trim();
    if trimmed.contains('\0') {
        return Err(ToolError::new("a path cannot hold a zero character"));
    }
    let path = Path::new(if trimmed.is_empty() { "." } else { trimmed });
    if path
        .components()
        .any(|part| matches!(part, Component::Prefix(_) | Component::RootDir))
    {
        return Err(ToolError::new(format!(
            "`{}` is absolute: give a path inside the folder, such as `notes/today.txt`",
            shown(path)
        )));
    }
    Ok(path.to_owned())
}

/// Why a path was rejected, with a helpful message that names nothing outside the directory.
pub(super) fn refusal(path: &Path, error: &io::Error) -> ToolError {
    let path = shown(path);
    // A rejected escape has no system error of its own.
    let is_escape =
        error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none();
    ToolError::new(match error.kind() {
        io::ErrorKind::NotFound => {
            format!("there is no `{path}`: use `list_files` to see what there is")
        }
        io::ErrorKind::PermissionDenied if is_escape => {
            format!("`{path}` leads out of the folder, where nothing can be reached")
        }
        io::ErrorKind::PermissionDenied => format!("`{path}` may not be opened"),
        io::ErrorKind::NotADirectory => format!("`{path}` is no folder, or runs through a file"),
        io::ErrorKind::IsADirectory => format!("`{path}` is a folder"),
        kind => format!("`{path}` cannot be opened: {kind}"),
    })
}

/// A path for messages, truncated.
pub(super) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = text.replace('\\', "/");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
