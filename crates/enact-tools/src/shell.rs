//! Shell commands in a directory, with limits. A person is asked first.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use enact_core::model::Secrets;
use enact_core::tool::{Environment, FnTool, ToolError};

const TIMEOUT: Duration = Duration::from_secs(60);
const MAX_OUTPUT: usize = 20_000;
/// How long the output of an ended command can take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);

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
        let mut process = if cfg!(windows) {
            let mut process = Command::new("cmd");
            process.arg("/C");
            process
        } else {
            let mut process = Command::new("sh");
            process.arg("-c");
            process
        };
        process
            .arg(command)
            .current_dir(&self.folder)
            .env_clear()
            .envs(self.environment.values())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut group = Group::start(process)?;
        let (mut out, mut err) = (Bounded::new(self.max_output), Bounded::new(self.max_output));
        let (stdout, stderr) = (group.0.stdout().take(), group.0.stderr().take());
        let status = {
            let reading = async { tokio::join!(out.read(stdout), err.read(stderr)) };
            let mut reading = std::pin::pin!(reading);
            // Doesn't wait for other processes of the group, which may never end.
            let mut waiting = group.0.inner_mut().wait();
            let mut is_read = false;
            let status = loop {
                tokio::select! {
                    status = &mut waiting => break status,
                    _ = &mut reading, if !is_read => is_read = true,
                }
            };
            // Background processes are ended, and release the pipes.
            drop(waiting);
            drop(group);
            if !is_read {
                // A process that has left the group may keep them open for longer.
                let _ = tokio::time::timeout(LAST_WORDS, reading).await;
            }
            status
        };
        Ok(Ran {
            exit_code: status.ok().as_ref().and_then(ExitStatus::code),
            stdout: out.text(secrets),
            stderr: err.text(secrets),
        })
    }
}

/// The processes of a command. Dropped when it ends, is abandoned or times out: then all are killed.
struct Group(Box<dyn ChildWrapper>);

impl Group {
    fn start(command: Command) -> io::Result<Self> {
        let mut command = CommandWrap::from(command);
        command.wrap(KillOnDrop);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        command.spawn().map(Self)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that has already ended is not an error.
        let _ = self.0.start_kill();
    }
}

/// The beginning and end of an output of any length.
struct Bounded {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
    is_over: bool,
}

impl Bounded {
    fn new(bytes: usize) -> Self {
        Self {
            half: bytes / 2,
            head: Vec::new(),
            tail: VecDeque::new(),
            left_out: 0,
            is_over: false,
        }
    }

    async fn read(&mut self, from: Option<impl AsyncRead + Unpin>) {
        let Some(mut from) = from else { return };
        let mut piece = [0; 8192];
        while !self.is_over {
            match from.read(&mut piece).await {
                Ok(count) if count > 0 => self.take(&piece[..count]),
                _ => self.is_over = true,
            }
        }
    }

    fn take(&mut self, piece: &[u8]) {
        let room = (self.half - self.head.len()).min(piece.len());
        self.head.extend(&piece[..room]);
        self.tail.extend(&piece[room..]);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.left_out += excess as u64;
    }

    /// The output without secrets, which may span the omitted part.
    fn text(mut self, secrets: &Secrets) -> String {
        match self.left_out {
            // Nothing was omitted: a character may span the parts.
            0 => {
                let whole: Vec<u8> = self.head.iter().chain(&self.tail).copied().collect();
                secrets
                    .redact(&String::from_utf8_lossy(&whole))
                    .into_owned()
            }
            bytes => {
                // An incomplete character could hide part of a secret beside it.
                let half = char::REPLACEMENT_CHARACTER;
                let head = String::from_utf8_lossy(&self.head);
                let head = secrets.redact_head(head.trim_end_matches(half));
                let tail = String::from_utf8_lossy(self.tail.make_contiguous());
                let tail = secrets.redact_tail(tail.trim_start_matches(half));
                format!("{head}\n… {bytes} bytes left out …\n{tail}")
            }
        }
    }
}
