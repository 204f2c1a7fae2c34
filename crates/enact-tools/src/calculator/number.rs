//! Numbers: exact integers, and reals.

use serde_json::Value;

/// The largest real below which every integer is exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Real(f64),
}

use Number::{Integer, Real};

/// A number, or an error.
pub(super) type Outcome = Result<Number, String>;

impl Number {
    pub(super) fn real(self) -> f64 {
        match self {
            Integer(value) => value as f64,
            Real(value) => value,
        }
    }

    /// Rounded, up or down: an integer where that is exact.
    pub(super) fn rounded(self, round: fn(f64) -> f64) -> Self {
        match self {
            Integer(_) => self,
            Real(value) => whole(round(value)),
        }
    }

    /// The number as JSON: an integer if it is whole, otherwise rounded to its precision.
    pub(super) fn into_json(self) -> Value {
        let value = match self {
            Integer(_) => self,
            // Sums of decimal fractions have noise in the 16th digit; spreadsheets drop it too.
            Real(value) => whole(format!("{value:.14e}").parse().unwrap_or(value)),
        };
        match value {
            Real(value) => Value::from(value),
            Integer(value) => serde_json::Number::from_i128(value)
                .map_or_else(|| Value::String(value.to_string()), Value::Number),
        }
    }
}

/// The result of an operator.
pub(super) fn apply(operator: char, left: Number, right: Number) -> Outcome {
    let (a, b) = (left.real(), right.real());
    match (operator, left, right) {
        ('/', ..) if b == 0.0 => Err("division by zero".to_owned()),
        ('%', ..) if b == 0.0 => Err("remainder of a division by zero".to_owned()),
        ('^', ..) if a == 0.0 && b < 0.0 => Err("zero to a negative power".to_owned()),
        ('+', Integer(a), Integer(b)) => exact(a.checked_add(b)),
        ('-', Integer(a), Integer(b)) => exact(a.checked_sub(b)),
        ('*', Integer(a), Integer(b)) => exact(a.checked_mul(b)),
        ('/', Integer(a), Integer(b)) if a.checked_rem(b) == Some(0) => exact(a.checked_div(b)),
        ('%', Integer(a), Integer(b)) => {
            // The only overflow is the smallest integer divided by -1, which leaves no remainder.
            let rest = a.checked_rem(b).unwrap_or(0);
            let differs = rest != 0 && (rest < 0) != (b < 0);
            Ok(Integer(if differs { rest + b } else { rest }))
        }
        ('^', Integer(base), Integer(exponent)) if exponent >= 0 => {
            // Powers of these stay small, however large the exponent is.
            let is_small = (-1..=1).contains(&base) && exponent > 0;
            let exponent = if is_small { 2 - exponent % 2 } else { exponent };
            let exponent = u32::try_from(exponent).ok();
            exact(exponent.and_then(|exponent| base.checked_pow(exponent)))
        }
        ('+', ..) => finite(a + b),
        ('-', ..) => finite(a - b),
        ('*', ..) => finite(a * b),
        ('/', ..) => finite(a / b),
        ('%', ..) => finite(a - b * (a / b).floor()),
        _ if a < 0.0 && b.fract() != 0.0 => {
            Err("a negative number to a fractional power is not real".to_owned())
        }
        _ => finite(a.powf(b)),
    }
}

/// A real result, unless it is out of range.
pub(super) fn finite(value: f64) -> Outcome {
    let problem = || "the result is too large".to_owned();
    value.is_finite().then_some(Real(value)).ok_or_else(problem)
}

fn exact(value: Option<i128>) -> Outcome {
    value.map(Integer).ok_or_else(|| {
        "the result is too large for an exact integer; write a number with a `.` to get it rounded"
            .to_owned()
    })
}

fn whole(value: f64) -> Number {
    if value.fract() == 0.0 && value.abs() < EXACT {
        Integer(value as i128)
    } else {
        Real(value)
    }
}
