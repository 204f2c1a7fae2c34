//! Objects with named properties.

use std::fmt;

use serde_json::Value;

use crate::names::is_name;
use crate::{SignatureError, SignatureErrorKind, Type};

/// A property of [`Type::Object`]. It can be omitted if its type is optional.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Property {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// The meaning.
    pub description: Option<String>,
}

impl Property {
    /// Creates a property without description.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Self {
            name: name.into(),
            ty,
            description: None,
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

impl Type {
    /// `{name: type, …}`: an object with these properties and no others.
    ///
    /// ```
    /// use enact_signature::{Property, Type};
    ///
    /// let person = Type::object([
    ///     Property::new("name", Type::Str),
    ///     Property::new("age", Type::optional(Type::Int)).describe("In years."),
    /// ])?;
    /// assert_eq!(person.to_string(), "{name: str, age: Optional[int]}");
    /// # Ok::<(), enact_signature::SignatureError>(())
    /// ```
    pub fn object(properties: impl IntoIterator<Item = Property>) -> Result<Type, SignatureError> {
        let properties: Vec<Property> = properties.into_iter().collect();
        if properties.is_empty() {
            return Err(SignatureError::new(
                SignatureErrorKind::Syntax,
                "an object needs a property, as in `{name: str}`; for any object, write `dict`",
            ));
        }
        for (index, property) in properties.iter().enumerate() {
            if properties[..index]
                .iter()
                .any(|other| other.name == property.name)
            {
                return Err(twice(&property.name));
            }
        }
        Ok(Type::Object(properties))
    }
}

pub(crate) fn twice(name: &str) -> SignatureError {
    let message = format!("two properties are called `{name}`; give one another name");
    SignatureError::new(SignatureErrorKind::DuplicateField, message)
}

/// In arrow syntax, which can't express the description.
impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match is_name(&self.name) {
            true => write!(f, "{}: {}", self.name, self.ty),
            false => write!(f, "{}: {}", Value::from(self.name.as_str()), self.ty),
        }
    }
}
