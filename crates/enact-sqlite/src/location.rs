//! The default location of the store.

use std::ffi::OsString;
use std::path::PathBuf;

/// The default path on a platform with this environment.
pub(crate) fn default_path(
    platform: &str,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    // A relative path would depend on the working directory.
    let folder = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.has_root())
    };
    let data = match platform {
        "windows" => folder("APPDATA"),
        "macos" => folder("HOME").map(|home| home.join("Library/Application Support")),
        _ => {
            folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))
        }
    };
    data.map(|data| data.join("enact/runs.db"))
}
