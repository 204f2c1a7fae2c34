//! Checking and coercing values.

use std::time::Instant;

use enact::signature::{Type, Validator};
use proptest::prelude::*;
use serde_json::{Value, json};

fn object(properties: Value, required: &[&str]) -> Validator {
    Validator::new(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
        "$defs": {"Count": {"type": "integer"}, "Unit": {"enum": ["C", "F"]}},
    }))
    .unwrap()
}

#[test]
fn what_is_coerced() {
    let optional = |ty: &str| json!({"anyOf": [{"type": ty}, {"type": "null"}]});
    let text = json!({"type": "string"});
    for (schema, given, wanted) in [
        (json!({"type": "integer"}), json!("2"), json!(2)),
        (json!({"type": "integer"}), json!(" 2\n"), json!(2)),
        (json!({"type": "integer"}), json!("2.0"), json!(2)),
        (json!({"type": "integer"}), json!(2.0), json!(2)),
        (json!({"type": "integer"}), json!("-7"), json!(-7)),
        (
            json!({"type": "integer"}),
            json!("18446744073709551615"),
            json!(u64::MAX),
        ),
        (json!({"type": "number"}), json!("2.5"), json!(2.5)),
        (
            json!({"type": "number"}),
            json!("123_456.789"),
            json!(123_456.789),
        ),
        (json!({"type": "number"}), json!("1e3"), json!(1000)),
        (json!({"type": "number"}), json!("0.1"), json!(0.1)),
        (json!({"type": "boolean"}), json!("true"), json!(true)),
        (json!({"type": "boolean"}), json!("False"), json!(false)),
        (text.clone(), json!(5), json!("5")),
        (text.clone(), json!(2.5), json!("2.5")),
        (text.clone(), json!(true), json!("true")),
        (
            json!({"type": "object"}),
            json!("{\"a\": 1}"),
            json!({"a": 1}),
        ),
        (
            json!({"type": "object"}),
            json!("{'a': True}"),
            json!({"a": true}),
        ),
        (json!({"type": "array"}), json!("[1, 2]"), json!([1, 2])),
        (
            json!({"type": "array", "items": {"type": "integer"}}),
            json!("[\"1\"]"),
            json!([1]),
        ),
        (
            json!({"enum": ["yes", "no"]}),
            json!("\"yes\""),
            json!("yes"),
        ),
        (json!({"enum": ["yes", "no"]}), json!("{Yes}"), json!("yes")),
        (json!({"enum": ["yes", "no"]}), json!(" NO. "), json!("no")),
        (
            json!({"enum": ["NOT ENOUGH INFO"]}),
            json!("not_enough_info"),
            json!("NOT ENOUGH INFO"),
        ),
        (json!({"enum": [1, 2]}), json!("2"), json!(2)),
        (json!({"enum": ["1", "2"]}), json!(2), json!("2")),
        (json!({"const": "ok"}), json!("OK"), json!("ok")),
        (optional("integer"), json!("3"), json!(3)),
        (optional("integer"), json!("null"), json!(null)),
        (optional("integer"), json!("None"), json!(null)),
        (optional("string"), json!("null"), json!("null")),
        (optional("string"), json!(4), json!("4")),
        (json!({"type": ["integer", "null"]}), json!("4"), json!(4)),
        (
            json!({"oneOf": [{"type": "integer"}, {"type": "boolean"}]}),
            json!("true"),
            json!(true),
        ),
        (
            json!({"allOf": [{"type": "integer"}, {"minimum": 1}]}),
            json!("4"),
            json!(4),
        ),
        (json!({"$ref": "#/$defs/Count"}), json!("4"), json!(4)),
        (json!({"$ref": "#/$defs/Unit"}), json!("'c'"), json!("C")),
        (
            json!({"type": "array", "items": {"$ref": "#/$defs/Count"}}),
            json!(["1", 2.0]),
            json!([1, 2]),
        ),
        (
            json!({"anyOf": [
                {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
                {"type": "object", "properties": {"s": {"type": "boolean"}}, "required": ["s"]},
            ]}),
            json!("{\"s\": \"true\"}"),
            json!({"s": true}),
        ),
    ] {
        let checked =
            object(json!({"v": schema.clone()}), &["v"]).check(json!({"v": given.clone()}));
        let checked = checked.unwrap_or_else(|problems| panic!("{schema} of {given}: {problems}"));
        assert_eq!(
            checked.value,
            json!({"v": wanted.clone()}),
            "{schema} of {given}"
        );
        assert_eq!(
            checked.coerced.is_empty(),
            given == wanted,
            "{given}: {:?}",
            checked.coerced
        );
    }
}

#[test]
fn null_for_what_may_be_left_out_is_left_out() {
    let validator = object(
        json!({"a": {"type": "string"}, "b": {"type": "integer"}}),
        &["b"],
    );
    let checked = validator.check(json!({"a": null, "b": "1"})).unwrap();
    assert_eq!(checked.value, json!({"b": 1}));
    assert_eq!(checked.coerced, ["`a`: null → left out", "`b`: \"1\" → 1"]);

    let problems = validator.check(json!({"b": null})).unwrap_err();
    assert_eq!(problems.to_string(), "`b`: expected an integer, got null");
}

#[test]
fn what_is_refused_is_told_at_once() {
    let validator = object(
        json!({
            "k": {"type": "integer"},
            "unit": {"$ref": "#/$defs/Unit"},
            "many": {"type": "array", "items": {"type": "number"}},
            "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        }),
        &["k", "name"],
    );
    let given = json!({
        "k": "two", "unit": "K", "many": [1, "x"], "maybe": [], "extra": 1,
    });
    let problems = validator.check(given).unwrap_err().to_string();
    for part in [
        "`k`: expected an integer, got \"two\"",
        "`unit`: expected one of \"C\", \"F\", got \"K\"",
        "`many[1]`: expected a number, got \"x\"",
        "`maybe`: expected an integer or null, got []",
        "`name`: missing, but required",
        "`extra`: not known, leave it out",
    ] {
        assert!(problems.contains(part), "{part} in {problems}");
    }
}

#[test]
fn nothing_is_lost() {
    for (ty, given) in [
        ("integer", json!("123456789012345678901234567890")),
        ("integer", json!("2.5")),
        ("integer", json!("")),
        ("number", json!("0.1000000000000000055511151231257827")),
        ("number", json!("1e999")),
        ("number", json!("1.2.3")),
        ("number", json!("_1")),
        ("number", json!("0x10")),
        ("boolean", json!("y")),
        ("boolean", json!("maybe")),
        ("boolean", json!(1)),
        ("number", json!("1,234")),
        ("number", json!("0,234")),
        ("number", json!("12,34,567")),
        ("number", json!("1,2345")),
        ("number", json!("1,234,56")),
        ("number", json!("1.234,5")),
        ("number", json!("1,234.5,6")),
        ("number", json!(",123,456")),
        ("number", json!("85%")),
        ("integer", json!("85%")),
        ("integer", json!("1,234.5")),
        ("integer", json!("0,123")),
        ("string", json!({"a": 1})),
        ("object", json!("{\"a\": ")),
        ("array", json!("a, b")),
    ] {
        let validator = Validator::new(json!({"type": ty})).unwrap();
        assert!(validator.check(given.clone()).is_err(), "{ty} of {given}");
    }
    let ambiguous = Validator::new(json!({"enum": ["a b", "A B"]})).unwrap();
    assert!(ambiguous.check(json!("a B")).is_err());
    let signed = Validator::new(json!({"enum": ["-1", "x"]})).unwrap();
    assert!(signed.check(json!("1")).is_err());
}

#[test]
fn messages_are_bounded() {
    let validator = Validator::new(json!({"type": "array", "items": {"type": "integer"}})).unwrap();
    let given: Vec<Value> = (0..5000)
        .map(|n| json!("x".repeat(500) + &n.to_string()))
        .collect();
    let started = Instant::now();
    let problems = validator.check(given.into()).unwrap_err();
    assert!(
        problems.to_string().len() < 3000,
        "{}",
        problems.to_string().len()
    );
    assert!(problems.to_string().ends_with("and 4992 more"));
    assert_eq!(problems.iter().len(), 8);
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn a_schema_that_is_none_says_where() {
    let error = Validator::new(json!({"type": "number", "minimum": "x"})).unwrap_err();
    assert!(error.to_string().contains("`/minimum`"), "{error}");
    let error = Validator::new(json!({"$ref": "https://example.com/other.json"})).unwrap_err();
    assert!(
        error.to_string().starts_with("not a usable JSON Schema"),
        "{error}"
    );
    let shown = format!("{:?}", Validator::new(json!({"type": "number"})).unwrap());
    assert_eq!(shown, "Validator { .. }");
}

#[test]
fn schemas_that_contain_themselves() {
    let validator = Validator::new(json!({
        "$ref": "#/$defs/Node",
        "$defs": {"Node": {
            "type": "object",
            "properties": {
                "n": {"type": "integer"},
                "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
            },
            "required": ["n"],
        }},
    }))
    .unwrap();
    let checked = validator
        .check(json!({"n": "1", "next": {"n": "2", "next": {"n": 3.0}}}))
        .unwrap();
    assert_eq!(
        checked.value,
        json!({"n": 1, "next": {"n": 2, "next": {"n": 3}}})
    );
}

#[test]
fn schemas_that_go_in_circles() {
    let circle = Validator::new(json!({
        "anyOf": [{"type": "number"}, {"$ref": "#/$defs/A"}],
        "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
    }));
    if let Ok(circle) = circle {
        assert_eq!(circle.check(json!(1.5)).unwrap().value, json!(1.5));
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no infinities", |f| f.is_finite())
            .prop_map(Value::from),
        "[a-z0-9 .{}\\[\\]\"'-]{0,8}".prop_map(Value::from),
        prop_oneof![
            Just("true"),
            Just("None"),
            Just("2"),
            Just("[1]"),
            Just("{\"a\": 1}")
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[abk]", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        Just(Type::Str),
        Just(Type::Int),
        Just(Type::Float),
        Just(Type::Bool),
        Just(Type::Any),
        Just(Type::literal(["yes", "no", "2"])),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::dict),
            inner.clone().prop_map(Type::optional),
            prop::collection::vec(inner, 1..3).prop_map(Type::union),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// What fits is left alone, save that `2.0` in an integer's place becomes `2`. Only an integer
    /// beyond 64 bits is refused.
    #[test]
    fn what_fits_stays(ty in any_type(), value in any_value()) {
        let schema = ty.json_schema();
        let validator = Validator::new(schema.clone()).unwrap();
        if jsonschema_accepts(&schema, &value) {
            match validator.check(value.clone()) {
                Ok(checked) => prop_assert!(
                    same_numbers(&checked.value, &value),
                    "{} became {}",
                    value,
                    checked.value
                ),
                Err(problems) => prop_assert!(has_large_float(&value), "{}: {}", value, problems),
            }
        }
    }

    /// What comes out always satisfies the schema, and checking it again changes nothing.
    #[test]
    fn what_comes_out_fits(ty in any_type(), value in any_value()) {
        let schema = ty.json_schema();
        let validator = Validator::new(schema.clone()).unwrap();
        if let Ok(checked) = validator.check(value) {
            prop_assert!(jsonschema_accepts(&schema, &checked.value));
            let again = validator.check(checked.value.clone()).unwrap();
            prop_assert_eq!(again.value, checked.value);
            prop_assert!(again.coerced.is_empty());
        }
    }
}

fn jsonschema_accepts(schema: &Value, value: &Value) -> bool {
    jsonschema::is_valid(schema, value)
}

fn has_large_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let float = number.as_f64().unwrap_or_default();
            number.is_f64() && float.abs() >= 9_223_372_036_854_775_808.0
        }
        Value::Array(items) => items.iter().any(has_large_float),
        Value::Object(fields) => fields.values().any(has_large_float),
        _ => false,
    }
}

fn same_numbers(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_numbers(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same_numbers(a, b)))
        }
        _ => a == b,
    }
}

#[test]
fn a_float_is_kept_in_whatever_shortest_spelling_it_comes() {
    let validator = Validator::new(json!({"type": "number"})).unwrap();
    // Two spellings of one length name the same float.
    for text in [
        "1530643935254734.2",
        "1530643935254734.3",
        "0.1",
        "1e23",
        "-2.50",
        "1_000.5",
    ] {
        let checked = validator.check(json!(text)).unwrap();
        assert_eq!(
            checked.value.as_f64(),
            text.replace('_', "").parse::<f64>().ok(),
            "{text}"
        );
    }
    for text in [
        "0.12345678901234567890123",
        "1e-400",
        "1e400",
        "123456789012345678901234.5",
    ] {
        assert!(validator.check(json!(text)).is_err(), "{text}");
    }
}
