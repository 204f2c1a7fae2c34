//! The words of an expression.

use super::CalculatorError;
use super::number::Number;

/// A word with its place, counted in characters from 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) position: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Number(Number),
    Name(String),
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
    Power,
    Open,
    Close,
    Comma,
}

impl TokenKind {
    /// The word as people write it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Name(name) => name.clone(),
            Self::Plus => "+".to_owned(),
            Self::Minus => "-".to_owned(),
            Self::Times => "*".to_owned(),
            Self::Divide => "/".to_owned(),
            Self::Remainder => "%".to_owned(),
            Self::Power => "^".to_owned(),
            Self::Open => "(".to_owned(),
            Self::Close => ")".to_owned(),
            Self::Comma => ",".to_owned(),
        }
    }
}

/// Splits an expression into words.
pub(super) fn tokens(expression: &str) -> Result<Vec<Token>, CalculatorError> {
    let characters: Vec<char> = expression.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        let start = at;
        at += 1;
        let kind = match character {
            _ if character.is_whitespace() => continue,
            '+' => TokenKind::Plus,
            // Models copy typographic signs from the texts they read.
            '-' | '−' => TokenKind::Minus,
            '*' if characters.get(at) == Some(&'*') => {
                at += 1;
                TokenKind::Power
            }
            '*' | '×' | '·' => TokenKind::Times,
            '/' | '÷' => TokenKind::Divide,
            '%' => TokenKind::Remainder,
            '^' => TokenKind::Power,
            '(' => TokenKind::Open,
            ')' => TokenKind::Close,
            ',' => TokenKind::Comma,
            '0'..='9' | '.' => {
                let end = number_end(&characters, start);
                let text: String = characters[start..end].iter().collect();
                at = end;
                TokenKind::Number(number(&text, start + 1)?)
            }
            _ if character.is_alphabetic() => {
                while characters
                    .get(at)
                    .is_some_and(|next| next.is_alphanumeric() || *next == '_')
                {
                    at += 1;
                }
                TokenKind::Name(characters[start..at].iter().collect())
            }
            _ => {
                let shown = character.escape_debug();
                return Err(CalculatorError::new(
                    format!("unexpected `{shown}`"),
                    start + 1,
                ));
            }
        };
        tokens.push(Token {
            kind,
            position: start + 1,
        });
    }
    Ok(tokens)
}

/// Where the number that begins at `start` ends.
fn number_end(characters: &[char], start: usize) -> usize {
    let is_digit = |at: usize| characters.get(at).is_some_and(char::is_ascii_digit);
    let mut at = start;
    while let Some(character) = characters.get(at) {
        match character {
            '0'..='9' | '.' | '_' => at += 1,
            'e' | 'E' => {
                let is_signed = matches!(characters.get(at + 1), Some('+' | '-'));
                let digits = at + 1 + usize::from(is_signed);
                if !is_digit(digits) {
                    break;
                }
                at = digits;
            }
            _ => break,
        }
    }
    at
}

fn number(text: &str, position: usize) -> Result<Number, CalculatorError> {
    let digits = text.replace('_', "");
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits.parse().map(Number::Integer).map_err(|_| {
            let message = format!("`{text}` is too large; write it with an exponent, as in 1e40");
            CalculatorError::new(message, position)
        });
    }
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Number::Real(value)),
        Ok(_) => Err(CalculatorError::new(
            format!("`{text}` is too large"),
            position,
        )),
        Err(_) => Err(CalculatorError::new(
            format!("`{text}` is not a number"),
            position,
        )),
    }
}
