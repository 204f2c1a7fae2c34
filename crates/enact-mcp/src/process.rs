//! A server that runs as a process: its process group, output and exit.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long a server can take to exit after its input is closed.
const GRACE: Duration = Duration::from_secs(2);
/// How many of the last lines on standard error are kept, and how much of each.
const KEPT_LINES: usize = 8;
const KEPT_BYTES: u64 = 1000;

/// The process to start.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) folder: Option<PathBuf>,
    /// Environment variables besides those of the allow-list.
    pub(crate) variables: Vec<(String, SecretString)>,
}

/// A process in a group of its own. When it is dropped, the whole group is killed.
#[derive(Debug)]
pub(crate) struct Process {
    group: Group,
    gone: CancellationToken,
    words: Words,
}

/// The pipes of the server.
pub(crate) type Pipes = (ChildStdout, ChildStdin);

impl Process {
    pub(crate) fn start(
        program: &Program,
        environment: &crate::Environment,
        words: &Words,
    ) -> std::io::Result<(Self, Pipes)> {
        let variables = program.variables.iter();
        let variables = variables.map(|(name, value)| (name, value.expose_secret()));
        let mut command = Command::new(&program.command);
        command
            .args(&program.args)
            .env_clear()
            .envs(environment.values())
            .envs(variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(folder) = &program.folder {
            command.current_dir(folder);
        }
        let mut child = grouped(command).spawn()?;
        let lost = || std::io::Error::other("the pipes of the process are missing");
        let stdin = child.stdin().take().ok_or_else(lost)?;
        let stdout = child.stdout().take().ok_or_else(lost)?;
        let stderr = child.stderr().take().ok_or_else(lost)?;
        words.forget();
        let words = words.clone();
        let listening = tokio::spawn(listen(stderr, words.clone()));
        let process = Self {
            group: Group(Arc::new(Mutex::new(child))),
            gone: CancellationToken::new(),
            words,
        };
        tokio::spawn(watch(
            process.group.clone(),
            process.gone.clone(),
            process.words.clone(),
            listening,
        ));
        Ok((process, (stdout, stdin)))
    }

    /// Waits until the process exits, and kills it if that takes too long.
    pub(crate) async fn end(&self) {
        if tokio::time::timeout(GRACE, self.gone.cancelled())
            .await
            .is_err()
        {
            self.group.kill();
            self.gone.cancelled().await;
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Waits a moment for the process to exit, so that its output is complete.
    pub(crate) async fn settle(&self) {
        // A process that has closed its pipes and keeps running is not waited for.
        let _ = tokio::time::timeout(GRACE, self.gone.cancelled()).await;
    }

    /// How it exited, if it did, and its last output on standard error.
    pub(crate) fn words(&self) -> String {
        self.words.said()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.gone.is_cancelled() {
            self.group.kill();
        }
    }
}

/// A command in its own process group: Ctrl-C only affects the person's command, and the server's
/// children end with it.
fn grouped(command: Command) -> CommandWrap {
    let mut command = CommandWrap::from(command);
    command.wrap(KillOnDrop);
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    command
}

/// The processes of a server.
#[derive(Debug, Clone)]
struct Group(Arc<Mutex<Box<dyn ChildWrapper>>>);

impl Group {
    fn processes(&self) -> MutexGuard<'_, Box<dyn ChildWrapper>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the main process, not for its children.
    async fn ended(&self) -> std::io::Result<ExitStatus> {
        poll_fn(|context| self.processes().inner_mut().wait().as_mut().poll(context)).await
    }

    /// Kills all of them. Processes that have already exited are not an error.
    fn kill(&self) {
        let _ = self.processes().start_kill();
    }
}

/// Waits for a server to exit, and kills its remaining children.
async fn watch(group: Group, gone: CancellationToken, words: Words, listening: JoinHandle<()>) {
    let status = group.ended().await;
    group.kill();
    // Its last output is read first; a process that has left the group may keep the pipe open for
    // longer.
    let _ = tokio::time::timeout(GRACE, listening).await;
    if let Ok(status) = status {
        words.ended(status.to_string());
    }
    gone.cancel();
}

/// The last output of a process on standard error. Never shown directly: a server may write anything at
/// any time, and the terminal belongs to the person.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<String>,
    status: Option<String>,
}

impl Words {
    /// The last output of an earlier process.
    fn forget(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Kept::default();
    }

    fn hear(&self, line: String) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.lines.len() == KEPT_LINES {
            kept.lines.pop_front();
        }
        kept.lines.push_back(line);
    }

    fn ended(&self, status: String) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.status = Some(status);
    }

    pub(crate) fn said(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = kept.lines.iter().map(String::as_str).collect();
        match (&kept.status, lines.is_empty()) {
            (None, true) => String::new(),
            (None, false) => format!("it said: {}", lines.join(" / ")),
            (Some(status), true) => format!("{status}, without a word"),
            (Some(status), false) => format!("{status}; it said: {}", lines.join(" / ")),
        }
    }
}

async fn listen(stderr: ChildStderr, words: Words) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line without an end is read in parts, not stored without limit.
        let read = (&mut reader)
            .take(KEPT_BYTES)
            .read_until(b'\n', &mut line)
            .await;
        if !matches!(read, Ok(count) if count > 0) {
            return;
        }
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() {
            words.hear(text.trim().to_owned());
        }
    }
}
