use serde_json::json;

use crate::{Field, Signature, SignatureErrorKind, Type};

fn parse(arrow: &str) -> Signature {
    Signature::parse(arrow).unwrap()
}

fn kind(result: Result<Signature, crate::SignatureError>) -> SignatureErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn default_instructions_follow_the_fields_and_given_ones_stay() {
    let signature = parse("question -> answer");
    assert_eq!(
        signature.instructions(),
        "Given `question`, produce `answer`."
    );
    let longer = signature
        .append_output(Field::new("sources", Type::list(Type::Str)))
        .unwrap();
    assert_eq!(
        longer.instructions(),
        "Given `question`, produce `answer` and `sources`."
    );
    assert!(longer.has_default_instructions());

    let told = signature.with_instructions("Be brief.");
    assert!(!told.has_default_instructions());
    assert_eq!(
        told.append_input(Field::new("k", Type::Int))
            .unwrap()
            .instructions(),
        "Be brief."
    );
    assert_eq!(
        told.append_instructions("Cite.").instructions(),
        "Be brief.\n\nCite."
    );
    assert_eq!(told.with_instructions(" "), signature);
}

#[test]
fn fields_are_added_at_either_end_and_between() {
    let signature = parse("b -> y");
    let field = |name: &str| Field::new(name, Type::Str);
    let longer = signature
        .append_input(field("d"))
        .and_then(|s| s.prepend_input(field("a")))
        .and_then(|s| s.insert_input(2, field("c")))
        .and_then(|s| s.prepend_output(field("x")))
        .and_then(|s| s.append_output(field("w")))
        .and_then(|s| s.insert_output(99, field("z")))
        .unwrap();
    assert_eq!(
        longer.arrow(),
        "a: str, b: str, c: str, d: str -> x: str, y: str, w: str, z: str"
    );
    assert_eq!(signature, parse("b -> y"), "the old one is left as it was");
}

#[test]
fn fields_are_removed_and_changed_in_place() {
    let signature = parse("a, b: int -> c, d");
    assert_eq!(signature.remove("a").unwrap(), parse("b: int -> c, d"));
    assert_eq!(
        signature
            .update("b", |field| Field::new("k", field.ty).default_value(3))
            .unwrap(),
        parse("a, k: int = 3 -> c, d")
    );
}

#[test]
fn changes_that_break_the_signature_are_refused() {
    let signature = parse("a, b -> c");
    assert_eq!(
        kind(signature.remove("x")),
        SignatureErrorKind::UnknownField
    );
    assert_eq!(
        kind(signature.remove("c")),
        SignatureErrorKind::EmptyOutputs
    );
    assert_eq!(
        kind(signature.update("x", |field| field)),
        SignatureErrorKind::UnknownField
    );
    assert_eq!(
        kind(signature.update("a", |field| Field::new("b", field.ty))),
        SignatureErrorKind::DuplicateField
    );
    assert_eq!(
        kind(signature.append_output(Field::new("a", Type::Str))),
        SignatureErrorKind::DuplicateField
    );
    assert_eq!(
        kind(signature.append_input(Field::new("k", Type::Int).default_value("three"))),
        SignatureErrorKind::BadDefault
    );
    assert_eq!(
        kind(signature.append_input(Field::new("no name", Type::Int))),
        SignatureErrorKind::InvalidName
    );
}

#[test]
fn reserved_names_are_for_the_loop_only() {
    let builder = Signature::builder()
        .input(Field::new("history", Type::Any))
        .output(Field::new("a", Type::Str));
    assert_eq!(
        kind(builder.clone().build()),
        SignatureErrorKind::ReservedName
    );
    let internal = builder.build_internal().unwrap();
    assert!(internal.check_reserved().is_err());
    assert!(
        parse("a -> b")
            .append_input(Field::new("trajectory", Type::Str))
            .is_ok()
    );
    let stored = serde_json::to_string(&internal).unwrap();
    assert_eq!(
        serde_json::from_str::<Signature>(&stored).unwrap(),
        internal
    );
}

#[test]
fn the_schema_of_a_side_is_one_closed_object() {
    let signature = Signature::builder()
        .input(Field::new("question", Type::Str).describe("What to find out."))
        .input(Field::new("k", Type::Int).default_value(3))
        .input(Field::new("hint", Type::optional(Type::Str)))
        .output(Field::new(
            "report",
            Type::schema(
                "Report",
                json!({"type": "object", "properties": {"unit": {"$ref": "#/$defs/Unit"}},
                   "$defs": {"Unit": {"type": "string"}}}),
            ),
        ))
        .build()
        .unwrap();
    assert_eq!(
        signature.input_schema(),
        json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "description": "What to find out."},
                "k": {"type": "integer", "default": 3},
                "hint": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "required": ["question"],
            "additionalProperties": false,
        })
    );
    assert_eq!(
        signature.output_schema(),
        json!({
            "type": "object",
            "properties": {
                "report": {"type": "object", "properties": {"unit": {"$ref": "#/$defs/Unit"}}},
            },
            "required": ["report"],
            "additionalProperties": false,
            "$defs": {"Unit": {"type": "string"}},
        })
    );
}

#[test]
fn stored_and_read_back_unchanged() {
    let signature = Signature::builder()
        .name("Weather")
        .instructions("Answer.")
        .input(Field::new("question", Type::Str).describe("What to find out."))
        .input(Field::new("k", Type::optional(Type::Int)).default_value(json!(null)))
        .output(Field::new("answer", Type::Str))
        .build()
        .unwrap();
    let stored = serde_json::to_value(&signature).unwrap();
    assert_eq!(
        stored,
        json!({
            "name": "Weather",
            "instructions": "Answer.",
            "inputs": [
                {"name": "question", "type": "str", "description": "What to find out."},
                {"name": "k", "type": "Optional[int]", "default": null},
            ],
            "outputs": [{"name": "answer", "type": "str"}],
        })
    );
    assert_eq!(
        serde_json::from_value::<Signature>(stored).unwrap(),
        signature
    );
}

#[test]
fn a_stored_signature_is_checked_when_it_is_read() {
    let stored = json!({"inputs": [{"name": "a", "type": "str"}], "outputs": []});
    let error = serde_json::from_value::<Signature>(stored).unwrap_err();
    assert!(error.to_string().contains("at least one output"), "{error}");
}
