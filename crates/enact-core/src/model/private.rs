//! Files and directories that only their owner can read: they contain whole conversations.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file to write to it. A new one is for its owner alone, and an existing one becomes so.
pub fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    let file = options.open(path)?;
    tighten(&file, path);
    Ok(file)
}

/// Removes all permissions for others from a file.
pub(super) fn tighten(file: &File, path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        let open = file.metadata().ok().filter(|found| {
            // A device such as `/dev/stdout` is shared.
            found.is_file() && found.permissions().mode() & 0o077 != 0
        });
        if let Some(found) = open {
            let own = std::fs::Permissions::from_mode(found.permissions().mode() & 0o700);
            if let Err(error) = file.set_permissions(own) {
                let path = path.display();
                tracing::warn!(%error, "others can read `{path}`, and this cannot be changed");
            }
        }
    }
    #[cfg(not(unix))]
    let _ = (file, path);
}

/// Creates a directory and its parents, accessible only to the owner. An existing directory is not
/// changed: it may contain other files.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
