//! Streams the strings in a JSON value with the keys that lead to them.

/// Reads a JSON value while it is written. Text before the first brace is skipped; invalid JSON ends
/// the reading.
#[derive(Debug, Default)]
pub(in crate::adapter) struct JsonReader {
    /// The keys of the objects that are open; an empty one in a list.
    path: Vec<String>,
    /// Whether each open container is an object.
    objects: Vec<bool>,
    state: State,
    /// The incomplete part of an escape, or of a surrogate pair.
    escape: String,
    key: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the value.
    #[default]
    Before,
    /// A key or the end of an object comes.
    Key,
    InKey,
    /// The colon comes.
    Colon,
    Value,
    InText,
    /// In a number, `true`, `false` or `null`.
    Word,
    /// A comma or an end comes.
    After,
    /// It is over, or no JSON.
    Silent,
}

impl JsonReader {
    /// Reads more of it, and returns what it adds to the strings.
    pub(in crate::adapter) fn push(&mut self, text: &str, tell: &mut dyn FnMut(&[String], &str)) {
        let mut said = String::new();
        for c in text.chars() {
            let was_text = self.state == State::InText;
            self.step(c, &mut said);
            if was_text && self.state != State::InText && !said.is_empty() {
                tell(&self.path, &said);
                said.clear();
            }
            if was_text && self.state == State::After {
                self.leave();
            }
        }
        if self.state == State::InText && !said.is_empty() {
            tell(&self.path, &said);
        }
    }

    fn step(&mut self, c: char, said: &mut String) {
        self.state = match self.state {
            State::Before if c == '{' => self.enter(true),
            State::Before => State::Before,
            State::Silent => State::Silent,
            State::InText => match self.character(c) {
                Ok(Some(c)) => {
                    said.push(c);
                    State::InText
                }
                Ok(None) => State::InText,
                Err(next) => next,
            },
            State::InKey => match self.character(c) {
                Ok(Some(c)) => {
                    self.key.push(c);
                    State::InKey
                }
                Ok(None) => State::InKey,
                Err(State::After) => {
                    let key = std::mem::take(&mut self.key);
                    if let Some(last) = self.path.last_mut() {
                        *last = key;
                    }
                    State::Colon
                }
                Err(next) => next,
            },
            state if c.is_whitespace() => match state {
                State::Word => {
                    self.leave();
                    State::After
                }
                other => other,
            },
            State::Key => match c {
                '"' => State::InKey,
                '}' => self.exit(),
                _ => State::Silent,
            },
            State::Colon if c == ':' => State::Value,
            State::Value => match c {
                '"' => State::InText,
                '{' => self.enter(true),
                '[' => self.enter(false),
                ']' => self.exit(),
                _ => State::Word,
            },
            State::Word if matches!(c, ',' | '}' | ']') => {
                self.leave();
                self.after(c)
            }
            State::Word => State::Word,
            State::After => self.after(c),
            State::Colon => State::Silent,
        };
    }

    fn after(&mut self, c: char) -> State {
        match (c, self.objects.last()) {
            (',', Some(true)) => State::Key,
            (',', Some(false)) => State::Value,
            ('}' | ']', Some(_)) => self.exit(),
            _ => State::Silent,
        }
    }

    /// A value has ended: its key no longer applies.
    fn leave(&mut self) {
        if let Some(last) = self.path.last_mut() {
            last.clear();
        }
    }

    fn enter(&mut self, is_object: bool) -> State {
        self.objects.push(is_object);
        self.path.push(String::new());
        if is_object { State::Key } else { State::Value }
    }

    fn exit(&mut self) -> State {
        self.objects.pop();
        self.path.pop();
        self.leave();
        if self.objects.is_empty() {
            State::Silent
        } else {
            State::After
        }
    }

    /// A character inside a string: what it adds, or the state after the string.
    fn character(&mut self, c: char) -> Result<Option<char>, State> {
        if self.escape.is_empty() && c != '\\' {
            return if c == '"' {
                Err(State::After)
            } else {
                Ok(Some(c))
            };
        }
        self.escape.push(c);
        let read = match self.escape.chars().count() {
            1 => None,
            2 if c == 'u' => None,
            length => {
                let read = serde_json::from_str::<String>(&format!("\"{}\"", self.escape));
                match (length, read) {
                    (_, Ok(read)) => read.chars().next(),
                    // A character that needs no escape represents itself.
                    (2, Err(_)) => Some(c),
                    // Half of a surrogate pair represents nothing.
                    (12.., Err(_)) => return Err(State::Silent),
                    (_, Err(_)) => None,
                }
            }
        };
        if read.is_some() {
            self.escape.clear();
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn texts(written: &str, sizes: &[usize]) -> BTreeMap<String, String> {
        let mut reader = JsonReader::default();
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        let mut rest: Vec<char> = written.chars().collect();
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let size = sizes.next().copied().unwrap_or(1).clamp(1, rest.len());
            let chunk: String = rest.drain(..size).collect();
            reader.push(&chunk, &mut |path, text| {
                found.entry(path.join("/")).or_default().push_str(text);
            });
        }
        found
    }

    #[test]
    fn texts_are_found_by_their_keys() {
        let value = json!({
            "a": "x \"y\" \\ \n ü 😀",
            "n": 3,
            "list": ["one", {"b": "in"}, []],
            "o": {"c": {"d": "deep"}, "e": true},
            "z": "last",
        });
        let found = texts(&format!("```json\n{value}\n```"), &[1]);
        assert_eq!(found["a"], "x \"y\" \\ \n ü 😀");
        assert_eq!(found["list/"], "one");
        assert_eq!(found["list//b"], "in");
        assert_eq!(found["o/c/d"], "deep");
        assert_eq!(found["z"], "last");
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn escapes_are_read_whole() {
        let found = texts(r#"{"a": "\u00fc\ud83d\ude00\/\t"}"#, &[2]);
        assert_eq!(found["a"], "ü😀/\t");
    }

    #[test]
    fn what_is_no_json_is_not_told() {
        for written in [
            "no brace",
            "{no key",
            "{\"a\" \"b\"}",
            "{\"a\": \"\\ud83dx\"}",
        ] {
            assert_eq!(texts(written, &[1]), BTreeMap::new(), "{written}");
        }
    }

    proptest! {
        #[test]
        fn every_text_is_told_as_it_is(
            fields in prop::collection::btree_map("[a-z]{1,6}", any::<String>(), 0..5),
            sizes in prop::collection::vec(1_usize..9, 1..6),
            is_pretty: bool,
        ) {
            let value: Value = serde_json::to_value(&fields).unwrap();
            let written = if is_pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            let mut wanted = fields;
            wanted.retain(|_, text| !text.is_empty());
            prop_assert_eq!(texts(&written, &sizes), wanted);
        }
    }
}
