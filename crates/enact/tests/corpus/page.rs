//! Whether the page on the log format names everything that a log can hold.

use std::collections::BTreeSet;

use enact::Run;
use enact::model::{Capabilities, Image, Price, RawCall, Reply, Usage};
use enact::run::{
    AgentSpec, Asked, Call, Done, Limits, Observation, Parent, Repair, Replied, Rules, Started,
    Stepped, ThoughtRules,
};
use enact::tool::ToolSpec;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_json::Value;

const PAGE: &str = include_str!("../../../../docs/reference/log-format.md");

/// Lists the keys of a struct.
struct Keys<'a>(&'a mut BTreeSet<String>);

impl<'de> Deserializer<'de> for Keys<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("it has no list of keys"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.0.extend(keys.iter().map(ToString::to_string));
        Err(Error::custom("that is all"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn keys<T: DeserializeOwned>() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let _ = T::deserialize(Keys(&mut keys));
    assert!(!keys.is_empty(), "{}", std::any::type_name::<T>());
    keys
}

/// The words in code font of a part of the page.
fn words(part: &str) -> BTreeSet<&str> {
    let code = part.split('`').skip(1).step_by(2);
    let is_other = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    code.flat_map(|code| code.split(is_other)).collect()
}

/// The part of the page under this heading, and under those below it.
fn part(heading: &str) -> &'static str {
    let (_, part) = PAGE.split_once(&format!("\n{heading}\n")).expect(heading);
    let level = heading.split(' ').next().unwrap();
    let next = format!("\n{level} ");
    part.split_once(&next).map_or(part, |(part, _)| part)
}

/// Fails unless the part of the page under this heading names them all.
pub fn names(heading: &str, all: impl IntoIterator<Item = impl AsRef<str>>) {
    let named = words(part(heading));
    let all = all.into_iter();
    let missing: Vec<_> = all
        .map(|name| name.as_ref().to_owned())
        .filter(|name| !named.contains(&**name))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/reference/log-format.md does not name {missing:?} under `{heading}`"
    );
}

#[test]
fn the_page_names_every_key() {
    for (heading, keys) in [
        ("## Events", keys::<Started>()),
        ("## Events", keys::<Limits>()),
        ("## Events", keys::<Rules>()),
        ("## Events", keys::<ThoughtRules>()),
        ("## Events", keys::<Parent>()),
        ("## Events", keys::<Replied>()),
        ("## Events", keys::<Done>()),
        ("## Events", keys::<Asked>()),
        ("## Events", keys::<Capabilities>()),
        ("### `agent`", keys::<AgentSpec>()),
        ("### `agent`", keys::<ToolSpec>()),
        ("### `agent`", keys::<Price>()),
        ("### `reply`", keys::<Reply>()),
        ("### `reply`", keys::<RawCall>()),
        ("### `reply`", keys::<Usage>()),
        ("### `read`", keys::<Stepped>()),
        ("### `calls`", keys::<Call>()),
        ("### `calls`", keys::<RawCall>()),
        ("### `repairs`", keys::<Repair>()),
        ("### `observation`", keys::<Observation>()),
        ("### `observation`", keys::<Image>()),
    ] {
        names(heading, keys);
    }
}

/// The table of events has a row for each, with the keys that it has.
#[test]
fn the_page_names_the_keys_of_every_event() {
    let rows = part("## Events").lines();
    let rows: Vec<&str> = rows.filter(|line| line.starts_with("| `")).collect();
    for (log, _) in super::logs() {
        for record in super::records(&log) {
            let Ok(Value::Object(record)) = serde_json::to_value(record) else {
                panic!("a record is an object");
            };
            let event = record["event"].as_str().unwrap();
            let row = rows
                .iter()
                .find(|row| row.starts_with(&format!("| `{event}`")));
            let named = words(row.unwrap_or_else(|| panic!("there is no row for `{event}`")));
            for key in record.keys() {
                let is_common = ["position", "at", "event"].contains(&&**key);
                assert!(is_common || named.contains(&**key), "`{key}` of `{event}`");
            }
        }
    }
}

/// What the example on the page says is what a log says.
#[test]
fn the_example_of_the_page_is_a_log() {
    let example = part("## Example").split("```json\n").nth(1).unwrap();
    let example = example.split("```").next().unwrap();
    let run: Run = serde_json::from_str(example).unwrap();
    let again = serde_json::to_value(&run).unwrap();
    assert_eq!(again, serde_json::from_str::<Value>(example).unwrap());
}
