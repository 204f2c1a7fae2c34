//! Describes how to reach a server, and which tools to use.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use crate::process::Program;
use crate::{Environment, Error, Pattern, Server};

/// The default time limit for starting: the first start of `npx` or `uvx` downloads packages.
const START: Duration = Duration::from_secs(60);
/// The default time limit of a call.
const CALL: Duration = Duration::from_secs(60);

/// How to reach a server, and which of its tools to use. [`connect`](Mcp::connect) returns a [`Server`].
///
/// ```
/// use std::time::Duration;
/// use enact_mcp::Mcp;
///
/// let git = Mcp::stdio("uvx", ["mcp-server-git"])
///     .name("git")
///     .allow(["git_log", "git_diff*"])?
///     .timeout(Duration::from_secs(10));
/// let search = Mcp::http("https://search.example/mcp")
///     .header("Authorization", "Bearer …");
/// # let _ = (git, search);
/// # Ok::<_, enact_mcp::EmptyPattern>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mcp {
    pub(crate) name: Option<String>,
    pub(crate) way: Way,
    /// The entry in a configuration file, before variables were replaced.
    pub(crate) written: Option<String>,
    pub(crate) environment: Environment,
    pub(crate) allow: Vec<Pattern>,
    pub(crate) deny: Vec<Pattern>,
    pub(crate) timeout: Duration,
    pub(crate) start_timeout: Duration,
}

/// How to reach a server.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// Start it, and communicate over its standard input and output.
    Stdio(Program),
    /// It runs elsewhere.
    Http {
        url: String,
        headers: HashMap<String, SecretString>,
    },
}

impl Mcp {
    /// A server that is started as a process, with communication over standard input and output. The
    /// command is a program and its arguments; there is no shell.
    pub fn stdio<A: Into<String>>(
        command: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        Self::new(Way::Stdio(Program {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            folder: None,
            variables: Vec::new(),
        }))
    }

    /// A server at an address, over streamable HTTP.
    pub fn http(url: impl Into<String>) -> Self {
        Self::new(Way::Http {
            url: url.into(),
            headers: HashMap::new(),
        })
    }

    /// Whether the server is reached over HTTP, and not started as a process.
    pub fn is_remote(&self) -> bool {
        matches!(self.way, Way::Http { .. })
    }

    fn new(way: Way) -> Self {
        Self {
            name: None,
            way,
            written: None,
            environment: Environment::new(),
            allow: Vec::new(),
            deny: Vec::new(),
            timeout: CALL,
            start_timeout: START,
        }
    }

    /// Sets the name for errors, and for prefixes of tool names that are taken. Default: the name that the
    /// server reports.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..self
        }
    }

    /// Sets the variables of this process that the server may see. Has no effect on a server that runs
    /// elsewhere.
    #[must_use]
    pub fn environment(self, environment: Environment) -> Self {
        Self {
            environment,
            ..self
        }
    }

    /// Sets an environment variable for the server. Has no effect on a server that runs elsewhere.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Way::Stdio(program) = &mut self.way {
            let value = SecretString::from(value.into());
            program.variables.push((name.into(), value));
        }
        self
    }

    /// Sets the working directory of the server. Default: that of this process. Has no effect on a
    /// server that runs elsewhere.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Way::Stdio(program) = &mut self.way {
            program.folder = Some(folder.into());
        }
        self
    }

    /// Sets the working directory, unless it is already set.
    #[must_use]
    pub fn folder_unless_set(self, folder: impl Into<PathBuf>) -> Self {
        match &self.way {
            Way::Stdio(program) if program.folder.is_none() => self.folder(folder),
            _ => self,
        }
    }

    /// Adds a header to every request. Has no effect on a server that is a process.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Way::Http { headers, .. } = &mut self.way {
            headers.insert(name.into(), SecretString::from(value.into()));
        }
        self
    }

    /// Uses only tools that match one of these patterns. Default: all. Patterns apply to the server's own
    /// names, and `*` matches any characters.
    pub fn allow<'a>(
        mut self,
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, crate::EmptyPattern> {
        for pattern in patterns {
            self.allow.push(pattern.parse()?);
        }
        Ok(self)
    }

    /// Excludes tools that match one of these patterns, even if they are allowed.
    pub fn deny<'a>(
        mut self,
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, crate::EmptyPattern> {
        for pattern in patterns {
            self.deny.push(pattern.parse()?);
        }
        Ok(self)
    }

    /// Sets the time limit of a call. Default: 1 minute.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the time limit for starting. Default: 1 minute.
    #[must_use]
    pub fn start_timeout(self, start_timeout: Duration) -> Self {
        Self {
            start_timeout,
            ..self
        }
    }

    /// Starts the server, or connects to it, and lists its tools.
    pub async fn connect(self) -> Result<Server, Error> {
        Server::connect(self).await
    }

    /// The name in errors before the server has reported its own.
    pub fn label(&self) -> String {
        match (&self.name, &self.way) {
            (Some(name), _) => name.clone(),
            (None, Way::Stdio(program)) => {
                let words = std::iter::once(&program.command).chain(&program.args);
                let words: Vec<&str> = words.map(String::as_str).collect();
                words.join(" ")
            }
            (None, Way::Http { url, .. }) => url.clone(),
        }
    }

    /// The name in errors, with the command as it was written.
    pub(crate) fn described(&self) -> String {
        let label = self.label();
        match &self.way {
            Way::Stdio(program) if self.name.is_some() => {
                let words = std::iter::once(&program.command).chain(&program.args);
                let words: Vec<&str> = words.map(String::as_str).collect();
                let command = words.join(" ");
                let command = self.written.as_deref().unwrap_or(&command);
                format!("`{label}` (`{command}`)")
            }
            _ => format!("`{label}`"),
        }
    }

    pub(crate) fn uses(&self, tool: &str) -> bool {
        let allowed = self.allow.is_empty() || self.allow.iter().any(|one| one.matches(tool));
        allowed && !self.deny.iter().any(|one| one.matches(tool))
    }
}
