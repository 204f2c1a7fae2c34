//! Applies one set of options over another: values that are set win, all others stay.

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::exit::Failure;

/// The options of `base`, overridden by those set in `said`.
pub(crate) fn overlaid<T>(base: &T, said: &impl Serialize) -> Result<T, Failure>
where
    T: Serialize + DeserializeOwned,
{
    let overlay = || {
        let mut all = serde_json::to_value(base)?;
        overlay(&mut all, without_gaps(serde_json::to_value(said)?));
        serde_json::from_value(all)
    };
    overlay().map_err(|error: serde_json::Error| Failure::failed("options", error.to_string()))
}

fn overlay(base: &mut Value, said: Value) {
    match (base, said) {
        (Value::Object(base), Value::Object(said)) => {
            for (name, value) in said {
                overlay(base.entry(name).or_insert(Value::Null), value);
            }
        }
        (base, said) => *base = said,
    }
}

/// Serializes options without unset values.
pub(crate) fn said<S: Serializer>(options: &impl Serialize, to: S) -> Result<S::Ok, S::Error> {
    let options = serde_json::to_value(options).map_err(serde::ser::Error::custom)?;
    without_gaps(options).serialize(to)
}

/// The options without unset values.
fn without_gaps(mut options: Value) -> Value {
    if let Value::Object(map) = &mut options {
        for value in map.values_mut() {
            *value = without_gaps(value.take());
        }
        map.retain(|_, value| match value {
            Value::Null => false,
            Value::Array(list) => !list.is_empty(),
            Value::Object(map) => !map.is_empty(),
            _ => true,
        });
    }
    options
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_said_wins_and_the_rest_stays() {
        let base = json!({"a": 1, "b": {"c": [1], "d": 2}, "e": null});
        let flags = json!({"a": null, "b": {"c": [], "d": 3}, "e": {"f": 0}});
        assert_eq!(
            overlaid(&base, &flags).unwrap(),
            json!({"a": 1, "b": {"c": [1], "d": 3}, "e": {"f": 0}})
        );
    }
}
