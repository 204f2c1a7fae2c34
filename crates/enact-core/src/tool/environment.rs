//! The environment of the programs that tools start: an allow-list.

use std::ffi::OsString;

/// The variables that a program gets without being asked for: it can hardly do without them, and
/// none holds a secret.
const ALWAYS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TERM",
    "TMPDIR",
    // What programs on Windows need to find their files.
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "TEMP",
    "TMP",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "PATHEXT",
    "COMSPEC",
];

/// The variables of this process that a program may see: a few that programs need, and those that
/// were named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    named: Vec<String>,
}

impl Environment {
    /// Only what programs need.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with these variables, too.
    #[must_use]
    pub fn allowing<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.named.extend(names.into_iter().map(Into::into));
        self
    }

    /// The variables that were named.
    pub fn named(&self) -> &[String] {
        &self.named
    }

    /// Whether a variable may be seen.
    pub fn allows(&self, name: &str) -> bool {
        ALWAYS.contains(&name) || self.named.iter().any(|named| named == name)
    }

    /// The variables that may be seen and are set.
    pub fn values(&self) -> Vec<(&str, OsString)> {
        let named = self.named.iter().map(String::as_str);
        let names = ALWAYS.iter().copied().chain(named);
        names
            .filter_map(|name| Some((name, std::env::var_os(name)?)))
            .collect()
    }
}
