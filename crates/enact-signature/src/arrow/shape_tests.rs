use serde_json::json;

use super::check;
use crate::SignatureErrorKind::*;
use crate::{Signature, Type, Types};

fn shown(text: &str) -> String {
    let ty = Type::parse(text).unwrap_or_else(|error| panic!("{error}"));
    ty.to_string()
}

#[test]
fn objects_ranges_dates_and_enumerations() {
    for (text, canonical) in [
        ("{name, age: int}", "{name: str, age: int}"),
        ("{ name: str, age: int, }", "{name: str, age: int}"),
        ("{age?: int}", "{age: Optional[int]}"),
        ("{age: int | None}", "{age: Optional[int]}"),
        ("list[{a: {b: Vec<u8>}}]", "list[{a: {b: list[int]}}]"),
        (
            r#"{"first name": str, 'b': str}"#,
            r#"{"first name": str, b: str}"#,
        ),
        ("int( 0 .. 10 )", "int(0..10)"),
        ("int(-10..=-1)", "int(-10..-1)"),
        ("float(0.5..1e3)", "float(0.5..1000.0)"),
        ("str(..80) | None", "Optional[str(..80)]"),
        ("list[int(1..)](1..5)", "list[int(1..)](1..5)"),
        ("list(1..)", "list[any](1..)"),
        (
            "date | datetime | time | Image",
            "date | datetime | time | image",
        ),
        (r#""a" | "b""#, r#"Literal["a", "b"]"#),
        (
            r#""a" | int | 1.5 | null"#,
            r#"Optional[Literal["a", 1.5] | int]"#,
        ),
    ] {
        assert_eq!(shown(text), canonical, "{text}");
        assert_eq!(shown(canonical), canonical);
    }
    let signature = Signature::parse("a?, k?: int -> b").unwrap();
    assert_eq!(
        signature.arrow(),
        "a: Optional[str], k: Optional[int] -> b: str"
    );
}

#[test]
fn named_types() {
    let signature = Signature::parse(
        "type Mood = \"good\" | \"bad\"; type Person = {name: str, mood: Mood};\n\
         text, type: str -> people: list[Person], best?: Person",
    )
    .unwrap();
    let person = r#"{name: str, mood: Literal["good", "bad"]}"#;
    assert_eq!(
        signature.arrow(),
        format!("text: str, type: str -> people: list[{person}], best: Optional[{person}]")
    );
    assert_eq!(Signature::parse(&signature.arrow()).unwrap(), signature);
    let types = Types::from([("Age".to_owned(), Type::Int)]);
    let ages = Signature::parse_with("text -> ages: list[Age](1..)", &types).unwrap();
    assert_eq!(ages.arrow(), "text: str -> ages: list[int](1..)");
}

#[test]
fn what_is_wrong_with_shapes_is_said_where_it_is() {
    check("a: {} -> b", Syntax, 5, "for any object, write `dict`");
    check("a: {x: strr} -> b", UnknownType, 8, "did you mean `str`?");
    check("a: {x: int, x} -> b", DuplicateField, 13, "two properties");
    check("a: {x int} -> b", Syntax, 7, "`,` or `}` after a property");
    check("a: {x: int -> b", Syntax, 12, "`,` or `}` after a property");
    check("a: {3: int} -> b", Syntax, 5, "the name of a property");
    check("a: int(5) -> b", Syntax, 9, "`int(1..5)`");
    check("a: int(..) -> b", BadRange, 8, "`int(..5)`");
    check("a: int(5..1) -> b", BadRange, 8, "5 is above 1");
    check("a: int(0.5..) -> b", BadRange, 8, "write a whole number");
    check("a: str(-1..) -> b", BadRange, 8, "of 0 or more");
    check("a: bool(0..1) -> b", BadRange, 9, "`bool` takes no range");
    check("a: int(0..1 -> b", Syntax, 13, "`)` after the range");
    check("a: int(0..9) = 10 -> b", BadDefault, 16, "int(0..9)");
    check("a: date = \"soon\" -> b", BadDefault, 11, "date");
    check("a: {x: int} = {\"y\": 1} -> b", BadDefault, 15, "{x: int}");
    check(
        "type Person = {x}; a: Persn -> b",
        UnknownType,
        23,
        "did you mean `Person`?",
    );
    check("type str = int; a -> b", InvalidName, 6, "taken");
    check(
        "type P = int; type P = str; a -> b",
        DuplicateField,
        20,
        "two types",
    );
    check("type P = int a -> b", Syntax, 14, "`;` after the type");
    check("type P: int; a -> b", Syntax, 7, "`=` and a type");
    check(
        "type P = {p: P}; a: P -> b",
        UnknownType,
        14,
        "unknown type `P`",
    );
    check(
        "type P = int; a: P[str] -> b",
        Syntax,
        19,
        "no types in brackets",
    );
    check("a b) -> c", Syntax, 3, "separated by commas");
}

#[test]
fn a_named_type_does_not_explode() {
    let mut arrow = "type A0 = int; ".to_owned();
    for n in 1..40 {
        arrow += &format!("type A{n} = {{x: A{}, y: A{}}}; ", n - 1, n - 1);
    }
    let error = Signature::parse(&(arrow + "a: A39 -> b")).unwrap_err();
    assert!(error.message().contains("too large"), "{error}");
}

#[test]
fn defaults_of_shapes() {
    let signature =
        Signature::parse("p: {x: int, y?: str} = {\"x\": 1}, d: date = \"2025-01-31\" -> b")
            .unwrap();
    assert_eq!(signature.inputs()[0].default, Some(json!({"x": 1})));
    assert_eq!(Signature::parse(&signature.arrow()).unwrap(), signature);
}
