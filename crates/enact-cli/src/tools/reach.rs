//! How far the tools reach that reach further: said by flags, and noted with the run.

use std::path::PathBuf;

use enact::FnTool;
use enact::tool::builtin::{Shell, Web};
use serde::{Deserialize, Serialize};

use crate::args::ReachArgs;
use crate::exit::Failure;

/// What `http_get` may read and where `shell` works. Holds names of variables, never their values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Reach {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hosts: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    private: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    shell: Option<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shell_env: Vec<String>,
}

impl Reach {
    /// What the flags say.
    pub(crate) fn of(args: &ReachArgs) -> Result<Self, Failure> {
        // The run may be taken up from elsewhere.
        let folder = args.shell_folder.as_ref().map(std::path::absolute);
        let folder = folder.transpose();
        let trimmed = |texts: &[String]| texts.iter().map(|text| text.trim().to_owned()).collect();
        Ok(Self {
            hosts: trimmed(&args.allow_host),
            private: args.allow_private,
            shell: folder.map_err(|error| wrong(error.to_string()))?,
            shell_env: trimmed(&args.shell_env),
        })
    }

    /// Enough to describe every tool, whatever may be used.
    pub(super) fn for_listing(mut self) -> Self {
        self.shell.get_or_insert_with(|| PathBuf::from("."));
        self
    }

    /// Flags for tools that are not handed over are a mistake.
    pub(super) fn check(&self, names: &[&str]) -> Result<(), Failure> {
        let has_hosts = !self.hosts.is_empty() || self.private;
        if has_hosts && !names.contains(&"http_get") {
            let message = "`--allow-host` and `--allow-private` are for the tool `http_get`: hand \
                           it over with `--tools http_get`";
            return Err(wrong(message.to_owned()));
        }
        let has_shell = self.shell.is_some() || !self.shell_env.is_empty();
        if has_shell && !names.contains(&"shell") {
            let message = "`--shell-folder` and `--shell-env` are for the tool `shell`: hand it \
                           over with `--tools shell`";
            return Err(wrong(message.to_owned()));
        }
        if names.contains(&"http_get") && self.hosts.is_empty() {
            let message = "the tool `http_get` may read nothing yet: allow hosts with \
                           `--allow-host HOST` (`*` for any public one)";
            return Err(wrong(message.to_owned()));
        }
        Ok(())
    }

    /// One of the tools that have to be set up.
    pub(super) fn tool(&self, name: &str) -> Result<FnTool, Failure> {
        match name {
            "shell" => self.shell(),
            _ => self.http_get(),
        }
    }

    fn http_get(&self) -> Result<FnTool, Failure> {
        let mut web = Web::new();
        for host in &self.hosts {
            web = web
                .allow_host(host)
                .map_err(|error| wrong(error.to_string()))?;
        }
        if self.private {
            web = web.allow_private();
        }
        Ok(web.http_get())
    }

    fn shell(&self) -> Result<FnTool, Failure> {
        let Some(folder) = &self.shell else {
            let message = "the tool `shell` needs a folder to work in: name it with \
                           `--shell-folder DIR`";
            return Err(wrong(message.to_owned()));
        };
        let shell = Shell::in_folder(folder).map_err(|error| wrong(error.to_string()))?;
        let names = self.shell_env.iter().filter(|name| !name.is_empty());
        Ok(shell.with_variables(names).shell())
    }
}

fn wrong(message: String) -> Failure {
    Failure::usage("tools", message)
}
