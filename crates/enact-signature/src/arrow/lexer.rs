//! Splits an arrow string into tokens, each with its column.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Number, Value};

use crate::{SignatureError, SignatureErrorKind};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Word(String),
    Number(Number),
    Text(String),
    Arrow,
    /// Any other character in the grammar.
    Mark(char),
    End,
}

impl Token {
    /// The name of the token in an error.
    pub(super) fn shown(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Text(text) => format!("`{}`", Value::from(text.as_str())),
            Token::Arrow => "`->`".to_owned(),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end".to_owned(),
        }
    }
}

/// A token and its position, in characters from 1.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) column: usize,
}

pub(super) fn lex(source: &str) -> Result<Vec<Placed>, SignatureError> {
    let mut lexer = Lexer {
        chars: source.chars().peekable(),
        column: 1,
    };
    let mut tokens = Vec::new();
    loop {
        while lexer.chars.peek().is_some_and(|c| c.is_whitespace()) {
            lexer.advance();
        }
        let column = lexer.column;
        let token = lexer.token().map_err(|error| match error.column() {
            Some(_) => error,
            None => error.at(column),
        })?;
        let end = token == Token::End;
        tokens.push(Placed { token, column });
        if end {
            return Ok(tokens);
        }
    }
}

fn syntax(message: impl Into<String>) -> SignatureError {
    SignatureError::new(SignatureErrorKind::Syntax, message)
}

struct Lexer<'a> {
    chars: Peekable<Chars<'a>>,
    column: usize,
}

impl Lexer<'_> {
    fn advance(&mut self) -> Option<char> {
        let next = self.chars.next();
        if next.is_some() {
            self.column += 1;
        }
        next
    }

    fn take_while(&mut self, into: &mut String, wanted: impl Fn(char) -> bool) {
        while let Some(&next) = self.chars.peek() {
            if !wanted(next) {
                break;
            }
            into.push(next);
            self.advance();
        }
    }

    fn token(&mut self) -> Result<Token, SignatureError> {
        let Some(first) = self.advance() else {
            return Ok(Token::End);
        };
        match first {
            '"' | '\'' => self.text(first),
            '-' => match self.chars.peek() {
                Some('>') => {
                    self.advance();
                    Ok(Token::Arrow)
                }
                Some(next) if next.is_ascii_digit() => self.number(first),
                _ => Ok(Token::Mark('-')),
            },
            '=' if self.chars.peek() == Some(&'>') => Err(syntax(
                "`=>` does not separate inputs from outputs; write `->`",
            )),
            '→' | '⇒' => Err(syntax(format!(
                "`{first}` does not separate inputs from outputs; write `->`"
            ))),
            '=' | ':' | ';' | ',' | '|' | '&' | '.' | '?' | '[' | ']' | '<' | '>' | '{' | '}'
            | '(' | ')' => Ok(Token::Mark(first)),
            _ if first.is_ascii_digit() => self.number(first),
            _ if first.is_alphabetic() || first == '_' => {
                let mut word = String::from(first);
                self.take_while(&mut word, |c| c.is_alphanumeric() || c == '_');
                Ok(Token::Word(word))
            }
            _ => Err(syntax(format!(
                "unexpected character `{}`; a signature reads like `question: str, k: int = 3 -> \
                 answer: str`",
                first.escape_debug()
            ))),
        }
    }

    fn number(&mut self, first: char) -> Result<Token, SignatureError> {
        let mut text = String::from(first);
        loop {
            self.take_while(&mut text, |c| c.is_alphanumeric() || c == '_');
            let mut ahead = self.chars.clone();
            match (ahead.next(), ahead.next()) {
                (Some(sign @ ('+' | '-')), _) if text.ends_with(['e', 'E']) => text.push(sign),
                // Two dots belong to a range.
                (Some('.'), next) if next != Some('.') => text.push('.'),
                _ => break,
            }
            self.advance();
        }
        if text.contains(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c)) {
            return Err(syntax(format!(
                "`{text}` is neither a number nor a name; a name starts with a letter"
            )));
        }
        let number = if text.contains(['.', 'e', 'E']) {
            text.parse::<f64>().ok().and_then(Number::from_f64)
        } else {
            let signed = text.parse::<i64>().map(Number::from);
            signed
                .or_else(|_| text.parse::<u64>().map(Number::from))
                .ok()
        };
        number.map(Token::Number).ok_or_else(|| {
            syntax(format!(
                "`{text}` is not a number that fits; integers have 64 bits"
            ))
        })
    }

    fn text(&mut self, quote: char) -> Result<Token, SignatureError> {
        let mut text = String::new();
        loop {
            let column = self.column;
            match self.advance() {
                None => {
                    return Err(syntax(format!(
                        "the text is not closed; end it with `{quote}`"
                    )));
                }
                Some(c) if c == quote => return Ok(Token::Text(text)),
                Some('\\') => text.push(self.escape().ok_or_else(|| {
                    syntax(
                        "unknown escape in a text; use `\\\\`, `\\\"`, `\\'`, `\\/`, `\\n`, `\\r`, `\\t`, \
                         `\\b`, `\\f` or `\\u` with four hexadecimal digits",
                    )
                    .at(column)
                })?),
                Some(c) => text.push(c),
            }
        }
    }

    /// The character after a backslash: a JSON escape, or an apostrophe.
    fn escape(&mut self) -> Option<char> {
        let first = self.advance()?;
        if first == '\'' {
            return Some(first);
        }
        let read = |json: &str| serde_json::from_str(&format!("\"{json}\"")).ok();
        let mut json = format!("\\{first}");
        let digits = if first == 'u' { 4 } else { 0 };
        json.extend((0..digits).map_while(|_| self.advance()));
        read(&json).or_else(|| {
            // JSON writes characters beyond the first 65536 as two escapes.
            json.extend((0..digits + 2).map_while(|_| self.advance()));
            read(&json)
        })
    }
}
