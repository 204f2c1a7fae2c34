//! Default values and the members of `Literal[…]`.

use serde_json::{Map, Value};

use super::MAX_DEPTH;
use super::lexer::Token;
use super::parser::{Parser, syntax};
use crate::SignatureError;

const ALLOWED: &str = "write a number, a text in quotes, `true`, `false`, `null`, a list `[…]` or a map `{\"key\": …}`";

impl Parser {
    pub(super) fn value(&mut self, depth: usize) -> Result<Value, SignatureError> {
        let column = self.column();
        if depth > MAX_DEPTH {
            return Err(syntax(
                format!("the value nests deeper than {MAX_DEPTH} levels"),
                column,
            ));
        }
        match self.advance() {
            Token::Number(number) => Ok(Value::Number(number)),
            Token::Text(text) => Ok(Value::String(text)),
            Token::Word(word) => match word.as_str() {
                "true" | "True" => Ok(Value::Bool(true)),
                "false" | "False" => Ok(Value::Bool(false)),
                "null" | "None" => Ok(Value::Null),
                _ => Err(syntax(
                    format!("`{word}` is not a value; if it is a text, write `\"{word}\"`"),
                    column,
                )),
            },
            Token::Mark('[') => self.list_of_values(depth),
            Token::Mark('{') => self.map_of_values(depth),
            other => Err(syntax(
                format!("expected a value, found {}; {ALLOWED}", other.shown()),
                column,
            )),
        }
    }

    fn list_of_values(&mut self, depth: usize) -> Result<Value, SignatureError> {
        let mut items = Vec::new();
        if self.take(']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(']') {
                return Ok(Value::Array(items));
            }
            self.expect(',', "`,` or `]` in a list")?;
        }
    }

    fn map_of_values(&mut self, depth: usize) -> Result<Value, SignatureError> {
        let mut entries = Map::new();
        if self.take('}') {
            return Ok(Value::Object(entries));
        }
        loop {
            let column = self.column();
            let Token::Text(key) = self.advance() else {
                return Err(syntax("the keys of a map are texts in quotes", column));
            };
            self.expect(':', "`:` after the key")?;
            entries.insert(key, self.value(depth + 1)?);
            if self.take('}') {
                return Ok(Value::Object(entries));
            }
            self.expect(',', "`,` or `}` in a map")?;
        }
    }
}
