use proptest::prelude::*;
use serde_json::json;

use super::*;
use enact_core::tool::{Tool as _, ToolContext};

fn value(expression: &str) -> Value {
    evaluate(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
}

fn problem(expression: &str) -> String {
    evaluate(expression).unwrap_err().to_string()
}

#[test]
fn arithmetic_follows_the_usual_rules() {
    for (expression, expected) in [
        ("6 * 7", json!(42)),
        ("2 + 3 * 4", json!(14)),
        ("(2 + 3) * 4", json!(20)),
        ("10 - 4 - 3", json!(3)),
        ("7 / 2", json!(3.5)),
        ("8 / 2", json!(4)),
        ("7 % 3", json!(1)),
        ("-7 % 3", json!(2)),
        ("7.5 % -2", json!(-0.5)),
        ("2 ^ 10", json!(1024)),
        ("2 ** 3 ** 2", json!(512)),
        ("-2 ^ 2", json!(-4)),
        ("2 ^ -1", json!(0.5)),
        ("2 * -3", json!(-6)),
        ("--2", json!(2)),
        ("1_000 * 3", json!(3000)),
        ("1.5e3 + .5", json!(1500.5)),
        ("2e", json!(null)),
        ("6 × 7 ÷ 2 − 1", json!(20)),
        ("0.1 + 0.2", json!(0.3)),
        ("1240.50 + 310.25 + 89", json!(1639.75)),
    ] {
        if expected.is_null() {
            assert!(evaluate(expression).is_err(), "{expression}");
        } else {
            assert_eq!(value(expression), expected, "{expression}");
        }
    }
}

#[test]
fn functions_and_constants() {
    for (expression, expected) in [
        ("sqrt(16)", json!(4)),
        ("abs(-3) + abs(2.5)", json!(5.5)),
        ("min(3, 1.5, 2)", json!(1.5)),
        ("max(3, 1, 2)", json!(3)),
        ("round(2.5)", json!(3)),
        ("round(2.71828, 2) + 1", json!(3.72)),
        ("floor(-1.5)", json!(-2)),
        ("ceil(1.2)", json!(2)),
        ("ln(e)", json!(1)),
        ("log(1000)", json!(3)),
        ("log(8, 2)", json!(3)),
        ("exp(0)", json!(1)),
        ("sin(0) + cos(0) + tan(0)", json!(1)),
        ("round(3 * PI, 3)", json!(9.425)),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn integers_are_exact_beyond_what_reals_hold() {
    assert_eq!(value("2 ^ 62 + 1"), json!(4_611_686_018_427_387_905_i64));
    assert_eq!(value("2 ^ 64 - 1"), json!(18_446_744_073_709_551_615_u64));
    assert_eq!(value("2 ^ 100"), json!("1267650600228229401496703205376"));
    assert_eq!(value("2.0 ^ 100"), json!(1.267_650_600_228_23e30));
}

#[test]
fn errors_say_what_and_where() {
    for (expression, expected) in [
        ("", "position 1: a number is missing"),
        ("1 +", "position 4: a number is missing"),
        ("2 + * 3", "position 5: a number is missing before `*`"),
        ("(1 + 2", "position 7: a `)` is missing"),
        ("1 + 2)", "position 6: unexpected `)`"),
        ("2 (3)", "position 3: an operator is missing, such as `*`"),
        (
            "1,000 + 1",
            "position 2: unexpected `,`; write large numbers without it, as in 1_000",
        ),
        ("1 $ 2", "position 3: unexpected `$`"),
        ("1.2.3", "position 1: `1.2.3` is not a number"),
        ("4 / (2 - 2)", "position 3: division by zero"),
        ("4 % 0", "position 3: remainder of a division by zero"),
        ("0 ^ -1", "position 3: zero to a negative power"),
        ("sqrt(-1)", "position 1: `sqrt` takes no negative number"),
        ("ln(0)", "position 1: `ln` takes numbers above 0"),
        ("sqrt(1, 2)", "position 1: `sqrt` takes one number"),
        ("min()", "position 1: `min` takes at least one number"),
        (
            "2 ^ 1000",
            "position 3: the result is too large for an exact integer; write a number with a `.` to get it \
             rounded",
        ),
        ("10.0 ^ 400", "position 6: the result is too large"),
        ("1e999", "position 1: `1e999` is too large"),
        (
            "foo(1)",
            "position 1: unknown name `foo`; there are pi, e and the functions sqrt abs min max round floor \
             ceil ln log exp sin cos tan",
        ),
    ] {
        assert_eq!(problem(expression), expected, "{expression}");
    }
}

#[test]
fn length_and_depth_are_bounded() {
    assert!(problem(&"1".repeat(1_001)).contains("the expression is longer than 1000"));
    for opening in ["(", "-", "2^", "sqrt("] {
        let expression = format!("{}1", opening.repeat(150));
        assert!(
            problem(&expression).contains("the expression is nested too deeply"),
            "{opening}"
        );
    }
}

#[tokio::test]
async fn the_tool_answers_with_a_number_or_an_error() {
    let tool = calculator();
    let call = |expression: &str| {
        let args = enact_core::values! { expression: expression };
        tool.call(args, ToolContext::detached("c"))
    };
    assert_eq!(call("6*7").await.unwrap().value, json!(42));
    assert_eq!(
        call("1/0").await.unwrap_err().to_string(),
        "position 2: division by zero"
    );
}

proptest! {
    #[test]
    fn never_panics(expression in ".{0,60}") {
        let _ = evaluate(&expression);
    }

    #[test]
    fn never_panics_on_what_looks_like_arithmetic(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "0", "1", "2", "7.5", "1e300", "9e-300", "170141183460469231731687303715884105727",
                "+", "-", "*", "/", "%", "^", "**", "(", ")", ",", "pi", "e", "sqrt(", "abs(",
                "min(", "max(", "round(", "floor(", "ceil(", "ln(", "log(", "exp(", "sin(", "tan(",
            ]),
            0..40,
        )
    ) {
        if let Ok(value) = evaluate(&words.join(" ")) {
            prop_assert!(value.is_number() || value.is_string());
        }
    }

    #[test]
    fn integer_sums_are_exact(a in any::<i32>(), b in any::<i32>()) {
        prop_assert_eq!(evaluate(&format!("{a} + {b}")).unwrap(), i64::from(a) + i64::from(b));
    }
}
