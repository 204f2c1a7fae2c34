//! Shell commands in a directory, with limits. A person is asked first.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use enact_core::model::Secrets;
use enact_core::tool::{Environment, FnTool, ToolError};

use crate::process;

const TIMEOUT: Duration = Duration::from_secs(60);
const MAX_OUTPUT: usize = 20_000;

/// A directory in which an agent can run commands, each after a person approves.
///
/// A command starts in the directory and can leave it: the person who approves it decides what it can do,
/// within the permissions of this process.
///
/// ```no_run
/// # use enact::tool::builtin::{Shell, ShellError};
/// # fn build() -> Result<enact::Tools, ShellError> {
/// let tools = enact::Tools::new().with(Shell::in_folder("project")?.shell());
/// # Ok(tools)
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Shell {
    folder: PathBuf,
    environment: Environment,
    timeout: Duration,
    max_output: usize,
}

/// A directory in which commands cannot run.
#[derive(Debug, thiserror::Error)]
#[error("commands cannot run in `{}`: {source}", folder.display())]
pub struct ShellError {
    folder: PathBuf,
    source: io::Error,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The command, as typed into `sh`. It gets no input.
    command: String,
}

#[derive(Debug, Serialize)]
struct Ran {
    /// None if a signal ended it.
    exit_code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Shell {
    /// Runs commands in this directory.
    ///
    /// # Errors
    /// If the directory doesn't exist.
    pub fn in_folder(folder: impl AsRef<Path>) -> Result<Self, ShellError> {
        let given = folder.as_ref();
        let wrong = |source| ShellError {
            folder: given.to_owned(),
            source,
        };
        let folder = given.canonicalize().map_err(wrong)?;
        if !folder.is_dir() {
            return Err(wrong(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        Ok(Self {
            folder,
            environment: Environment::new(),
            timeout: TIMEOUT,
            max_output: MAX_OUTPUT,
        })
    }

    /// Adds environment variables for commands, besides PATH, HOME and similar.
    #[must_use]
    pub fn with_variables<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.environment = self.environment.allowing(names);
        self
    }

    /// Sets the time limit. Default: 1 minute.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets how many bytes of each output are shown: half from its beginning, half from its end. Default:
    /// 20,000.
    #[must_use]
    pub fn with_max_output(self, bytes: usize) -> Self {
        Self {
            max_output: bytes,
            ..self
        }
    }

    /// The tool `shell`: runs a command, after a person approves.
    pub fn shell(&self) -> FnTool {
        let shell = Arc::new(self.clone());
        FnTool::new(
            "shell",
            "Runs a command in a shell, without input, and gives its exit code and output. A \
             person has to agree first.",
            move |args: Args, context| {
                let shell = Arc::clone(&shell);
                async move { shell.run(&args.command, context.secrets()).await }
            },
        )
        .built_in()
        .require_confirmation()
        .serial()
        .timeout(self.timeout)
    }

    async fn run(&self, command: &str, secrets: &Secrets) -> Result<Ran, ToolError> {
        let (shell, flag) = match cfg!(windows) {
            true => ("cmd", "/C"),
            false => ("sh", "-c"),
        };
        let mut process = Command::new(shell);
        process
            .args([flag, command])
            .current_dir(&self.folder)
            .env_clear()
            .envs(self.environment.values());
        let ended = process::run(process, None, self.max_output).await?;
        Ok(Ran {
            exit_code: ended.status.and_then(|status| status.code()),
            stdout: ended.stdout.text(secrets),
            stderr: ended.stderr.text(secrets),
        })
    }
}
