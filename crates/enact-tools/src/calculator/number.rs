//! Numbers: exact integers, and reals.

use std::fmt;

use serde_json::Value;

/// The largest real below which every integer is exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Real(f64),
}

use Number::{Integer, Real};

/// What has no result.
const OVERFLOW: &str = "the result is too large";
const EXACT_OVERFLOW: &str =
    "the result is too large for an exact integer; write a number with a `.` to get it rounded";

type Outcome = Result<Number, String>;

impl Number {
    pub(super) fn real(self) -> f64 {
        match self {
            Integer(value) => value as f64,
            Real(value) => value,
        }
    }

    fn is_zero(self) -> bool {
        self.real() == 0.0
    }

    pub(super) fn add(self, other: Self) -> Outcome {
        exact_or(self, other, i128::checked_add, |a, b| a + b)
    }

    pub(super) fn subtract(self, other: Self) -> Outcome {
        exact_or(self, other, i128::checked_sub, |a, b| a - b)
    }

    pub(super) fn multiply(self, other: Self) -> Outcome {
        exact_or(self, other, i128::checked_mul, |a, b| a * b)
    }

    pub(super) fn divide(self, other: Self) -> Outcome {
        if other.is_zero() {
            return Err("division by zero".to_owned());
        }
        match (self, other) {
            (Integer(a), Integer(b)) if a.checked_rem(b) == Some(0) => a
                .checked_div(b)
                .map(Integer)
                .ok_or(EXACT_OVERFLOW.to_owned()),
            (a, b) => finite(a.real() / b.real()),
        }
    }

    pub(super) fn remainder(self, other: Self) -> Outcome {
        if other.is_zero() {
            return Err("remainder of a division by zero".to_owned());
        }
        match (self, other) {
            (Integer(a), Integer(b)) => {
                // The only overflow is that of the smallest integer by -1, which leaves nothing.
                let rest = a.checked_rem(b).unwrap_or(0);
                let differs = rest != 0 && (rest < 0) != (b < 0);
                Ok(Integer(if differs { rest + b } else { rest }))
            }
            (a, b) => {
                let (a, b) = (a.real(), b.real());
                finite(a - b * (a / b).floor())
            }
        }
    }

    pub(super) fn power(self, other: Self) -> Outcome {
        if self.is_zero() && other.real() < 0.0 {
            return Err("zero to a negative power".to_owned());
        }
        match (self, other) {
            (Integer(base), Integer(exponent)) if exponent >= 0 => match base {
                0 | 1 => Ok(Integer(if exponent == 0 { 1 } else { base })),
                -1 => Ok(Integer(if exponent % 2 == 0 { 1 } else { -1 })),
                _ => u32::try_from(exponent)
                    .ok()
                    .and_then(|exponent| base.checked_pow(exponent))
                    .map(Integer)
                    .ok_or(EXACT_OVERFLOW.to_owned()),
            },
            (base, exponent) => {
                let result = base.real().powf(exponent.real());
                if result.is_nan() {
                    return Err("a negative number to a fractional power is not real".to_owned());
                }
                finite(result)
            }
        }
    }

    pub(super) fn negate(self) -> Outcome {
        match self {
            Integer(value) => value
                .checked_neg()
                .map(Integer)
                .ok_or(EXACT_OVERFLOW.to_owned()),
            Real(value) => Ok(Real(-value)),
        }
    }

    pub(super) fn absolute(self) -> Outcome {
        if self.real() < 0.0 {
            self.negate()
        } else {
            Ok(self)
        }
    }

    /// Rounded, up or down: an integer where that is exact.
    pub(super) fn rounded(self, round: fn(f64) -> f64) -> Self {
        match self {
            Integer(_) => self,
            Real(value) => whole(round(value)).unwrap_or(Real(round(value))),
        }
    }

    /// The number as JSON: an integer if it is whole, else rounded to the digits that it has.
    pub(super) fn into_json(self) -> Value {
        match self {
            Integer(value) => integer_json(value),
            Real(value) => {
                let value = fifteen_digits(value);
                match whole(value) {
                    Some(Integer(value)) => integer_json(value),
                    _ => Value::from(value),
                }
            }
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Integer(value) => value.fmt(f),
            Real(value) => value.fmt(f),
        }
    }
}

fn exact_or(
    a: Number,
    b: Number,
    exact: fn(i128, i128) -> Option<i128>,
    real: fn(f64, f64) -> f64,
) -> Outcome {
    match (a, b) {
        (Integer(a), Integer(b)) => exact(a, b).map(Integer).ok_or(EXACT_OVERFLOW.to_owned()),
        (a, b) => finite(real(a.real(), b.real())),
    }
}

/// A real result, unless it went beyond what can be held.
pub(super) fn finite(value: f64) -> Outcome {
    if value.is_finite() {
        Ok(Real(value))
    } else {
        Err(OVERFLOW.to_owned())
    }
}

fn whole(value: f64) -> Option<Number> {
    (value.fract() == 0.0 && value.abs() < EXACT).then_some(Integer(value as i128))
}

fn integer_json(value: i128) -> Value {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(small), _) => Value::from(small),
        (_, Ok(large)) => Value::from(large),
        _ => Value::String(value.to_string()),
    }
}

/// Sums of decimal fractions carry noise in the 16th digit; spreadsheets drop it, too.
fn fifteen_digits(value: f64) -> f64 {
    format!("{value:.14e}").parse().unwrap_or(value)
}
