//! Ctrl-C.

use std::ops::Deref;

use enact::CancellationToken;
use tokio::task::AbortHandle;

/// The exit code of a process that was interrupted, as shells have it.
const INTERRUPTED: i32 = 130;

/// A token that Ctrl-C cancels, for as long as this is there.
#[derive(Debug)]
pub(crate) struct Watch {
    token: CancellationToken,
    watcher: AbortHandle,
}

/// Watches for Ctrl-C: the first cancels the token, the second ends the process.
pub(crate) fn watch() -> Watch {
    let token = CancellationToken::new();
    let cancelled = token.clone();
    let watcher = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        cancelled.cancel();
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(INTERRUPTED);
        }
    });
    Watch {
        token,
        watcher: watcher.abort_handle(),
    }
}

impl Deref for Watch {
    type Target = CancellationToken;

    fn deref(&self) -> &CancellationToken {
        &self.token
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}
