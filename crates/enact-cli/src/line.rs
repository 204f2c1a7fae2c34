//! A line of input.

use std::io::{BufRead as _, IsTerminal as _};

use enact::CancellationToken;

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Typed(String),
    /// The end of the input.
    End,
    /// Ctrl-C on an empty line.
    Interrupted,
    /// Ctrl-C that cleared the line.
    Cleared,
}

/// Reads a line of standard input, on a separate thread so that Ctrl-C works.
pub(crate) async fn read(interrupted: &CancellationToken) -> Line {
    let stop = interrupted.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let bytes = if std::io::stdin().is_terminal() {
            // Input without a final Enter is not a line: the terminal may have gone away.
            terminal::line(&stop).map(|bytes| match bytes.ends_with(b"\n") {
                true => bytes,
                false => Vec::new(),
            })
        } else {
            buffered_line()
        };
        bytes.map(|bytes| (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned()))
    });
    tokio::select! {
        biased;
        () = interrupted.cancelled() => Line::Interrupted,
        read = reading => match read {
            Ok(Ok(Some(line))) => Line::Typed(line),
            _ => Line::End,
        },
    }
}

/// Discards typed but unread input, including partial lines. Piped input is kept: there, each line
/// answers one question.
pub(crate) fn forget_typed() {
    if std::io::stdin().is_terminal() {
        terminal::forget();
    }
}

fn buffered_line() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_until(b'\n', &mut bytes)?;
    Ok(bytes)
}

#[cfg(unix)]
mod terminal {
    use std::io::{Result, stdin};
    use std::os::fd::AsFd as _;

    use enact::CancellationToken;
    use nix::errno::Errno;
    use nix::poll::{PollFd, PollFlags, poll};
    use nix::sys::termios::{FlushArg, tcflush};
    use nix::unistd::read;

    /// How soon a waiting thread notices that its line is no longer wanted.
    const NOTICE_MS: u16 = 100;

    pub(super) fn forget() {
        // A terminal that can't be flushed has nothing to discard.
        let _ = tcflush(stdin(), FlushArg::TCIFLUSH);
    }

    /// Reads a line directly from the terminal: buffered input would look like an answer to the next
    /// question. An abandoned thread must not take that answer either, so it ends.
    pub(super) fn line(stop: &CancellationToken) -> Result<Vec<u8>> {
        let stdin = stdin();
        let mut line = Vec::new();
        let mut chunk = [0; 1024];
        while !stop.is_cancelled() {
            let mut waiting = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
            match poll(&mut waiting, NOTICE_MS) {
                Ok(0) | Err(Errno::EINTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            let count = match read(&stdin, &mut chunk) {
                Ok(count) => count,
                Err(Errno::EINTR | Errno::EAGAIN) => continue,
                Err(error) => return Err(error.into()),
            };
            let read = &chunk[..count];
            let end = read.iter().position(|byte| *byte == b'\n');
            line.extend_from_slice(&read[..end.unwrap_or(count)]);
            if end.is_some() {
                line.push(b'\n');
            }
            if end.is_some() || count == 0 {
                break;
            }
        }
        Ok(line)
    }
}

#[cfg(not(unix))]
mod terminal {
    use enact::CancellationToken;

    /// A console can't be flushed safely here.
    pub(super) fn forget() {}

    pub(super) fn line(_: &CancellationToken) -> std::io::Result<Vec<u8>> {
        super::buffered_line()
    }
}
