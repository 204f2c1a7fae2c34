//! Which adapter to use.

use std::str::FromStr;
use std::sync::Arc;

use super::Adapter;
use crate::model::Capabilities;

/// Which adapter to use: a fixed one, or the one that suits the model.
#[derive(Debug, Clone, Default)]
pub enum AdapterChoice {
    /// Native tool calls where the model has them, else JSON where it can be held to a schema,
    /// else chat markers.
    #[default]
    Auto,
    /// This one.
    Fixed(Arc<dyn Adapter>),
}
