//! One input or output.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Type;

/// One input or output of a signature.
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
    /// What the field is called in prompts, values and arrow strings.
    pub name: String,
    /// What values it takes.
    #[serde(rename = "type")]
    pub ty: Type,
    /// What it means, for the model and for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The value where none is given.
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
    /// A field without description and default.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Self {
            name: name.into(),
            ty,
            description: None,
            default: None,
        }
    }

    /// Says what the field means.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the value where none is given. It has to fit the type, which is checked when the field
    /// becomes part of a signature.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(value.into());
        self
    }

    /// True when a value has to be given: there is no default, and null will not do.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !self.ty.is_optional()
    }
}

/// As in an arrow string.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.ty)?;
        match &self.default {
            Some(default) => write!(f, " = {default}"),
            None => Ok(()),
        }
    }
}
