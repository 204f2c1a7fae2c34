//! Settings for `http_get` and `shell`: set by a file or by flags, and noted with the run.

use std::path::PathBuf;

use clap::Args;
use enact::FnTool;
use enact::tool::builtin::{SET_UP_TOOL_NAMES, Shell, Web};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::args::Time;
use crate::exit::Failure;

/// The settings of `http_get` and `shell`. Contains names of variables, never their values.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Reach {
    #[command(flatten)]
    #[schemars(description = "Settings for the tool `http_get`.")]
    pub(crate) http_get: Option<Pages>,

    #[command(flatten)]
    #[schemars(
        description = "Settings for the tool `shell`. A person is asked before every command."
    )]
    pub(crate) shell: Option<Commands>,
}

/// What `http_get` may read.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["hosts"]))]
pub(crate) struct Pages {
    /// Host that `http_get` may read: a name, `*.name` for all subdomains, `*` for any; add `:PORT` for
    /// ports other than 80 and 443. Can be repeated.
    #[arg(long = "allow-host", value_name = "HOST")]
    #[schemars(
        length(min = 1),
        extend("items" = {"type": "string", "format": "host"}),
        description = "Hosts that may be read from: a name, `*.name` for all below it, `*` for any, \
                       with `:PORT` for\nanother port than 80 and 443."
    )]
    pub(crate) hosts: Vec<String>,

    /// Let `http_get` read private addresses: this machine and its network.
    #[arg(long = "allow-private")]
    #[schemars(
        description = "Whether private addresses may be read: this machine and its network."
    )]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) private: bool,

    /// Time for `http_get` to read a page, including redirects [default: 20s].
    #[arg(id = "http_timeout", long = "http-timeout", value_name = "TIME")]
    pub(crate) timeout: Option<Time>,

    /// Bytes that `http_get` reads of a page [default: 500000].
    #[arg(long = "http-max-bytes", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) max_bytes: Option<u32>,
}

/// Where and how `shell` runs commands.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["folder"]))]
pub(crate) struct Commands {
    /// Directory in which `shell` runs commands.
    #[arg(long = "shell-folder", value_name = "DIR")]
    #[schemars(description = "Directory in which commands run.")]
    pub(crate) folder: Option<PathBuf>,

    /// Environment variables for commands of `shell`, besides PATH, HOME and similar.
    #[arg(long = "shell-env", value_name = "NAME,…", value_delimiter = ',')]
    #[schemars(
        extend("items" = {"type": "string", "format": "variable"}),
        description = "Environment variables for commands, besides PATH, HOME and similar."
    )]
    pub(crate) env: Vec<String>,

    /// Time for a command of `shell` [default: 60s].
    #[arg(id = "shell_timeout", long = "shell-timeout", value_name = "TIME")]
    pub(crate) timeout: Option<Time>,

    /// Bytes of each output of a command that `shell` shows, half from the beginning and half from the
    /// end [default: 20000].
    #[arg(long = "shell-max-output", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) max_output: Option<u32>,
}

impl Reach {
    /// Settings that suffice to describe all tools.
    pub(super) fn for_listing(mut self) -> Self {
        let shell = self.shell.get_or_insert_default();
        shell.folder.get_or_insert_with(|| PathBuf::from("."));
        self
    }

    /// Settings for tools that are not used are a mistake.
    pub(super) fn check(&self, names: &[&str]) -> Result<(), Failure> {
        if self.http_get.is_some() && !names.contains(&"http_get") {
            let message = "`--allow-host`, `--allow-private` and `--http-…` configure the tool \
                           `http_get`: add it with `--tools http_get`";
            return Err(wrong(message.to_owned()));
        }
        if self.shell.is_some() && !names.contains(&"shell") {
            let message = "the flags `--shell-…` configure the tool `shell`: add it with \
                           `--tools shell`";
            return Err(wrong(message.to_owned()));
        }
        let has_hosts = self
            .http_get
            .as_ref()
            .is_some_and(|it| !it.hosts.is_empty());
        if names.contains(&"http_get") && !has_hosts {
            let message = "the tool `http_get` can't read any host yet: allow hosts with \
                           `--allow-host HOST` (`*` for any public one)";
            return Err(wrong(message.to_owned()));
        }
        Ok(())
    }

    /// One of the tools that need settings; none for any other tool.
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
        if let Some(Time(timeout)) = pages.timeout {
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
            let message = "the tool `shell` needs a directory to work in: name it with \
                           `--shell-folder DIR`";
            return Err(wrong(message.to_owned()));
        };
        let mut shell = Shell::in_folder(folder).map_err(|error| wrong(error.to_string()))?;
        shell = shell.with_variables(commands.env);
        if let Some(Time(timeout)) = commands.timeout {
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
