//! The config directory.

use std::ffi::OsString;
use std::path::PathBuf;

/// A file in the platform's config directory, if that is known.
pub(crate) fn config_file(name: &str) -> Option<PathBuf> {
    let folder = config_folder(std::env::consts::OS, |name| std::env::var_os(name))?;
    Some(folder.join(name))
}

fn config_folder(platform: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative path would depend on the working directory.
    let folder = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.has_root())
    };
    let config = match platform {
        "windows" => folder("APPDATA"),
        "macos" => folder("HOME").map(|home| home.join("Library/Application Support")),
        _ => folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config"))),
    };
    config.map(|config| config.join("enact"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_that_of_the_platform() {
        let with = |pairs: &'static [(&str, &str)]| {
            move |name: &str| {
                let found = pairs.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            }
        };
        let home = with(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "relative")]);
        assert_eq!(
            config_folder("linux", home),
            Some("/h/.config/enact".into())
        );
        let xdg = with(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]);
        assert_eq!(config_folder("linux", xdg), Some("/c/enact".into()));
        let macos = config_folder("macos", home);
        assert_eq!(macos, Some("/h/Library/Application Support/enact".into()));
        assert_eq!(config_folder("linux", with(&[])), None);
    }
}
