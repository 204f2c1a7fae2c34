//! The environment of programs started by tools: an allow-list.

use std::ffi::OsString;

/// The variables that every program receives: programs need them, and they contain no
/// secrets.
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
    // Windows programs need these to find their files.
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

/// The variables that a program may see: a few that programs need, and the
/// named ones.
///
/// ```
/// use enact::tool::Environment;
///
/// let environment = Environment::new().allowing(["AWS_PROFILE"]);
/// assert!(environment.allows("AWS_PROFILE") && !environment.allows("AWS_SECRET_ACCESS_KEY"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    named: Vec<String>,
}

impl Environment {
    /// Allows only what programs need.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also allows these variables.
    #[must_use]
    pub fn allowing<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.named.extend(names.into_iter().map(Into::into));
        self
    }

    /// The named variables.
    pub fn named(&self) -> &[String] {
        &self.named
    }

    /// Whether a variable is allowed.
    pub fn allows(&self, name: &str) -> bool {
        ALWAYS.contains(&name) || self.named.iter().any(|named| named == name)
    }

    /// The allowed variables that are set.
    pub fn values(&self) -> Vec<(&str, OsString)> {
        let named = self.named.iter().map(String::as_str);
        let names = ALWAYS.iter().copied().chain(named);
        names
            .filter_map(|name| Some((name, std::env::var_os(name)?)))
            .collect()
    }
}
