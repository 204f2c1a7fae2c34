//! Holding answers back.

use std::sync::Arc;

use tokio::sync::watch;

/// Holds back the turns that are [behind](crate::Turn::behind) it until it is opened. Clones are
/// the same gate.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    is_open: Arc<watch::Sender<bool>>,
}

impl Gate {
    /// A closed gate.
    pub fn closed() -> Self {
        Self::default()
    }

    /// Opens it, for good.
    pub fn open(&self) {
        self.is_open.send_replace(true);
    }

    pub(crate) async fn opened(&self) {
        // The sender lives as long as the gate, so the wait cannot fail.
        let _ = self.is_open.subscribe().wait_for(|is_open| *is_open).await;
    }
}
