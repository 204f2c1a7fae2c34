//! The text of an agent file as values, with the position of each value.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::Problem;

/// A file that has been read. Values are named by JSON pointers, such as `/limits/max_iterations`.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    text: String,
    pub(super) value: Value,
    values: HashMap<String, Range<usize>>,
    keys: HashMap<String, Range<usize>>,
    /// What cannot be parsed, with its byte offset.
    wrong: Vec<(usize, String)>,
}

impl Source {
    /// Parses the text, and adds syntax errors to the problems.
    pub(super) fn read(path: &Path, text: String, problems: &mut Vec<Problem>) -> Self {
        let mut source = Self {
            path: path.to_owned(),
            value: Value::Null,
            values: HashMap::new(),
            keys: HashMap::new(),
            text: String::new(),
            wrong: Vec::new(),
        };
        let (table, errors) = DeTable::parse_recoverable(&text);
        let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count();
        for error in errors {
            let start = error.span().unwrap_or_default().start;
            // Later errors in the same line are consequences of the first.
            let last = source.wrong.last();
            if last.is_none_or(|(last, _)| line(*last) != line(start)) {
                source.wrong.push((start, error.message().to_owned()));
            }
        }
        source.value = source.table(table.get_ref(), "");
        source.text = text;
        let wrong = std::mem::take(&mut source.wrong).into_iter();
        problems.extend(wrong.map(|(start, message)| source.at_byte(start, message)));
        source
    }

    fn table(&mut self, table: &DeTable<'_>, pointer: &str) -> Value {
        let mut map = Map::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let pointer = below(pointer, name);
            self.keys.insert(pointer.clone(), key.span());
            map.insert(name.to_owned(), self.value(value, &pointer));
        }
        Value::Object(map)
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, pointer: &str) -> Value {
        let span = value.span();
        self.values.insert(pointer.to_owned(), span.clone());
        let mut unfit = |message: &str| {
            self.wrong.push((span.start, message.to_owned()));
            Value::Null
        };
        match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(flag) => Value::Bool(*flag),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => number.into(),
                    Err(_) => unfit("the number is too large"),
                }
            }
            DeValue::Float(number) => {
                let number = number.as_str().parse::<f64>().ok();
                match number.and_then(Number::from_f64) {
                    Some(number) => Value::Number(number),
                    None => unfit("give a finite number"),
                }
            }
            // Dates are texts, as in JSON.
            DeValue::Datetime(date) => Value::String(date.to_string()),
            DeValue::Array(list) => {
                let list = list.iter().enumerate();
                list.map(|(index, one)| self.value(one, &format!("{pointer}/{index}")))
                    .collect()
            }
            DeValue::Table(table) => self.table(table, pointer),
        }
    }

    /// A problem with a value: at the value, or at the name of a table.
    pub(super) fn at(&self, pointer: &str, message: impl Into<String>) -> Problem {
        let is_table = matches!(self.value.pointer(pointer), Some(Value::Object(_)));
        let (first, second) = if is_table {
            (&self.keys, &self.values)
        } else {
            (&self.values, &self.keys)
        };
        let span = first.get(pointer).or_else(|| second.get(pointer));
        self.at_byte(span.map_or(0, |span| span.start), message)
    }

    /// A problem with a key.
    pub(super) fn at_key(&self, pointer: &str, message: impl Into<String>) -> Problem {
        match self.keys.get(pointer) {
            Some(span) => self.at_byte(span.start, message),
            None => self.at(pointer, message),
        }
    }

    /// A problem within a text, at a character offset from its start; at the start if the text contains
    /// escapes.
    pub(super) fn within(
        &self,
        pointer: &str,
        characters: usize,
        message: impl Into<String>,
    ) -> Problem {
        let text = self.value.pointer(pointer).and_then(Value::as_str);
        let place = self.values.get(pointer).zip(text).and_then(|(span, text)| {
            let written = self.text.get(span.start + 1..span.end.checked_sub(1)?)?;
            let (offset, _) = text.char_indices().nth(characters)?;
            (written == text).then_some(span.start + 1 + offset)
        });
        match place {
            Some(byte) => self.at_byte(byte, message),
            None => self.at(pointer, message),
        }
    }

    fn at_byte(&self, byte: usize, message: impl Into<String>) -> Problem {
        let before = self.text.get(..byte).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Problem {
            path: self.path.clone(),
            place: Some((line, column)),
            message: message.into(),
        }
    }
}

/// The pointer to a key of a table.
pub(super) fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}
