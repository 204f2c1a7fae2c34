//! The MCP servers of an agent file.

use indexmap::IndexMap;

use super::check::Check;
use super::source::below;
use crate::mcp::{Listed, Noted};

/// Parts of the names of variables that hold secrets.
const SECRET: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"];

/// Checks the servers; `None` if there are none.
pub(super) fn check(check: &mut Check<'_>, mut servers: IndexMap<String, Listed>) -> Option<Noted> {
    for (name, server) in &mut servers {
        let pointer = below("/mcp", name);
        check.ways(&pointer, server);
        check.secrets(&pointer, server);
        let Some(command) = &mut server.command else {
            continue;
        };
        // A program with a path is a file, relative to the agent file.
        if command.contains(['/', '\\']) && !command.starts_with("${") {
            *command = check.folder.join(&*command).to_string_lossy().into_owned();
        }
        let folder = server.cwd.take().unwrap_or_default();
        server.cwd = Some(check.folder.join(folder));
    }
    (!servers.is_empty()).then(|| Noted::of_servers(servers))
}

impl Check<'_> {
    /// A server is either started or reached over HTTP, and has only the keys for that.
    fn ways(&mut self, pointer: &str, entry: &Listed) {
        match (&entry.command, &entry.url) {
            (Some(_), Some(_)) => {
                let message = "a server has a `command` or a `url`, not both";
                self.wrong(&below(pointer, "url"), message);
            }
            (None, None) => {
                let message = "say how the server is reached: by `command` or by `url`";
                self.wrong(pointer, message);
            }
            (Some(command), None) => {
                if command.trim().is_empty() {
                    self.wrong(&below(pointer, "command"), "name a program");
                }
                if !entry.headers.is_empty() {
                    self.foreign(pointer, "headers", "url");
                }
            }
            (None, Some(_)) => {
                for (key, is_said) in [
                    ("args", !entry.args.is_empty()),
                    ("env", !entry.env.is_empty()),
                    ("cwd", entry.cwd.is_some()),
                ] {
                    if is_said {
                        self.foreign(pointer, key, "command");
                    }
                }
            }
        }
    }

    fn foreign(&mut self, pointer: &str, key: &str, needs: &str) {
        let message = format!("`{key}` is for servers with a `{needs}`: leave it out");
        self.wrong_key(&below(pointer, key), message);
    }

    /// The log of a run notes its servers, but no secrets.
    fn secrets(&mut self, pointer: &str, entry: &Listed) {
        let is_variable = |value: &str| value.contains("${");
        for (name, value) in &entry.headers {
            if !is_variable(value) {
                let message = format!(
                    "write the value of a header as a variable, such as \"${{NAME}}\": the run notes what is \
                     written here, so `{name}` would be in its log"
                );
                self.wrong(&below(&below(pointer, "headers"), name), message);
            }
        }
        for (name, value) in &entry.env {
            let upper = name.to_uppercase();
            if SECRET.iter().any(|part| upper.contains(part)) && !is_variable(value) {
                let message = format!(
                    "write a secret as a variable, such as \"${{{name}}}\": the run notes what is \
                     written here, so `{name}` would be in its log"
                );
                self.wrong(&below(&below(pointer, "env"), name), message);
            }
        }
        if let Some(index) = crate::mcp::argument_with_secret(&entry.args) {
            let message = "write a secret as a variable, such as \"${NAME}\": the run notes what is \
                           written here, so it would be in its log";
            self.wrong(&format!("{}/{index}", below(pointer, "args")), message);
        }
        let Some(url) = &entry.url else { return };
        if let Err(message) = crate::mcp::check_address(url) {
            self.wrong(&below(pointer, "url"), message);
        } else if crate::mcp::is_in_address(url) {
            let message = "write a secret as a variable, such as \"?key=${NAME}\": the run notes what \
                           is written here, so it would be in its log";
            self.wrong(&below(pointer, "url"), message);
        }
    }
}
