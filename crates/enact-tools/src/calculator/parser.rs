//! Evaluates while it reads: a recursive descent over the words.

use super::CalculatorError;
use super::number::{Number, finite};
use super::token::{Token, TokenKind};

/// How deep parentheses, signs and powers may nest.
const MAX_DEPTH: usize = 64;

/// What may be called, for the message about anything else.
const FUNCTIONS: &str = "sqrt abs min max round floor ceil ln log exp sin cos tan";

type Parsed = Result<Number, CalculatorError>;

/// The value of an expression; `end` is the position behind it.
pub(super) fn evaluate(tokens: &[Token], end: usize) -> Parsed {
    let mut parser = Parser {
        tokens,
        at: 0,
        end,
        depth: 0,
    };
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(TokenKind::Comma) => {
            Err(parser.fail("unexpected `,`; write large numbers without it, as in 1_000"))
        }
        Some(TokenKind::Number(_) | TokenKind::Name(_) | TokenKind::Open) => {
            Err(parser.fail("an operator is missing, such as `*`"))
        }
        Some(other) => Err(parser.fail(format!("unexpected `{}`", other.shown()))),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    end: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn position(&self) -> usize {
        self.tokens
            .get(self.at)
            .map_or(self.end, |token| token.position)
    }

    fn fail(&self, message: impl Into<String>) -> CalculatorError {
        CalculatorError::new(message, self.position())
    }

    fn take(&mut self, wanted: &TokenKind) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    /// Reads one level deeper, unless that is too deep.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth == MAX_DEPTH {
            return Err(self.fail("the expression is nested too deeply"));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn sum(&mut self) -> Parsed {
        let mut value = self.product()?;
        while let Some(operator) = self.peek() {
            let apply = match operator {
                TokenKind::Plus => Number::add,
                TokenKind::Minus => Number::subtract,
                _ => break,
            };
            value = self.operate(value, apply, Self::product)?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Parsed {
        let mut value = self.signed()?;
        while let Some(operator) = self.peek() {
            let apply = match operator {
                TokenKind::Times => Number::multiply,
                TokenKind::Divide => Number::divide,
                TokenKind::Remainder => Number::remainder,
                _ => break,
            };
            value = self.operate(value, apply, Self::signed)?;
        }
        Ok(value)
    }

    /// Applies the operator that comes next to `left` and what `read` reads behind it.
    fn operate(
        &mut self,
        left: Number,
        apply: fn(Number, Number) -> Result<Number, String>,
        read: fn(&mut Self) -> Parsed,
    ) -> Parsed {
        let position = self.position();
        self.at += 1;
        let right = read(self)?;
        apply(left, right).map_err(|message| CalculatorError::new(message, position))
    }

    fn signed(&mut self) -> Parsed {
        let position = self.position();
        if self.take(&TokenKind::Minus) {
            let value = self.nested(Self::signed)?;
            return value
                .negate()
                .map_err(|message| CalculatorError::new(message, position));
        }
        if self.take(&TokenKind::Plus) {
            return self.nested(Self::signed);
        }
        self.power()
    }

    /// Binds tighter than a sign on its left, and to the right: `-2 ^ 3 ^ 2` is `-(2 ^ (3 ^ 2))`.
    fn power(&mut self) -> Parsed {
        let base = self.atom()?;
        if self.peek() != Some(&TokenKind::Power) {
            return Ok(base);
        }
        self.operate(base, Number::power, |parser| parser.nested(Self::signed))
    }

    fn atom(&mut self) -> Parsed {
        let start = self.at;
        match self.peek() {
            Some(TokenKind::Number(number)) => {
                self.at += 1;
                Ok(*number)
            }
            Some(TokenKind::Open) => {
                self.at += 1;
                let value = self.nested(Self::sum)?;
                self.close()?;
                Ok(value)
            }
            Some(TokenKind::Name(name)) => {
                self.at += 1;
                let position = self.tokens[start].position;
                if !self.take(&TokenKind::Open) {
                    return constant(name).ok_or_else(|| unknown(name, position));
                }
                let mut args = Vec::new();
                if self.peek() != Some(&TokenKind::Close) {
                    args.push(self.nested(Self::sum)?);
                    while self.take(&TokenKind::Comma) {
                        args.push(self.nested(Self::sum)?);
                    }
                }
                self.close()?;
                call(name, &args)
                    .unwrap_or_else(|| Err(unknown(name, position).message))
                    .map_err(|message| CalculatorError::new(message, position))
            }
            Some(other) => {
                Err(self.fail(format!("a number is missing before `{}`", other.shown())))
            }
            None => Err(self.fail("a number is missing")),
        }
    }

    fn close(&mut self) -> Result<(), CalculatorError> {
        if self.take(&TokenKind::Close) {
            return Ok(());
        }
        Err(self.fail("a `)` is missing"))
    }
}

fn unknown(name: &str, position: usize) -> CalculatorError {
    let message = format!("unknown name `{name}`; there are pi, e and the functions {FUNCTIONS}");
    CalculatorError::new(message, position)
}

fn constant(name: &str) -> Option<Number> {
    match name.to_lowercase().as_str() {
        "pi" | "π" => Some(Number::Real(std::f64::consts::PI)),
        "e" => Some(Number::Real(std::f64::consts::E)),
        _ => None,
    }
}

/// The value of a function, or `None` if there is no such function.
fn call(name: &str, args: &[Number]) -> Option<Result<Number, String>> {
    let name = name.to_lowercase();
    let real = |function: fn(f64) -> f64| match args {
        [x] => finite(function(x.real())),
        _ => Err(takes(&name, "one number")),
    };
    let positive = |function: fn(f64) -> f64| match args {
        [x] if x.real() <= 0.0 => Err(format!("`{name}` takes numbers above 0")),
        _ => real(function),
    };
    let extreme = |pick: fn(&f64, &f64) -> bool| {
        let best = args.iter().copied().reduce(|best, x| {
            if pick(&x.real(), &best.real()) {
                x
            } else {
                best
            }
        });
        best.ok_or_else(|| takes(&name, "at least one number"))
    };
    let rounded = |round: fn(f64) -> f64| match args {
        [x] => Ok(x.rounded(round)),
        _ => Err(takes(&name, "one number")),
    };
    Some(match name.as_str() {
        "sqrt" => match args {
            [x] if x.real() < 0.0 => Err("`sqrt` takes no negative number".to_owned()),
            _ => real(f64::sqrt),
        },
        "abs" => match args {
            [x] => x.absolute(),
            _ => Err(takes(&name, "one number")),
        },
        "min" => extreme(f64::lt),
        "max" => extreme(f64::gt),
        "floor" => rounded(f64::floor),
        "ceil" => rounded(f64::ceil),
        "round" => match args {
            [x] => Ok(x.rounded(f64::round)),
            [x, digits] => round_to(*x, *digits),
            _ => Err(takes(
                &name,
                "one number, or a number and how many digits to keep",
            )),
        },
        "ln" => positive(f64::ln),
        "log" => match args {
            [x, base] => logarithm(x.real(), base.real()),
            _ => positive(f64::log10),
        },
        "exp" => real(f64::exp),
        "sin" => real(f64::sin),
        "cos" => real(f64::cos),
        "tan" => real(f64::tan),
        _ => return None,
    })
}

fn takes(name: &str, what: &str) -> String {
    format!("`{name}` takes {what}")
}

fn round_to(x: Number, digits: Number) -> Result<Number, String> {
    let Number::Integer(digits @ 0..=15) = digits else {
        return Err("`round` keeps 0 to 15 digits".to_owned());
    };
    let Number::Real(x) = x else { return Ok(x) };
    let scale = 10_f64.powi(i32::try_from(digits).unwrap_or_default());
    let scaled = (x * scale).round() / scale;
    // A number too large to be scaled has no digits to round away.
    Ok(Number::Real(if scaled.is_finite() { scaled } else { x }))
}

fn logarithm(x: f64, base: f64) -> Result<Number, String> {
    if x <= 0.0 || base <= 0.0 || base == 1.0 {
        return Err("`log` takes a number above 0 and a base above 0 other than 1".to_owned());
    }
    finite(x.ln() / base.ln())
}
