//! Delays replies.

use std::sync::Arc;

use tokio::sync::watch;

/// Holds back the turns that are [behind](crate::Turn::behind) it until it is opened. Clones share
/// the gate.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    is_open: Arc<watch::Sender<bool>>,
}

impl Gate {
    /// Creates a closed gate.
    pub fn closed() -> Self {
        Self::default()
    }

    /// Opens it permanently.
    pub fn open(&self) {
        self.is_open.send_replace(true);
    }

    pub(crate) async fn opened(&self) {
        // The sender lives as long as the gate, so the wait can't fail.
        let _ = self.is_open.subscribe().wait_for(|is_open| *is_open).await;
    }
}
