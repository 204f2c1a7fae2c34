//! A program that is run once: its input, its output within limits, and the end of all that it
//! starts.

use std::collections::VecDeque;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use enact_core::model::Secrets;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::process::Command;

/// How long the output of a command that has ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a program ended, and what it wrote.
#[derive(Debug)]
pub struct Ended {
    /// None if it is not known.
    pub status: Option<ExitStatus>,
    /// What it wrote to its standard output.
    pub stdout: Bounded,
    /// What it wrote to its standard error.
    pub stderr: Bounded,
}

/// Runs a command to its end, with this on its standard input, and keeps so many bytes of each
/// output. When it is over, or when this is dropped, all that it started ends.
///
/// # Errors
/// When it cannot be started.
pub async fn run(
    command: std::process::Command,
    input: Option<&[u8]>,
    max_output: usize,
) -> io::Result<Ended> {
    let mut command = Command::from(command);
    command
        .stdin(input.map_or_else(Stdio::null, |_| Stdio::piped()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut group = Group::start(command)?;
    let (mut out, mut err) = (Bounded::new(max_output), Bounded::new(max_output));
    let stdin = group.0.stdin().take();
    let (stdout, stderr) = (group.0.stdout().take(), group.0.stderr().take());
    let status = {
        let exchange = async {
            let input = input.unwrap_or_default();
            tokio::join!(tell(stdin, input), out.read(stdout), err.read(stderr))
        };
        let mut exchange = std::pin::pin!(exchange);
        // Not for the others of the group, which may go on for ever.
        let mut waiting = group.0.inner_mut().wait();
        let mut is_read = false;
        let status = loop {
            tokio::select! {
                status = &mut waiting => break status,
                _ = &mut exchange, if !is_read => is_read = true,
            }
        };
        // What still runs in the background is over, and lets go of the pipes.
        drop(waiting);
        drop(group);
        if !is_read {
            // One that left the group may hold them for longer.
            let _ = tokio::time::timeout(LAST_WORDS, exchange).await;
        }
        status
    };
    Ok(Ended {
        status: status.ok(),
        stdout: out,
        stderr: err,
    })
}

/// A program that does not read what it is told is free not to.
async fn tell(to: Option<impl AsyncWrite + Unpin>, input: &[u8]) {
    if let Some(mut to) = to {
        let _ = to.write_all(input).await;
    }
}

/// The processes of a command. Dropped when it is over, given up or out of time: then all end.
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
        // One that is gone already is no error.
        let _ = self.0.start_kill();
    }
}

/// The beginning and the end of an output, however long it is.
#[derive(Debug)]
pub struct Bounded {
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

    /// The whole output; none if it was too long.
    pub fn whole(self) -> Option<Vec<u8>> {
        (self.left_out == 0).then(|| self.head.into_iter().chain(self.tail).collect())
    }

    /// The output without secrets, which may lie across what is left out.
    pub fn text(mut self, secrets: &Secrets) -> String {
        match self.left_out {
            // Nothing is between them: a character may lie across.
            0 => {
                let whole: Vec<u8> = self.head.iter().chain(&self.tail).copied().collect();
                secrets
                    .redact(&String::from_utf8_lossy(&whole))
                    .into_owned()
            }
            bytes => {
                // Half a character would hide half a secret beside it.
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
