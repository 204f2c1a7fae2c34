//! A value of a reply as servers send it: nearly always a text, and anything else where a server has
//! ideas of its own.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Texts are read where they lie: a reply has many events, and they are made of texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Loose<'a> {
    Text(Cow<'a, str>),
    Other(Box<Value>),
}

impl Loose<'_> {
    /// The text, if it is one and says something.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text)
                .filter(|text| !text.is_empty())
                .map(|text| &**text),
            _ => None,
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Text(text) => text.into_owned().into(),
            Self::Other(value) => *value,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

fn other<'a, E>(value: impl Into<Value>) -> Result<Loose<'a>, E> {
    Ok(Loose::Other(Box::new(value.into())))
}

impl<'de> Visitor<'de> for Anything {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        other(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        other(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        other(number)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        other(value)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        other(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        other(Value::deserialize(SeqAccessDeserializer::new(items))?)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        other(Value::deserialize(MapAccessDeserializer::new(fields))?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::hash_map("[a-c\"é]{0,3}", inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn plain_texts_are_not_copied() {
        let read = |text| serde_json::from_str::<Loose<'_>>(text).unwrap();
        assert!(matches!(
            read("\"plain\""),
            Loose::Text(Cow::Borrowed("plain"))
        ));
        assert_eq!(read("\"a\\n\"").text(), Some("a\n"));
        assert_eq!(read("\"\"").text(), None);
        assert_eq!(read("7").text(), None);
    }

    proptest! {
        #[test]
        fn anything_is_read_as_it_is(value in json()) {
            let text = value.to_string();
            let read: Loose<'_> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read.into_value(), value);
        }
    }
}
