use serde_json::json;

use crate::Type;

fn read(schema: serde_json::Value) -> Type {
    Type::from_json_schema(&schema)
}

#[test]
fn simple_schemas_become_plain_types() {
    assert_eq!(
        read(json!({"type": "string", "title": "string"})),
        Type::Str
    );
    assert_eq!(
        read(json!({"type": "integer", "format": "int64"})),
        Type::Int
    );
    assert_eq!(
        read(json!({"type": "integer", "format": "uint", "minimum": 0})),
        Type::Int
    );
    assert_eq!(
        read(json!({"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255})),
        Type::Int
    );
    assert_eq!(
        read(json!({"type": "integer", "format": "int8", "minimum": -128, "maximum": 127})),
        Type::Int
    );
    assert_eq!(
        read(json!({"type": "number", "format": "double"})),
        Type::Float
    );
    assert_eq!(read(json!({"type": "boolean"})), Type::Bool);
    assert_eq!(read(json!({"title": "AnyValue"})), Type::Any);
    assert_eq!(read(json!(true)), Type::Any);
    assert_eq!(
        read(json!({"type": "array", "items": true})),
        Type::list(Type::Any)
    );
    assert_eq!(read(json!({"type": "object"})), Type::dict(Type::Any));
    assert_eq!(
        read(json!({"type": "object", "additionalProperties": {"type": "boolean"}})),
        Type::dict(Type::Bool)
    );
    assert_eq!(
        read(json!({"type": "string", "enum": ["a", "b"], "description": "One."})),
        Type::literal(["a", "b"])
    );
    assert_eq!(
        read(json!({"type": "string", "const": "a"})),
        Type::literal(["a"])
    );
}

#[test]
fn null_makes_a_type_optional() {
    let optional = Type::optional(Type::Str);
    assert_eq!(read(json!({"type": ["string", "null"]})), optional);
    assert_eq!(
        read(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
        optional
    );
    assert_eq!(
        read(json!({"type": ["integer", "null"], "format": "int64"})),
        Type::optional(Type::Int)
    );
    assert_eq!(
        read(json!({"enum": ["a", null]})),
        Type::optional(Type::literal(["a"]))
    );
    assert_eq!(
        read(json!({"type": ["string", "integer"]})),
        Type::union([Type::Str, Type::Int])
    );
}

#[test]
fn what_has_no_spelling_keeps_its_schema() {
    let kept = |schema: serde_json::Value, name: &str| {
        assert_eq!(read(schema.clone()), Type::schema(name, schema));
    };
    kept(
        json!({"title": "Report", "type": "object", "properties": {}}),
        "Report",
    );
    kept(json!({"type": "string", "format": "email"}), "email");
    kept(json!({"type": "integer", "exclusiveMinimum": 0}), "integer");
    // A title is a name, and names are shown.
    kept(
        json!({"title": "P", "type": "object", "properties": {"a": {"type": "string"}},
            "required": ["a"], "additionalProperties": false}),
        "P",
    );
    // Missing is one thing, null another.
    kept(
        json!({"type": "object", "properties": {"a": {"type": "string"}},
            "additionalProperties": false}),
        "object",
    );
    kept(
        json!({"type": "object", "additionalProperties": false}),
        "object",
    );
    kept(
        json!({"type": ["string", "integer"], "minLength": 2}),
        "value",
    );
    kept(json!({"type": "null"}), "null");
    kept(
        json!({"oneOf": [{"const": "A", "description": "first"}]}),
        "value",
    );
    kept(json!(false), "value");
    kept(json!({"$ref": "#/$defs/Missing"}), "Missing");
}

#[test]
fn limits_formats_and_properties_have_a_spelling() {
    for (schema, spelling) in [
        (json!({"type": "string", "format": "date-time"}), "datetime"),
        (
            json!({"type": "integer", "format": "int64", "minimum": 1}),
            "int(1..)",
        ),
        (
            json!({"type": "integer", "format": "uint8", "minimum": 0, "maximum": 10}),
            "int(0..10)",
        ),
        (json!({"type": "number", "maximum": 0.5}), "float(..0.5)"),
        (json!({"type": "string", "maxLength": 80}), "str(..80)"),
        (
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}),
            "list[int](2..2)",
        ),
        (
            json!({"type": "object", "properties": {
                "a": {"type": "string"},
                "b": {"type": ["integer", "null"]},
            }, "required": ["a"], "additionalProperties": false}),
            "{a: str, b: Optional[int]}",
        ),
    ] {
        assert_eq!(read(schema), Type::parse(spelling).unwrap(), "{spelling}");
    }
}

#[test]
fn references_are_followed_and_take_their_definitions_along() {
    let definitions = json!({
        "Report": {"type": "object", "properties": {"unit": {"$ref": "#/$defs/Unit"}}},
        "Unit": {"type": "string", "enum": ["c", "f"]},
        "Unused": {"type": "string"},
    });
    let report = Type::schema(
        "Report",
        json!({
            "type": "object",
            "properties": {"unit": {"$ref": "#/$defs/Unit"}},
            "$defs": {"Unit": {"type": "string", "enum": ["c", "f"]}},
        }),
    );
    assert_eq!(
        read(json!({
            "anyOf": [{"$ref": "#/$defs/Report"}, {"type": "null"}],
            "$defs": definitions,
        })),
        Type::optional(report.clone())
    );
    assert_eq!(
        read(json!({"type": "array", "items": {"$ref": "#/$defs/Report"}, "$defs": definitions})),
        Type::list(report)
    );
    assert_eq!(
        read(json!({"type": "array", "items": {"$ref": "#/$defs/Unit"}, "$defs": definitions})),
        Type::list(Type::literal(["c", "f"]))
    );
}

#[test]
fn a_definition_that_leads_back_to_itself_stays_a_reference() {
    let definitions = json!({"Node": {"type": "object", "properties": {
        "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
    }}});
    assert_eq!(
        read(json!({"type": "array", "items": {"$ref": "#/$defs/Node"}, "$defs": definitions})),
        Type::list(Type::schema(
            "Node",
            json!({"$ref": "#/$defs/Node", "$defs": definitions})
        ))
    );
    let itself = json!({"title": "Node", "type": "object", "properties": {"n": {"$ref": "#"}}});
    assert_eq!(read(itself.clone()), Type::schema("Node", itself));
}

#[test]
fn nesting_without_end_is_cut_off() {
    let mut schema = json!({"type": "string"});
    for _ in 0..1000 {
        schema = json!({"type": "array", "items": schema});
    }
    assert!(matches!(read(schema), Type::List(_)));
}
