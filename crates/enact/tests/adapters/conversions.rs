//! Which values are converted, and which are refused because they have two meanings or do not fit.

use enact::signature::Validator;
use serde_json::{Value, json};

#[test]
fn truth_numbers_with_separators_and_yes_and_no_are_read_where_they_have_one_meaning() {
    for (ty, given, wanted) in [
        ("integer", "1,234", json!(1234)),
        ("integer", "-1,234,567", json!(-1_234_567)),
        ("integer", "1,234.0", json!(1234)),
        ("number", "1,234,567", json!(1_234_567)),
        ("number", "1,234.5", json!(1234.5)),
        ("number", "1.234", json!(1.234)),
        ("boolean", "Yes", json!(true)),
        ("boolean", "no.", json!(false)),
        ("boolean", "**TRUE**", json!(true)),
    ] {
        let validator = Validator::new(json!({"type": ty})).unwrap();
        let checked = validator.check(json!(given)).unwrap();
        assert_eq!(checked.value, wanted, "{given}");
        let note = format!("the value: {} → {wanted}", json!(given));
        assert_eq!(checked.coerced, [note]);
    }
    for (ty, given, expected) in [
        ("number", "1,234", "write 1234 or 1.234"),
        ("number", "85%", "50% may mean 50 or 0.5"),
        ("integer", "85%", "50% may mean 50 or 0.5"),
        ("boolean", "maybe", "expected true or false"),
    ] {
        let validator = Validator::new(json!({"type": ty})).unwrap();
        let said = validator.check(json!(given)).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn truth_an_integer_beyond_64_bits_is_no_float() {
    let integer = json!({"type": "integer"});
    let large: Value = serde_json::from_str("123456789012345678901234").unwrap();
    assert!(large.is_f64(), "what a reader of JSON makes of it");
    for schema in [
        integer.clone(),
        json!({"type": ["integer", "null"]}),
        json!({"anyOf": [{"type": "null"}, integer]}),
        json!({"$ref": "#/$defs/Count", "$defs": {"Count": {"type": "integer", "minimum": 0}}}),
    ] {
        let validator = Validator::new(schema.clone()).unwrap();
        for given in [large.clone(), json!("123456789012345678901234")] {
            let said = validator.check(given.clone()).unwrap_err().to_string();
            assert!(said.contains("64 bits"), "{schema} of {given}: {said}");
        }
        for fits in [json!(u64::MAX), json!(0), json!(3.0)] {
            assert!(validator.check(fits.clone()).is_ok(), "{schema} of {fits}");
        }
    }
    let nested = Validator::new(json!({
        "type": "object",
        "properties": {"type": {"type": "array", "items": {"type": "integer"}}},
    }));
    let said = nested
        .unwrap()
        .check(json!({"type": [1, large]}))
        .unwrap_err();
    assert!(
        said.to_string()
            .starts_with("`type[1]`: expected an integer of at most 64 bits")
    );
    // Where a fraction may be meant, a float is what was asked for.
    for schema in [
        json!({"type": "number"}),
        json!({"anyOf": [{"type": "integer"}, {"type": "number"}]}),
        json!({"type": ["integer", "number"]}),
        json!({}),
    ] {
        let validator = Validator::new(schema.clone()).unwrap();
        assert_eq!(
            validator.check(large.clone()).unwrap().value,
            large,
            "{schema}"
        );
    }
    // As a text it would be another one.
    for schema in [
        json!({"type": "string"}),
        json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    ] {
        let validator = Validator::new(schema.clone()).unwrap();
        assert!(validator.check(large.clone()).is_err(), "{schema}");
        assert!(validator.check(json!("123456789012345678901234")).is_ok());
    }
    let lowest = Validator::new(json!({"type": "integer"})).unwrap();
    assert!(lowest.check(json!(i64::MIN)).is_ok());
    assert!(lowest.check(json!(-1e19)).is_err());
}
