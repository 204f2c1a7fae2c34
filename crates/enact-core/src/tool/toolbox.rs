//! Tools that can change while agents use them.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Tool, ToolError};

/// A source of tools that can change while agents use them, such as a server.
///
/// Implemented by clients of such servers; used by sets of tools ([`Tools::with_toolbox`]) and,
/// between the steps of a run, by drivers.
///
/// [`Tools::with_toolbox`]: super::Tools::with_toolbox
pub trait Toolbox: Send + Sync {
    /// The tools known at the moment, under names that are not taken. Doesn't wait.
    fn tools(&self, taken: &[&str]) -> Vec<Arc<dyn Tool>>;

    /// Fetches changes. Called before every step, so it should cost nothing if nothing has changed.
    /// After an error the known tools stay, and it is called again before the next
    /// step.
    fn refresh<'a>(&'a self) -> BoxFuture<'a, Result<(), ToolError>>;
}
