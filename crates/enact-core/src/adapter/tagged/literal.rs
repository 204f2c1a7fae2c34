//! Arguments in parentheses: `a=1, b="x"`, in JSON or Python syntax.

use serde_json::Value;

use crate::signature::{Values, number_of_text, parse_exactly};

/// The maximum nesting of lists and maps.
const DEPTH: usize = 64;

/// Arguments in order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Arguments {
    pub(super) positional: Vec<Value>,
    pub(super) named: Values,
    /// Whether one is an unquoted text, whose commas may not be separators.
    pub(super) has_bare_text: bool,
}

/// The index of the bracket that closes the one at the start of the text. Quotes only count where a value
/// can start, so apostrophes in words don't.
pub(in crate::adapter) fn closing(text: &str) -> Option<usize> {
    let mut reader = Reader { text, at: 0 };
    let mut depth = 0_usize;
    let mut may_quote = true;
    while let Some(c) = reader.peek() {
        match c {
            '"' | '\'' if may_quote => {
                reader.quoted()?;
                may_quote = false;
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(reader.at);
                }
            }
            _ => {}
        }
        if !c.is_whitespace() {
            may_quote = matches!(c, '(' | '[' | '{' | ',' | '=' | ':');
        }
        reader.at += c.len_utf8();
    }
    None
}

/// Parses arguments. `is_name` says which names can be followed by `:` or `=`.
pub(super) fn arguments(text: &str, is_name: impl Fn(&str) -> bool) -> Option<Arguments> {
    let mut reader = Reader { text, at: 0 };
    let mut arguments = Arguments::default();
    loop {
        reader.blanks();
        if reader.peek().is_none() {
            return Some(arguments);
        }
        match reader.name(&is_name) {
            Some(name) => {
                let value = reader.value(&[','], DEPTH)?;
                arguments.named.insert(name, value);
            }
            None => {
                let is_quoted = matches!(reader.peek(), Some('"' | '\''));
                let value = reader.value(&[','], DEPTH)?;
                arguments.has_bare_text |= value.is_string() && !is_quoted;
                arguments.positional.push(value);
            }
        }
        reader.blanks();
        match reader.peek() {
            None => return Some(arguments),
            Some(',') => reader.at += 1,
            Some(_) => return None,
        }
    }
}

/// The text between quotes, if the whole is one quoted text.
pub(super) fn whole_quoted(text: &str) -> Option<String> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.quoted()?;
    (reader.at == text.len()).then_some(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// A name followed by `=` or `:`; advances past both.
    fn name(&mut self, is_name: impl Fn(&str) -> bool) -> Option<String> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))?;
        let name = &rest[..end];
        let after = rest[end..].trim_start();
        let value = after.strip_prefix(['=', ':'])?;
        if name.is_empty() || value.starts_with('=') || !is_name(name) {
            return None;
        }
        self.at = self.text.len() - value.len();
        Some(name.to_owned())
    }

    fn value(&mut self, ends: &[char], depth: usize) -> Option<Value> {
        self.blanks();
        let depth = depth.checked_sub(1)?;
        match self.peek()? {
            '"' | '\'' => self.quoted().map(Value::String),
            '[' => self.list(']', depth),
            '(' => self.list(')', depth),
            '{' => self.map(depth),
            _ => Some(self.bare(ends)),
        }
    }

    fn list(&mut self, end: char, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blanks();
            match self.peek()? {
                c if c == end => {
                    self.at += 1;
                    return Some(Value::Array(items));
                }
                ',' => self.at += 1,
                _ => items.push(self.value(&[',', end], depth)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut fields = Values::new();
        loop {
            self.blanks();
            match self.peek()? {
                '}' => {
                    self.at += 1;
                    return Some(Value::Object(fields));
                }
                ',' => self.at += 1,
                _ => {
                    let key = match self.value(&[':', '}'], depth)? {
                        Value::String(key) => key,
                        other => other.to_string(),
                    };
                    self.blanks();
                    if self.peek()? != ':' {
                        return None;
                    }
                    self.at += 1;
                    let value = self.value(&[',', '}'], depth)?;
                    fields.insert(key, value);
                }
            }
        }
    }

    /// An unquoted value: a number, a constant, else text.
    fn bare(&mut self, ends: &[char]) -> Value {
        let rest = self.rest();
        let end = rest.find(ends).unwrap_or(rest.len());
        self.at += end;
        let token = rest[..end].trim();
        match token {
            "True" | "true" => Value::Bool(true),
            "False" | "false" => Value::Bool(false),
            "None" | "null" => Value::Null,
            _ => number(token).unwrap_or_else(|| Value::String(token.to_owned())),
        }
    }

    /// A quoted text; advances past it. It ends at a quote after which a value can end, so unescaped quotes
    /// inside are harmless.
    fn quoted(&mut self) -> Option<String> {
        let rest = self.rest();
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        if let Some(inside) = rest.strip_prefix(&triple) {
            let end = inside.find(&triple)?;
            self.at += end + 6;
            return Some(inside[..end].to_owned());
        }
        let mut escaped = false;
        for (at, c) in rest.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if c == quote => {
                    let after = &rest[at + 1..];
                    let next = after.trim_start().chars().next();
                    if next.is_none_or(|c| matches!(c, ',' | ')' | ']' | '}' | ':')) {
                        self.at += at + 1;
                        return Some(decoded(&rest[..at + 1], &rest[1..at]));
                    }
                }
                _ => {}
            }
        }
        None
    }
}

fn number(token: &str) -> Option<Value> {
    let exact = number_of_text(token)?;
    match parse_exactly(token) {
        Ok(read) if read.value.is_number() => Some(read.value),
        _ => Some(Value::Number(exact)),
    }
}

/// The content of a quoted text: as JSON if possible, else with Python's escapes.
fn decoded(quoted: &str, inside: &str) -> String {
    if let Ok(text) = serde_json::from_str(quoted) {
        return text;
    }
    let mut out = String::with_capacity(inside.len());
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(c @ ('\\' | '\'' | '"' | '/')) => out.push(c),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}
