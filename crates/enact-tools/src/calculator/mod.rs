//! A calculator.

mod function;
mod number;
mod parser;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use enact_core::tool::{FnTool, ToolError};

/// The maximum length of an expression, in characters.
const MAX_LENGTH: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Such as `12 * (7 + 2)`.
    expression: String,
}

/// The tool `calculator`: evaluates an arithmetic expression. See [`evaluate`].
pub fn calculator() -> FnTool {
    FnTool::new(
        "calculator",
        "Evaluates an arithmetic expression: + - * / % ^ (or **), parentheses, the constants pi \
         and e, and the functions sqrt, abs, min, max, round(x, digits), floor, ceil, ln, \
         log(x, base) with base 10 unless given, exp, sin, cos, tan (radians).",
        |args: Args, _context| {
            let result =
                evaluate(&args.expression).map_err(|error| ToolError::new(error.to_string()));
            std::future::ready(result)
        },
    )
    .built_in()
    .read_only()
}

/// The value of an arithmetic expression, as a JSON number.
///
/// Integers are exact and stay integers; one that JSON numbers can't represent is returned as text. Other
/// results have 15 significant digits. `%` has the sign of the divisor, and `^` binds tighter
/// than a preceding minus.
///
/// ```
/// use enact::tool::builtin::evaluate;
///
/// assert_eq!(evaluate("6 * 7").unwrap(), 42);
/// assert_eq!(evaluate("0.1 + 0.2").unwrap(), 0.3);
/// assert_eq!(evaluate("sqrt(16) - 2 ^ -1").unwrap(), 3.5);
/// assert_eq!(evaluate("1 / 0").unwrap_err().to_string(), "position 3: division by zero");
/// ```
pub fn evaluate(expression: &str) -> Result<Value, CalculatorError> {
    if expression.chars().nth(MAX_LENGTH).is_some() {
        let message = format!("the expression is longer than {MAX_LENGTH} characters");
        return Err(CalculatorError::new(message, MAX_LENGTH + 1));
    }
    Ok(parser::evaluate(expression)?.into_json())
}

/// An expression without a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("position {position}: {message}")]
pub struct CalculatorError {
    message: String,
    position: usize,
}

impl CalculatorError {
    fn new(message: impl Into<String>, position: usize) -> Self {
        Self {
            message: message.into(),
            position,
        }
    }

    /// The position in the expression, in characters from 1.
    pub fn position(&self) -> usize {
        self.position
    }
}

#[cfg(test)]
mod tests;
