//! Numbers in values and in text.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The tolerance: the larger of the two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tolerance {
    /// An absolute difference.
    pub absolute: f64,
    /// A share of the expected number.
    pub relative: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self {
            absolute: 1e-9,
            relative: 1e-6,
        }
    }
}

impl Tolerance {
    pub(super) fn check(self) -> Result<(), String> {
        let is_fine = |value: f64| value.is_finite() && value >= 0.0;
        if is_fine(self.absolute) && is_fine(self.relative) {
            Ok(())
        } else {
            Err("the metric `numeric`: a tolerance is 0 or more".to_owned())
        }
    }

    pub(super) fn holds(self, expected: f64, given: f64) -> bool {
        (expected - given).abs() <= self.absolute.max(self.relative * expected.abs())
    }
}

/// The number in a value, or the last one in a text.
pub(super) fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => last_number(text),
        _ => None,
    }
}

/// The last number in a text. Commas group digits: `1,234.5`.
fn last_number(text: &str) -> Option<f64> {
    let mut last = None;
    let mut at = 0;
    while let Some(found) = text[at..].find(|c: char| c.is_ascii_digit()) {
        let start = at + found;
        at = start + number_length(&text[start..]);
        let digits = text[start..at].replace(',', "");
        if let Ok(number) = digits.parse::<f64>() {
            let is_negative = is_negated(&text[..start]);
            last = Some(if is_negative { -number } else { number });
        }
    }
    last.filter(|number| number.is_finite())
}

/// A minus sign counts unless it is a hyphen, as in `3-4` and `model-4`.
fn is_negated(before: &str) -> bool {
    let Some(rest) = before.strip_suffix(['-', '\u{2212}']) else {
        return false;
    };
    !rest.ends_with(char::is_alphanumeric)
}

/// The length in bytes of the number at the start of the text.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    let mut has_point = false;
    loop {
        match bytes.get(end) {
            Some(byte) if byte.is_ascii_digit() => end += 1,
            Some(b',') if !has_point && is_digit(end + 1) => end += 1,
            Some(b'.') if !has_point && is_digit(end + 1) => {
                has_point = true;
                end += 1;
            }
            Some(b'e' | b'E') => {
                let signed = matches!(bytes.get(end + 1), Some(b'-' | b'+'));
                let digits = end + 1 + usize::from(signed);
                if !is_digit(digits) {
                    return end;
                }
                end = digits;
                while is_digit(end) {
                    end += 1;
                }
                return end;
            }
            _ => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_found_in_text() {
        for (text, number) in [
            ("42", Some(42.0)),
            ("The answer is 42.", Some(42.0)),
            ("6 * 7 = 42 km", Some(42.0)),
            ("$1,234.50", Some(1234.5)),
            ("-3.5 °C", Some(-3.5)),
            ("\u{2212}3", Some(-3.0)),
            ("10-4", Some(4.0)),
            ("1.5e3", Some(1500.0)),
            ("2e", Some(2.0)),
            ("12 %", Some(12.0)),
            ("version 1.2.3", Some(3.0)),
            ("none", None),
            ("", None),
        ] {
            assert_eq!(number_of(&json!(text)), number, "{text}");
        }
        assert_eq!(number_of(&json!(7)), Some(7.0));
        assert_eq!(number_of(&json!(true)), None);
    }

    #[test]
    fn the_larger_tolerance_counts() {
        let tolerance = Tolerance {
            absolute: 0.5,
            relative: 0.01,
        };
        assert!(tolerance.holds(10.0, 10.5));
        assert!(!tolerance.holds(10.0, 10.6));
        assert!(tolerance.holds(1000.0, 1009.0));
        assert!(!tolerance.holds(1000.0, 1011.0));
        assert!(Tolerance::default().holds(0.1 + 0.2, 0.3));
    }
}
