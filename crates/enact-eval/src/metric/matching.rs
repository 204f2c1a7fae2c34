//! Compares values.

use serde_json::{Number, Value};

use super::number::{Tolerance, number_of};
use super::text;

/// The same value; numbers are compared numerically.
pub(super) fn exact(expected: &Value, given: &Value) -> bool {
    alike(expected, given, &|expected, given| expected == given)
}

/// The same value; texts are compared ignoring case, punctuation, articles and white space.
pub(super) fn normalised(expected: &Value, given: &Value) -> bool {
    alike(
        expected,
        given,
        &|expected, given| match (expected, given) {
            (Value::String(expected), Value::String(given)) => {
                text::normalised(expected) == text::normalised(given)
            }
            _ => expected == given,
        },
    )
}

/// The same value; numbers are compared with a tolerance, and may be part of a text.
pub(super) fn numeric(expected: &Value, given: &Value, tolerance: Tolerance) -> bool {
    alike(expected, given, &|expected, given| {
        if expected == given {
            return true;
        }
        match (number_of(expected), number_of(given)) {
            (Some(expected), Some(given)) => tolerance.holds(expected, given),
            _ => false,
        }
    })
}

/// A text contains the expected one, ignoring case and white space; a list contains the expected element,
/// or all elements of an expected list.
pub(super) fn contains(expected: &Value, given: &Value) -> bool {
    match (expected, given) {
        (Value::Array(all), _) => all.iter().all(|one| contains(one, given)),
        (_, Value::Array(items)) => items.iter().any(|item| contains(expected, item)),
        (Value::Object(_), _) | (_, Value::Object(_)) => exact(expected, given),
        _ => {
            exact(expected, given)
                || text::folded(&text::plain(given)).contains(&text::folded(&text::plain(expected)))
        }
    }
}

/// All keys of an expected object exist with matching values; the elements of an expected list occur in
/// their order, possibly with others between them. A text may contain the JSON.
pub(super) fn subset(expected: &Value, given: &Value) -> bool {
    match (expected, given) {
        (Value::Object(wanted), Value::Object(there)) => wanted
            .iter()
            .all(|(key, value)| there.get(key).is_some_and(|given| subset(value, given))),
        (Value::Array(wanted), Value::Array(there)) => {
            let mut rest = there.iter();
            wanted
                .iter()
                .all(|value| rest.any(|given| subset(value, given)))
        }
        (Value::Object(_) | Value::Array(_), Value::String(json)) => {
            match serde_json::from_str::<Value>(json) {
                Ok(given) if !given.is_string() => subset(expected, &given),
                _ => false,
            }
        }
        _ => exact(expected, given),
    }
}

/// Compares lists and objects element by element, and anything else with the function.
fn alike(expected: &Value, given: &Value, leaf: &dyn Fn(&Value, &Value) -> bool) -> bool {
    match (expected, given) {
        (Value::Array(expected), Value::Array(given)) => {
            let mut pairs = expected.iter().zip(given);
            expected.len() == given.len() && pairs.all(|(a, b)| alike(a, b, leaf))
        }
        (Value::Object(expected), Value::Object(given)) => {
            let fits =
                |(key, a): (&String, &Value)| given.get(key).is_some_and(|b| alike(a, b, leaf));
            expected.len() == given.len() && expected.iter().all(fits)
        }
        (Value::Number(a), Value::Number(b)) if same_number(a, b) => true,
        _ => leaf(expected, given),
    }
}

/// `1` is `1.0`; integers beyond the range of floats are compared exactly.
fn same_number(a: &Number, b: &Number) -> bool {
    a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(is_match: impl Fn(&Value, &Value) -> bool, cases: &[(Value, Value, bool)]) {
        for (expected, given, result) in cases {
            assert_eq!(is_match(expected, given), *result, "{expected} {given}");
        }
    }

    #[test]
    fn exact_is_json_equality() {
        check(
            exact,
            &[
                (json!("a"), json!("a"), true),
                (json!("a"), json!("A"), false),
                (json!(1), json!(1.0), true),
                (json!(1), json!("1"), false),
                (json!([1, 2]), json!([1.0, 2]), true),
                (json!([1, 2]), json!([2, 1]), false),
                (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), true),
                (json!({"a": 1}), json!({"a": 1, "b": 2}), false),
                (
                    json!(9_007_199_254_740_993_u64),
                    json!(9_007_199_254_740_992_u64),
                    false,
                ),
                (json!(null), json!(null), true),
                (json!(false), json!(null), false),
            ],
        );
    }

    #[test]
    fn normalised_is_about_texts() {
        check(
            normalised,
            &[
                (json!("Eiffel Tower"), json!("the Eiffel tower."), true),
                (json!(["Paris", "Rome"]), json!(["paris", "ROME!"]), true),
                (json!("Paris"), json!("Rome"), false),
                (json!(1), json!(1.0), true),
                (json!("1"), json!(1), false),
            ],
        );
    }

    #[test]
    fn contains_looks_into_texts_and_lists() {
        check(
            contains,
            &[
                (json!("Paris"), json!("It is  paris, of course."), true),
                (json!("Paris"), json!("It is Rome."), false),
                (json!(["Paris", "France"]), json!("Paris in France"), true),
                (json!(["Paris", "Italy"]), json!("Paris in France"), false),
                (json!("b"), json!(["a", "b"]), true),
                (json!(["b", "c"]), json!(["a", "b"]), false),
                (json!(42), json!("It is 42."), true),
                (json!({"a": 1}), json!([{"a": 1}, {"a": 2}]), true),
            ],
        );
    }

    #[test]
    fn numeric_has_a_tolerance_and_reads_texts() {
        let tolerance = Tolerance {
            absolute: 0.1,
            relative: 0.0,
        };
        check(
            |a, b| numeric(a, b, tolerance),
            &[
                (json!(397.8), json!(397.85), true),
                (json!(397.8), json!(398), false),
                (json!(397.8), json!("It is 397.8."), true),
                (json!("397.8"), json!(397.75), true),
                (json!([1, 2]), json!([1.05, 2]), true),
                (json!([1, 2]), json!([1.05]), false),
                (json!({"a": 1}), json!({"a": 1.01}), true),
                (json!("north"), json!("north"), true),
                (json!(1), json!("north"), false),
            ],
        );
    }

    #[test]
    fn a_subset_may_be_surrounded_by_more() {
        check(
            subset,
            &[
                (json!({"a": 1}), json!({"a": 1.0, "b": 2}), true),
                (json!({"a": {"b": 1}}), json!({"a": {"b": 1, "c": 2}}), true),
                (json!({"a": 1}), json!({"b": 1}), false),
                (json!([1, 3]), json!([1, 2, 3]), true),
                (json!([3, 1]), json!([1, 2, 3]), false),
                (json!([{"a": 1}]), json!([{"a": 2}, {"a": 1, "b": 0}]), true),
                (json!({"a": 1}), json!("{\"a\": 1, \"b\": 2}"), true),
                (json!({"a": 1}), json!("none"), false),
                (json!("x"), json!("x"), true),
            ],
        );
    }
}
