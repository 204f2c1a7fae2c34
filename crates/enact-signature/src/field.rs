//! An input or output.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Type;

/// An input or output of a signature.
///
/// ```
/// use enact_signature::{Field, Type};
///
/// let field = Field::new("k", Type::Int).describe("How many sources to read.").default_value(3);
/// assert_eq!(field.to_string(), "k: int = 3");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Field {
    /// The name in prompts, values and arrow strings.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The meaning, for the model and for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The default value.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub default: Option<Value>,
}

/// Without this, a default of null would be read as no default.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Field {
    /// Creates a field without description and default.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Self {
            name: name.into(),
            ty,
            description: None,
            default: None,
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the default value. It has to fit the type, which is validated when the field is added to a
    /// signature.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(value.into());
        self
    }

    /// Whether a value is required: there is no default, and null is not allowed.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !self.ty.is_optional()
    }
}

/// In arrow syntax.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.ty)?;
        match &self.default {
            Some(default) => write!(f, " = {default}"),
            None => Ok(()),
        }
    }
}
