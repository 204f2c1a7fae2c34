//! Ctrl-C.

use std::ops::Deref;

use enact::CancellationToken;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// The exit code of an interrupted process, as in shells.
const INTERRUPTED: i32 = 130;

/// A token that Ctrl-C cancels, as long as this value exists.
#[derive(Debug)]
pub(crate) struct Watch {
    token: CancellationToken,
    watchers: [AbortHandle; 2],
}

/// Watches for Ctrl-C: the first cancels the token, the second ends the process.
pub(crate) fn watch() -> Watch {
    let token = CancellationToken::new();
    let (pressed, presses) = mpsc::channel(2);
    let signals = tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() && pressed.send(()).await.is_ok() {}
    });
    let obeying = tokio::spawn(obey(presses, token.clone(), || {
        std::process::exit(INTERRUPTED)
    }));
    Watch {
        token,
        watchers: [signals.abort_handle(), obeying.abort_handle()],
    }
}

async fn obey(mut presses: mpsc::Receiver<()>, token: CancellationToken, end: impl FnOnce()) {
    if presses.recv().await.is_some() {
        token.cancel();
        if presses.recv().await.is_some() {
            end();
        }
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
        for watcher in &self.watchers {
            watcher.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_press_cancels_and_the_second_ends() {
        let token = CancellationToken::new();
        let (pressed, presses) = mpsc::channel(2);
        let mut ended = false;
        let obeying = obey(presses, token.clone(), || ended = true);
        pressed.send(()).await.unwrap();
        let pressing = async {
            token.cancelled().await;
            pressed.send(()).await.unwrap();
        };
        tokio::join!(obeying, pressing);
        assert!(ended);
    }

    #[tokio::test]
    async fn one_press_ends_nothing() {
        let token = CancellationToken::new();
        let (pressed, presses) = mpsc::channel(2);
        pressed.send(()).await.unwrap();
        drop(pressed);
        let mut ended = false;
        obey(presses, token.clone(), || ended = true).await;
        assert!(token.is_cancelled());
        assert!(!ended);
    }
}
