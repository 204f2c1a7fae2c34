//! Tools that may change while agents use them.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Tool, ToolError};

/// Where tools come from that may change while agents use them, such as a server that lists them.
///
/// Implemented by clients of such servers; asked by sets of tools ([`Tools::with_toolbox`]) and,
/// between the steps of a run, by drivers.
///
/// [`Tools::with_toolbox`]: super::Tools::with_toolbox
pub trait Toolbox: Send + Sync {
    /// The tools as far as they are known now, under names that are not taken. Waits for nothing.
    fn tools(&self, taken: &[&str]) -> Vec<Arc<dyn Tool>>;

    /// Takes in what has changed since it was last known. Asked before every step, so it should
    /// cost nothing while nothing has changed. After an error the tools are those known before, and
    /// it is asked again before the next step.
    fn refresh<'a>(&'a self) -> BoxFuture<'a, Result<(), ToolError>>;
}
