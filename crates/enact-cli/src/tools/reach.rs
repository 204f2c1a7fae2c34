//! How far the tools reach that reach further: said by a file or by flags, and noted with the run.

use std::path::PathBuf;
use std::time::Duration;

use enact::FnTool;
use enact::tool::builtin::{SET_UP_TOOL_NAMES, Shell, Web};
use serde::{Deserialize, Serialize};

use crate::args::ReachArgs;
use crate::exit::Failure;

/// What `http_get` may read and where `shell` works. Holds names of variables, never their values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Reach {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) http_get: Option<Pages>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shell: Option<Commands>,
}

/// What `http_get` may read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Pages {
    pub(crate) hosts: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) private: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_bytes: Option<u32>,
}

/// Where and how `shell` works.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Commands {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) folder: Option<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) env: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_output: Option<u32>,
}

impl Reach {
    /// The same under flags, which win.
    pub(crate) fn with_flags(mut self, args: &ReachArgs) -> Result<Self, Failure> {
        let trimmed = |texts: &[String]| -> Vec<String> {
            let texts = texts.iter().map(|text| text.trim().to_owned());
            texts.filter(|text| !text.is_empty()).collect()
        };
        let hosts = trimmed(&args.allow_host);
        if !hosts.is_empty() {
            self.http_get.get_or_insert_default().hosts = hosts;
        }
        if args.allow_private {
            self.http_get.get_or_insert_default().private = true;
        }
        if let Some(folder) = &args.shell_folder {
            // The run may be taken up from elsewhere.
            let folder = std::path::absolute(folder).map_err(|error| wrong(error.to_string()))?;
            self.shell.get_or_insert_default().folder = Some(folder);
        }
        let env = trimmed(&args.shell_env);
        if !env.is_empty() {
            self.shell.get_or_insert_default().env = env;
        }
        Ok(self)
    }

    /// Only what these tools reach.
    pub(crate) fn only_for(&mut self, names: &[&str]) {
        self.http_get.take_if(|_| !names.contains(&"http_get"));
        self.shell.take_if(|_| !names.contains(&"shell"));
    }

    /// Enough to describe every tool, whatever may be used.
    pub(super) fn for_listing(mut self) -> Self {
        let shell = self.shell.get_or_insert_default();
        shell.folder.get_or_insert_with(|| PathBuf::from("."));
        self
    }

    /// Words about tools that are not handed over are a mistake.
    pub(super) fn check(&self, names: &[&str]) -> Result<(), Failure> {
        if self.http_get.is_some() && !names.contains(&"http_get") {
            let message = "`--allow-host` and `--allow-private` are for the tool `http_get`: hand \
                           it over with `--tools http_get`";
            return Err(wrong(message.to_owned()));
        }
        if self.shell.is_some() && !names.contains(&"shell") {
            let message = "`--shell-folder` and `--shell-env` are for the tool `shell`: hand it \
                           over with `--tools shell`";
            return Err(wrong(message.to_owned()));
        }
        let has_hosts = self
            .http_get
            .as_ref()
            .is_some_and(|it| !it.hosts.is_empty());
        if names.contains(&"http_get") && !has_hosts {
            let message = "the tool `http_get` may read nothing yet: allow hosts with \
                           `--allow-host HOST` (`*` for any public one)";
            return Err(wrong(message.to_owned()));
        }
        Ok(())
    }

    /// One of the tools that have to be set up; none if there is no such tool.
    pub(super) fn tool(&self, name: &str) -> Result<Option<FnTool>, Failure> {
        match name {
            "http_get" => self.http_get().map(Some),
            "shell" => self.shell().map(Some),
            _ => {
                debug_assert!(!SET_UP_TOOL_NAMES.contains(&name), "{name}");
                Ok(None)
            }
        }
    }

    fn http_get(&self) -> Result<FnTool, Failure> {
        let pages = self.http_get.clone().unwrap_or_default();
        let mut web = Web::new();
        for host in &pages.hosts {
            web = web
                .allow_host(host)
                .map_err(|error| wrong(error.to_string()))?;
        }
        if pages.private {
            web = web.allow_private();
        }
        if let Some(timeout) = pages.timeout {
            web = web.with_timeout(timeout);
        }
        if let Some(bytes) = pages.max_bytes {
            web = web.with_max_bytes(bytes as usize);
        }
        Ok(web.http_get())
    }

    fn shell(&self) -> Result<FnTool, Failure> {
        let commands = self.shell.clone().unwrap_or_default();
        let Some(folder) = &commands.folder else {
            let message = "the tool `shell` needs a folder to work in: name it with \
                           `--shell-folder DIR`";
            return Err(wrong(message.to_owned()));
        };
        let mut shell = Shell::in_folder(folder).map_err(|error| wrong(error.to_string()))?;
        shell = shell.with_variables(commands.env);
        if let Some(timeout) = commands.timeout {
            shell = shell.with_timeout(timeout);
        }
        if let Some(bytes) = commands.max_output {
            shell = shell.with_max_output(bytes as usize);
        }
        Ok(shell.shell())
    }
}

fn wrong(message: String) -> Failure {
    Failure::usage("tools", message)
}
