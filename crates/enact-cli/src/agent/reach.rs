//! What an agent file says of the tools that reach further, and of what is secret.

use enact::tool::builtin::{Shell, Web};

use super::check::Check;
use super::file::{AgentFile, PagesEntry, ShellEntry};
use super::source::below;
use crate::tools::{Commands, Pages, Reach};

impl Check<'_> {
    /// How far `http_get` and `shell` reach.
    pub(super) fn reach(&mut self, file: &AgentFile) -> Reach {
        self.is_set_up(file, "http_get", file.http_get.is_some(), "hosts");
        self.is_set_up(file, "shell", file.shell.is_some(), "folder");
        Reach {
            http_get: file.http_get.as_ref().map(|entry| self.pages(entry)),
            shell: file.shell.as_ref().map(|entry| self.commands(entry)),
        }
    }

    /// A tool that reaches further is handed over and set up, or neither.
    fn is_set_up(&mut self, file: &AgentFile, name: &str, has_table: bool, key: &str) {
        match file.tools.iter().position(|tool| tool == name) {
            Some(index) if !has_table => {
                let message = format!(
                    "the tool `{name}` has to be told how far it reaches: say `{key}` under \
                     `[{name}]`"
                );
                self.wrong(&format!("/tools/{index}"), message);
            }
            None if has_table => {
                let message = format!(
                    "`[{name}]` is for the tool `{name}`, which is not handed over: name it in \
                     `tools`"
                );
                let problem = self.source.at_key(&below("", name), message);
                self.problems.push(problem);
            }
            _ => {}
        }
    }

    fn pages(&mut self, entry: &PagesEntry) -> Pages {
        for (index, host) in entry.hosts.iter().enumerate() {
            if let Err(error) = Web::new().allow_host(host) {
                self.wrong(&format!("/http_get/hosts/{index}"), error.to_string());
            }
        }
        Pages {
            hosts: entry.hosts.clone(),
            private: entry.private.unwrap_or_default(),
            timeout: self.time("/http_get/timeout", entry.timeout.as_deref()),
            max_bytes: entry.max_bytes,
        }
    }

    fn commands(&mut self, entry: &ShellEntry) -> Commands {
        let folder = self.path(&entry.folder);
        if let Err(error) = Shell::in_folder(&folder) {
            self.wrong("/shell/folder", error.to_string());
        }
        self.variables("/shell/env", &entry.env);
        Commands {
            folder: Some(folder),
            env: entry.env.clone(),
            timeout: self.time("/shell/timeout", entry.timeout.as_deref()),
            max_output: entry.max_output,
        }
    }

    /// Names of variables, whose values are none of the file's business.
    pub(super) fn variables(&mut self, pointer: &str, names: &[String]) {
        for (index, name) in names.iter().enumerate() {
            let is_name = !name.is_empty()
                && !name.starts_with(|first: char| first.is_ascii_digit())
                && name
                    .chars()
                    .all(|one| one.is_ascii_alphanumeric() || one == '_');
            if !is_name {
                let message = "give the name of a variable of the environment, such as \
                               DOOR_PASSWORD, and not its value";
                self.wrong(&format!("{pointer}/{index}"), message);
            }
        }
    }
}
