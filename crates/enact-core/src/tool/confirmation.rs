//! Whether a person is asked before a tool runs.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use enact_signature::Values;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

type Policy = Arc<dyn Fn(&Values) -> bool + Send + Sync>;

/// Whether a person is asked before a tool runs. Declared by the tool, or set by
/// [`Builder::confirmation`](crate::Builder::confirmation).
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Confirmation {
    /// Runs without asking.
    #[default]
    Never,
    /// Asks before every call.
    Always,
    /// Asks before calls whose arguments match the function. See [`Confirmation::when`].
    When(Policy),
}

impl Confirmation {
    /// Asks before calls for which the function returns true. The result is logged with the call, so
    /// the function is not called again when a run is resumed. After a panic, a person is asked.
    ///
    /// ```
    /// use enact::tool::Confirmation;
    /// use enact::values;
    ///
    /// let large = Confirmation::when(|args| args["amount"].as_f64() > Some(100.0));
    /// assert!(large.is_needed(&values! { amount: 250 }));
    /// assert!(!large.is_needed(&values! { amount: 25 }));
    /// ```
    pub fn when(policy: impl Fn(&Values) -> bool + Send + Sync + 'static) -> Self {
        Self::When(Arc::new(policy))
    }

    /// Whether a call with these arguments needs approval.
    pub fn is_needed(&self, args: &Values) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::When(policy) => {
                std::panic::catch_unwind(AssertUnwindSafe(|| policy(args))).unwrap_or(true)
            }
        }
    }

    /// The stricter of two rules; this one if they are of the same kind.
    pub(crate) fn or_stricter(self, other: &Self) -> Self {
        let rank = |rule: &Self| match rule {
            Self::Never => 0,
            Self::When(_) => 1,
            Self::Always => 2,
        };
        if rank(other) > rank(&self) {
            other.clone()
        } else {
            self
        }
    }

    /// The rule as one word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Always => "always",
            Self::When(_) => "when",
        }
    }
}

impl fmt::Debug for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Rules are equal if they are of the same kind: functions can't be compared.
impl PartialEq for Confirmation {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Confirmation {}

impl Serialize for Confirmation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

/// Functions can't be serialised: the deserialised rule always asks.
impl<'de> Deserialize<'de> for Confirmation {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match String::deserialize(from)?.as_str() {
            "never" => Ok(Self::Never),
            "always" => Ok(Self::Always),
            "when" => Ok(Self::when(|_| true)),
            other => Err(serde::de::Error::unknown_variant(
                other,
                &["never", "always", "when"],
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_that_panics_or_was_read_back_asks() {
        let broken = Confirmation::when(|args| args["amount"].as_i64().is_none_or(|_| panic!()));
        assert!(broken.is_needed(&Values::from_iter([("amount".to_owned(), 3.into())])));
        let text = serde_json::to_string(&Confirmation::when(|_| false)).unwrap();
        assert_eq!(text, r#""when""#);
        let back: Confirmation = serde_json::from_str(&text).unwrap();
        assert!(back.is_needed(&Values::new()));
        assert!(serde_json::from_str::<Confirmation>(r#""sometimes""#).is_err());
    }
}
