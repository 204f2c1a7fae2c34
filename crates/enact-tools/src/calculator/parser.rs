//! Evaluates while parsing, by the precedence of operators.

use super::CalculatorError;
use super::function;
use super::number::{Number, apply};

/// The maximum nesting of parentheses, signs and operators.
const MAX_DEPTH: usize = 128;
/// The precedence of a sign: below a power, above a product.
const SIGN: u8 = 5;

type Parsed = Result<Number, CalculatorError>;

/// The value of an expression.
pub(super) fn evaluate(expression: &str) -> Parsed {
    let mut parser = Parser {
        text: expression.chars().collect(),
        at: 0,
        depth: 0,
    };
    let value = parser.expression(0)?;
    let problem = match parser.peek() {
        None => return Ok(value),
        Some(',') => "unexpected `,`; write large numbers without it, as in 1_000".to_owned(),
        Some(c) if c == '(' || c == '.' || c.is_alphanumeric() => {
            "an operator is missing, such as `*`".to_owned()
        }
        Some(c) => format!("unexpected `{}`", c.escape_debug()),
    };
    Err(parser.fail(problem))
}

struct Parser {
    text: Vec<char>,
    /// The position after what was read, including white space after `peek`.
    at: usize,
    depth: usize,
}

impl Parser {
    /// The next character that is not white space.
    fn peek(&mut self) -> Option<char> {
        let is_space = |c: &&char| c.is_whitespace();
        self.at += self.text[self.at..].iter().take_while(is_space).count();
        self.text.get(self.at).copied()
    }

    fn fail(&self, message: impl Into<String>) -> CalculatorError {
        CalculatorError::new(message, self.at + 1)
    }

    /// Reads characters while they match.
    fn word(&mut self, fits: impl Fn(char) -> bool) -> String {
        let word: String = self.text[self.at..]
            .iter()
            .copied()
            .take_while(|c| fits(*c))
            .collect();
        self.at += word.chars().count();
        word
    }

    /// The next operator, its precedence to the left and to the right, and its length in
    /// characters.
    fn operator(&mut self) -> Option<(char, u8, u8, usize)> {
        let next = self.peek()?;
        let is_twice = self.text.get(self.at + 1) == Some(&next);
        Some(match next {
            '+' => ('+', 1, 2, 1),
            // Models copy typographic signs from texts.
            '-' | '−' => ('-', 1, 2, 1),
            '*' if is_twice => ('^', 6, SIGN, 2),
            '^' => ('^', 6, SIGN, 1),
            '*' | '×' | '·' => ('*', 3, 4, 1),
            '/' | '÷' => ('/', 3, 4, 1),
            '%' => ('%', 3, 4, 1),
            _ => return None,
        })
    }

    /// Reads operands and operators with at least this precedence.
    fn expression(&mut self, least: u8) -> Parsed {
        if self.depth == MAX_DEPTH {
            return Err(self.fail("the expression is nested too deeply"));
        }
        self.depth += 1;
        let mut value = self.operand()?;
        while let Some((operator, left, right, length)) = self.operator()
            && left >= least
        {
            let position = self.at + 1;
            self.at += length;
            let other = self.expression(right)?;
            value = apply(operator, value, other).map_err(|m| CalculatorError::new(m, position))?;
        }
        self.depth -= 1;
        Ok(value)
    }

    fn operand(&mut self) -> Parsed {
        let Some(next) = self.peek() else {
            return Err(self.fail("a number is missing"));
        };
        let position = self.at + 1;
        let wrong = |message| CalculatorError::new(message, position);
        match (next, self.operator()) {
            ('0'..='9' | '.', _) => self.number(),
            ('(', _) => {
                self.at += 1;
                let value = self.expression(0)?;
                self.close()?;
                Ok(value)
            }
            (_, Some((sign @ ('+' | '-'), ..))) => {
                self.at += 1;
                let value = self.expression(SIGN)?;
                apply(sign, Number::Integer(0), value).map_err(wrong)
            }
            (_, Some((operator, ..))) => {
                Err(self.fail(format!("a number is missing before `{operator}`")))
            }
            (')' | ',', _) => Err(self.fail(format!("a number is missing before `{next}`"))),
            _ if next.is_alphabetic() => {
                let name = self.word(|c| c.is_alphanumeric() || c == '_');
                if self.peek() != Some('(') {
                    return function::constant(&name).map_err(wrong);
                }
                let args = self.arguments()?;
                function::call(&name, &args).map_err(wrong)
            }
            _ => Err(self.fail(format!("unexpected `{}`", next.escape_debug()))),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Number>, CalculatorError> {
        self.at += 1;
        let mut args = Vec::new();
        if self.peek() != Some(')') {
            args.push(self.expression(0)?);
            while self.peek() == Some(',') {
                self.at += 1;
                args.push(self.expression(0)?);
            }
        }
        self.close()?;
        Ok(args)
    }

    fn close(&mut self) -> Result<(), CalculatorError> {
        if self.peek() != Some(')') {
            return Err(self.fail("a `)` is missing"));
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self) -> Parsed {
        let start = self.at;
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '_');
        let mut text = self.word(is_part);
        // An exponent has digits: `2e` is a number and a constant.
        let behind = &self.text[self.at..];
        let sign = usize::from(matches!(behind.get(1), Some('+' | '-')));
        if matches!(behind.first(), Some('e' | 'E'))
            && behind.get(1 + sign).is_some_and(char::is_ascii_digit)
        {
            text.extend(&behind[..1 + sign]);
            self.at += 1 + sign;
            text += &self.word(is_part);
        }
        let fail = |what| Err(CalculatorError::new(format!("`{text}` {what}"), start + 1));
        let digits = text.replace('_', "");
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let value = digits.parse().map(Number::Integer);
            return value.or_else(|_| fail("is too large; write it with an exponent, as in 1e40"));
        }
        match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Number::Real(value)),
            Ok(_) => fail("is too large"),
            Err(_) => fail("is not a number"),
        }
    }
}
