//! One line that somebody types.

use std::io::BufRead as _;

use enact::CancellationToken;

/// What came when a line was waited for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Typed(String),
    /// Nothing will come any more.
    End,
    /// Ctrl-C where nothing was typed yet.
    Interrupted,
    /// Ctrl-C that took back what was typed.
    Cleared,
}

/// A line of standard input. Waits on a thread of its own, so that Ctrl-C is heard.
pub(crate) async fn read(interrupted: &CancellationToken) -> Line {
    let reading = tokio::task::spawn_blocking(|| {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_until(b'\n', &mut bytes);
        read.map(|count| (count > 0).then(|| String::from_utf8_lossy(&bytes).into_owned()))
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
