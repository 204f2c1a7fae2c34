//! The MCP servers of an agent file.

use enact_mcp::Pattern;
use indexmap::IndexMap;

use super::check::Check;
use super::file::ServerEntry;
use super::source::below;
use crate::mcp::{Listed, Noted};

/// Parts of the names of variables that hold secrets.
const SECRET: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"];

/// The servers, if there are any.
pub(super) fn check(
    check: &mut Check<'_>,
    entries: &IndexMap<String, ServerEntry>,
) -> Option<Noted> {
    let mut servers = IndexMap::new();
    for (name, entry) in entries {
        let pointer = below("/mcp", name);
        check.ways(&pointer, entry);
        check.secrets(&pointer, entry);
        for (key, patterns) in [("allow", &entry.allow), ("deny", &entry.deny)] {
            for (index, pattern) in patterns.iter().enumerate() {
                if let Err(error) = pattern.parse::<Pattern>() {
                    check.wrong(&format!("{pointer}/{key}/{index}"), error.to_string());
                }
            }
        }
        let timeout = check.time(&below(&pointer, "timeout"), entry.timeout.as_deref());
        // A program with a path is a file, and files are looked for beside the agent.
        let command = entry.command.as_ref().map(|command| {
            let is_path = command.contains(['/', '\\']) && !command.starts_with("${");
            match is_path {
                true => check.path(command.as_ref()).to_string_lossy().into_owned(),
                false => command.clone(),
            }
        });
        let folder = entry.command.as_ref().map(|_| match &entry.cwd {
            Some(folder) => check.path(folder),
            None => check.folder.to_owned(),
        });
        let listed = Listed {
            command,
            args: entry.args.clone(),
            env: entry.env.clone(),
            cwd: folder,
            url: entry.url.clone(),
            headers: entry.headers.clone(),
            allow: entry.allow.clone(),
            deny: entry.deny.clone(),
            timeout,
        };
        servers.insert(name.clone(), listed);
    }
    (!servers.is_empty()).then(|| Noted::of_servers(servers))
}

impl Check<'_> {
    /// A server is started or reached, and has what belongs to that.
    fn ways(&mut self, pointer: &str, entry: &ServerEntry) {
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
                if !entry.args.is_empty() {
                    self.foreign(pointer, "args", "command");
                }
                if !entry.env.is_empty() {
                    self.foreign(pointer, "env", "command");
                }
                if entry.cwd.is_some() {
                    self.foreign(pointer, "cwd", "command");
                }
            }
        }
    }

    fn foreign(&mut self, pointer: &str, key: &str, needs: &str) {
        let message = format!("`{key}` is for servers with a `{needs}`: leave it out");
        let problem = self.source.at_key(&below(pointer, key), message);
        self.problems.push(problem);
    }

    /// The log of a run notes its servers, and it holds no secrets.
    fn secrets(&mut self, pointer: &str, entry: &ServerEntry) {
        let is_variable = |value: &str| value.contains("${");
        for (name, value) in &entry.headers {
            if !is_variable(value) {
                let message = format!(
                    "the value of a header comes from a variable, such as \"${{NAME}}\": the run \
                     notes what is written here, so `{name}` would be in its log"
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
