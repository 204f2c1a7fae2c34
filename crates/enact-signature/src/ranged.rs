//! Types with limits.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Number, Value};

use crate::{SignatureError, SignatureErrorKind, Type};

/// A `str`, an `int`, a `float` or a list with limits, created by [`Type::within`].
///
/// Limits apply to the value of numbers, the characters of texts and the items of lists. Both are
/// inclusive.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranged {
    ty: Type,
    least: Option<Number>,
    most: Option<Number>,
}

impl Ranged {
    /// The type without the limits.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The smallest number or length, if there is one.
    pub fn least(&self) -> Option<&Number> {
        self.least.as_ref()
    }

    /// The largest number or length, if there is one.
    pub fn most(&self) -> Option<&Number> {
        self.most.as_ref()
    }

    pub(crate) fn ty_mut(&mut self) -> &mut Type {
        &mut self.ty
    }

    /// Applies the limits to another type of this kind.
    pub(crate) fn limits(&self) -> impl Iterator<Item = (&'static str, &Number)> {
        let (least, most) = keywords(&self.ty).unwrap_or_default();
        let limits = [(least, &self.least), (most, &self.most)];
        limits
            .into_iter()
            .filter_map(|(keyword, limit)| Some((keyword, limit.as_ref()?)))
    }

    /// Whether a value of the type is within the limits.
    pub(crate) fn holds(&self, value: &Value) -> bool {
        let size = match value {
            Value::Number(number) => number.clone(),
            Value::String(text) => text.chars().count().into(),
            Value::Array(items) => items.len().into(),
            _ => return false,
        };
        let least = self.least.as_ref();
        let most = self.most.as_ref();
        least.is_none_or(|least| order(least, &size).is_le())
            && most.is_none_or(|most| order(&size, most).is_le())
    }
}

/// The keywords of JSON Schema for the limits of a type.
pub(crate) fn keywords(ty: &Type) -> Option<(&'static str, &'static str)> {
    match ty {
        Type::Int | Type::Float => Some(("minimum", "maximum")),
        Type::Str => Some(("minLength", "maxLength")),
        Type::List(_) => Some(("minItems", "maxItems")),
        _ => None,
    }
}

fn order(one: &Number, other: &Number) -> Ordering {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => {
            let (one, other) = (one.as_f64(), other.as_f64());
            one.partial_cmp(&other).unwrap_or(Ordering::Equal)
        }
    }
}

impl Type {
    /// Adds inclusive limits to the type: `int(0..10)`, `str(..80)`, `list[str](1..)`. Only `str`,
    /// `int`, `float` and lists can have limits.
    ///
    /// ```
    /// use enact_signature::Type;
    ///
    /// let percent = Type::Int.within(Some(0.into()), Some(100.into()))?;
    /// assert_eq!(percent, Type::parse("int(0..100)")?);
    /// # Ok::<(), enact_signature::SignatureError>(())
    /// ```
    pub fn within(
        self,
        least: Option<Number>,
        most: Option<Number>,
    ) -> Result<Type, SignatureError> {
        let wrong =
            |message: String| Err(SignatureError::new(SignatureErrorKind::BadRange, message));
        let is_right: fn(&Number) -> bool = match &self {
            Type::Float => |_| true,
            Type::Int => |limit| !limit.is_f64(),
            Type::Str | Type::List(_) => Number::is_u64,
            other => {
                return wrong(format!(
                    "`{other}` takes no range; only str, int, float and lists do, as in `int(0..10)`"
                ));
            }
        };
        let mut limits = least.iter().chain(&most).peekable();
        if limits.peek().is_none() {
            return wrong(format!(
                "the range is empty; write `{self}(1..5)`, `{self}(1..)` or `{self}(..5)`"
            ));
        }
        if let Some(limit) = limits.find(|limit| !is_right(limit)) {
            return wrong(format!(
                "`{limit}` does not limit `{self}`; write a whole number{}",
                if self == Type::Int {
                    ""
                } else {
                    " of 0 or more"
                }
            ));
        }
        if let (Some(least), Some(most)) = (&least, &most)
            && order(least, most).is_gt()
        {
            return wrong(format!(
                "the range ends before it starts: {least} is above {most}"
            ));
        }
        Ok(Type::Ranged(Box::new(Ranged {
            ty: self,
            least,
            most,
        })))
    }
}

impl fmt::Display for Ranged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |limit: &Option<Number>| limit.as_ref().map(Number::to_string);
        let (least, most) = (shown(&self.least), shown(&self.most));
        let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
        write!(f, "{}({least}..{most})", self.ty)
    }
}
