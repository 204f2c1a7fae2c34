//! Ctrl-C.

use enact::CancellationToken;

/// The exit code of a process that was interrupted, as shells have it.
const INTERRUPTED: i32 = 130;

/// A token that the first Ctrl-C cancels. The second ends the process.
pub(crate) fn watch() -> CancellationToken {
    let token = CancellationToken::new();
    let cancelled = token.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        cancelled.cancel();
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(INTERRUPTED);
        }
    });
    token
}
