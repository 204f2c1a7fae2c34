//! The choice of an adapter.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{Adapter, Chat, Json, Native, Tagged, Xml};
use crate::model::Capabilities;

/// The choice of an adapter: a fixed one, or the one that suits the model.
///
/// ```
/// use enact::adapter::{AdapterChoice, Chat};
/// use enact::model::Capabilities;
///
/// let choice: AdapterChoice = "xml".parse()?;
/// assert_eq!(choice.name(), "xml");
/// assert_eq!(AdapterChoice::from(Chat).name(), "chat");
/// assert_eq!(AdapterChoice::Auto.resolve(Capabilities::FULL).name(), "native");
/// # Ok::<(), enact::adapter::UnknownAdapter>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum AdapterChoice {
    /// Native tool calls if the model supports them, else JSON if it follows a schema, else chat
    /// markers.
    #[default]
    Auto,
    /// A fixed adapter.
    Fixed(Arc<dyn Adapter>),
}

/// An unknown adapter name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown adapter `{name}`: use one of auto, native, json, chat, xml, tagged")]
pub struct UnknownAdapter {
    name: String,
}

impl AdapterChoice {
    /// The name of the fixed adapter, or `auto`.
    pub fn name(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::Fixed(adapter) => adapter.name(),
        }
    }

    /// The adapter for a model with these capabilities.
    pub fn resolve(&self, capabilities: Capabilities) -> Arc<dyn Adapter> {
        match self {
            Self::Fixed(adapter) => adapter.clone(),
            Self::Auto if capabilities.tools => Arc::new(Native),
            Self::Auto if capabilities.response_schema => Arc::new(Json),
            Self::Auto => Arc::new(Chat),
        }
    }
}

impl<A: Adapter + 'static> From<A> for AdapterChoice {
    fn from(adapter: A) -> Self {
        Self::Fixed(Arc::new(adapter))
    }
}

impl FromStr for AdapterChoice {
    type Err = UnknownAdapter;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name.trim().to_lowercase().as_str() {
            "auto" => Ok(Self::Auto),
            "native" => Ok(Native.into()),
            "json" => Ok(Json.into()),
            "chat" => Ok(Chat.into()),
            "xml" => Ok(Xml.into()),
            "tagged" => Ok(Tagged::default().into()),
            _ => Err(UnknownAdapter {
                name: name.to_owned(),
            }),
        }
    }
}

impl fmt::Display for AdapterChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
