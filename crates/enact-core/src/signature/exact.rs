//! Parses JSON without losing information.
//!
//! JSON parsers change a number that they can't represent, and drop the first value of a duplicate key,
//! both silently. Here such a number is kept as the text that was written, for a validator to convert
//! exactly or to reject, and both are reported.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Number, Value};

/// Numbers of other languages that JSON doesn't have.
const UNKNOWN: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// A parsed JSON text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Exact {
    /// The value.
    pub(crate) value: Value,
    /// The numbers that were kept as text, with the reason.
    pub(crate) kept: Vec<String>,
    /// The duplicate keys.
    pub(crate) twice: Vec<String>,
}

/// Parses a JSON text.
pub(crate) fn parse(text: &str) -> Result<Exact, serde_json::Error> {
    let mut kept = Vec::new();
    let text = quoted(text, &mut kept);
    let value = serde_json::from_str(&text)?;
    // Where no key was dropped, none was given twice.
    let twice = match keys_in(&text) == keys_of(&value) {
        true => Vec::new(),
        false => given_twice(&text),
    };
    Ok(Exact { value, kept, twice })
}

/// How many keys the objects of this JSON text have.
fn keys_in(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut keys, mut at) = (0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at),
            // Outside of strings, it stands behind a key.
            byte => {
                keys += usize::from(byte == b':');
                at += 1;
            }
        }
    }
    keys
}

/// How many keys the objects of a value have.
fn keys_of(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.len() + fields.values().map(keys_of).sum::<usize>(),
        Value::Array(items) => items.iter().map(keys_of).sum(),
        _ => 0,
    }
}

/// Reports duplicate keys in the objects of this JSON text.
fn given_twice(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    // The keys of each open object or list.
    let mut open: Vec<HashSet<String>> = Vec::new();
    let mut twice = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => open.push(HashSet::new()),
            b'}' | b']' => drop(open.pop()),
            b'"' => {
                let end = end_of_string(bytes, at);
                let is_key = text[end..].trim_start().starts_with(':');
                let key = is_key.then(|| serde_json::from_str::<String>(&text[at..end]));
                if let (Some(Ok(key)), Some(known)) = (key, open.last_mut())
                    && let Some(key) = known.replace(key)
                {
                    twice.push(format!("`{key}` is given twice: the last value counts"));
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    twice
}

/// The text with quotes around every number that would change.
fn quoted<'t>(text: &'t str, kept: &mut Vec<String>) -> Cow<'t, str> {
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at] == b'"' {
            at = end_of_string(bytes, at);
            continue;
        }
        if !is_part(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && is_part(bytes[at]) {
            at += 1;
        }
        let token = &text[start..at];
        if let Some(why) = loss(token) {
            kept.push(format!("{token} was kept as text: {why}"));
            out.push_str(&text[copied..start]);
            out.push_str(&format!("\"{token}\""));
            copied = at;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The position after the string that starts here.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Why a number can't be represented as written, if it can't.
pub(super) fn loss(number: &str) -> Option<&'static str> {
    if UNKNOWN.contains(&number) {
        return Some("JSON has no such number");
    }
    let digits = number.strip_prefix('-').unwrap_or(number);
    if !digits.starts_with(|c: char| c.is_ascii_digit())
        || number.parse::<i64>().is_ok()
        || number.parse::<u64>().is_ok()
    {
        return None;
    }
    let float: f64 = number.parse().ok()?;
    let mantissa = digits.split(['e', 'E']).next().unwrap_or(digits);
    if float.is_infinite() {
        return Some("it is too large for a number");
    }
    if float == 0.0 && mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
        return Some("it is too small for a number");
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some("it has more than 64 bits");
    }
    let whole = integer(number)?;
    // The shortest spelling of a float means that float.
    if integer(&format!("{float:e}")) == Some(whole.clone()) {
        return None;
    }
    let whole = whole
        .as_i64()
        .map(i128::from)
        .or(whole.as_u64().map(i128::from))?;
    (cast(float) != whole).then_some("it has more digits than a float keeps")
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a float beyond the range is no 64-bit integer"
)]
fn cast(float: f64) -> i128 {
    float as i128
}

/// The 64-bit integer that a decimal number equals exactly: `9007199254740993.0`, `1e18`.
pub(super) fn integer(text: &str) -> Option<Number> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0.into());
    }
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let shift = i64::from(exponent) - i64::try_from(fraction.len()).ok()? + zeros;
    // More digits than any 64-bit integer has.
    let shift = usize::try_from(shift).ok().filter(|shift| *shift < 20)?;
    let digits = format!("{sign}{significant}{}", "0".repeat(shift));
    let signed = digits.parse::<i64>().map(Number::from);
    signed
        .or_else(|_| digits.parse::<u64>().map(Number::from))
        .ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_that_would_become_others_stay_text() {
        for token in [
            "9223372036854775808e0",
            "-9223372036854775809",
            "12345678901234567890123",
            "9223372036854775807.0",
            "9007199254740993.0",
            "1e400",
            "-1e400",
            "1e-400",
            "NaN",
            "-Infinity",
        ] {
            let exact = parse(&format!("{{\"a\": [{token}]}}")).unwrap();
            let is_whole_float = token == "9223372036854775808e0";
            let expected = match is_whole_float {
                true => json!({"a": [9_223_372_036_854_775_808.0_f64]}),
                false => json!({"a": [token]}),
            };
            assert_eq!(exact.value, expected, "{token}");
            assert_eq!(exact.kept.is_empty(), is_whole_float, "{token}");
        }
        for token in [
            "1",
            "-0.5",
            "1e18",
            "0.1234567890123456789",
            "1e300",
            "0e-400",
            "2.0",
            "9.223372036854776e18",
        ] {
            let exact = parse(token).unwrap();
            assert_eq!(exact.value, serde_json::from_str::<Value>(token).unwrap());
            assert_eq!(exact.kept, Vec::<String>::new(), "{token}");
        }
        assert_eq!(parse(r#""say \" 1e400""#).unwrap().value, "say \" 1e400");
        assert!(parse("{1e400").is_err());
    }

    #[test]
    fn keys_that_are_given_twice_are_told() {
        let exact = parse(r#"{"a": 1, "b": {"a": 2}, "a": 3}"#).unwrap();
        assert_eq!(exact.value, json!({"a": 3, "b": {"a": 2}}));
        assert_eq!(exact.twice, ["`a` is given twice: the last value counts"]);
    }

    #[test]
    fn integers_are_exact() {
        for (text, expected) in [
            ("9007199254740993.0", "9007199254740993"),
            ("9223372036854775807.000", "9223372036854775807"),
            ("1e18", "1000000000000000000"),
            ("-1.5e1", "-15"),
            ("0.0", "0"),
            ("1.8446744073709551615e19", "18446744073709551615"),
        ] {
            assert_eq!(integer(text).unwrap().to_string(), expected, "{text}");
        }
        for text in ["1.5", "1e19999", "1e20", "-1e19", ".", "x", "1e-1"] {
            assert_eq!(integer(text), None, "{text}");
        }
    }
}
