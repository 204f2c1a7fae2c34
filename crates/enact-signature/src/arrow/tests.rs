use serde_json::{Value, json};

use crate::{Signature, SignatureError, SignatureErrorKind, Type};
use SignatureErrorKind::*;

fn ty(text: &str) -> Type {
    Type::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(arrow: &str) -> SignatureError {
    match Signature::parse(arrow) {
        Ok(signature) => panic!("`{arrow}` was taken as `{signature}`"),
        Err(error) => error,
    }
}

/// The kind, the column, and words that the message has to contain.
fn check(arrow: &str, kind: SignatureErrorKind, column: usize, words: &str) {
    let error = refused(arrow);
    assert_eq!(
        (error.kind(), error.column()),
        (kind, Some(column)),
        "{error}"
    );
    assert!(error.message().contains(words), "{error}");
}

#[test]
fn fields_with_types_and_defaults() {
    let signature =
        Signature::parse("question, k: int = 3, tag = \"a -> b\" -> answer: str, ok: bool")
            .unwrap();
    assert_eq!(
        signature.arrow(),
        "question: str, k: int = 3, tag: str = \"a -> b\" -> answer: str, ok: bool"
    );
    assert_eq!(signature, Signature::parse(&signature.arrow()).unwrap());
}

#[test]
fn whitespace_is_free() {
    let spread = "\n  question :str ,\n\tk:int=3->answer\n";
    assert_eq!(
        Signature::parse(spread).unwrap().arrow(),
        "question: str, k: int = 3 -> answer: str"
    );
    assert_eq!(
        Signature::parse("a:Vec<i64>->b").unwrap().arrow(),
        "a: list[int] -> b: str"
    );
    assert_eq!(
        Signature::parse("a:int=-1->b").unwrap().arrow(),
        "a: int = -1 -> b: str"
    );
}

#[test]
fn every_spelling_of_optional_is_the_same() {
    let optional = Type::Optional(Box::new(Type::Int));
    for text in [
        "Optional[int]",
        "int | None",
        "None | int",
        "Option<i64>",
        "Optional[Optional[int]]",
        "Optional[int | None]",
        "Union[int, None]",
        "int | None | int",
    ] {
        assert_eq!(ty(text), optional, "{text}");
    }
    assert_eq!(
        ty("Literal[\"a\", None]"),
        Type::optional(Type::literal(["a"]))
    );
}

#[test]
fn the_spellings_of_rust_and_of_json_schema() {
    for (text, same) in [
        ("String", "str"),
        ("&str", "str"),
        ("string", "str"),
        ("usize", "int"),
        ("integer", "int"),
        ("f32", "float"),
        ("number", "float"),
        ("boolean", "bool"),
        ("Value", "any"),
        ("serde_json::Value", "any"),
        ("list", "list[any]"),
        ("dict", "dict[str, any]"),
        ("object", "dict[str, any]"),
        ("array[str]", "list[str]"),
        ("Vec<Vec<u8>>", "list[list[int]]"),
        ("HashMap<String, Vec<f64>>", "dict[str, list[float]]"),
        (
            "BTreeMap<String, Option<bool>>",
            "dict[str, Optional[bool]]",
        ),
        (
            "Vec<Option<HashMap<String, i32>>>",
            "list[Optional[dict[str, int]]]",
        ),
        ("int | str | int", "int | str"),
    ] {
        assert_eq!(ty(text), ty(same), "{text}");
        assert_eq!(ty(text).to_string(), same, "{text}");
    }
}

#[test]
fn literals_and_defaults_are_json_and_a_little_more() {
    assert_eq!(
        ty(r#"Literal['a', "it's", 3, -1.5, True]"#),
        Type::literal([
            json!("a"),
            json!("it's"),
            json!(3),
            json!(-1.5),
            json!(true)
        ])
    );
    let default = |text: &str| -> Value {
        let signature = Signature::parse(&format!("a: any = {text} -> b")).unwrap();
        signature.inputs()[0].default.clone().unwrap()
    };
    assert_eq!(default("True"), json!(true));
    assert_eq!(default("None"), json!(null));
    assert_eq!(default("1e3"), json!(1000.0));
    assert_eq!(default(r#"[1, ["x"], {}]"#), json!([1, ["x"], {}]));
    assert_eq!(
        default(r#"{"a": {"b": []}, 'c': null}"#),
        json!({"a": {"b": []}, "c": null})
    );
    assert_eq!(default(r#""\u00e9\ud83d\ude00\n\"""#), json!("é😀\n\""));
    assert_eq!(default("18446744073709551615"), json!(u64::MAX));
}

#[test]
fn what_is_not_a_signature() {
    check("", Syntax, 1, "empty");
    check("  \n ", Syntax, 1, "empty");
    check("question", Syntax, 9, "no `->`");
    check("a -> b -> c", Syntax, 8, "second `->`");
    check("-> answer", EmptyInputs, 1, "no input");
    check("question ->", EmptyOutputs, 10, "no output");
    check("a, -> b", Syntax, 2, "comma");
    check("a -> b,", Syntax, 7, "comma");
    check("a,, b -> c", Syntax, 3, "field name");
    check("a b -> c", Syntax, 3, "separated by commas");
    check("a => b", Syntax, 3, "write `->`");
    check("a → b", Syntax, 3, "write `->`");
    check("a; b -> c", Syntax, 2, "found `;`");
}

#[test]
fn names_that_are_not_allowed() {
    check("a, b -> a", DuplicateField, 9, "called `a`");
    check("a, b, b -> c", DuplicateField, 7, "called `b`");
    check("my-field -> b", InvalidName, 1, "letters, digits");
    check("a.b -> c", InvalidName, 1, "letters, digits");
    check("3 -> b", InvalidName, 1, "start with a letter");
    check("3x -> b", Syntax, 1, "starts with a letter");
    check("größe -> b", InvalidName, 1, "letters, digits");
    check("\"a\" -> b", InvalidName, 1, "letters, digits");
    check(
        &format!("{} -> b", "a".repeat(65)),
        InvalidName,
        1,
        "64 at most",
    );
    check("q, history -> b", ReservedName, 4, "reserved");
    check("q -> b, next_tool_name", ReservedName, 9, "reserved");
    check("q -> tools: str", ReservedName, 6, "my_tools");
    assert!(Signature::parse("next_thought -> b").is_ok());
}

#[test]
fn types_that_are_not_allowed() {
    check("a: strr -> b", UnknownType, 4, "did you mean `str`?");
    check("a: Report -> b", UnknownType, 4, "types are str, int");
    check(
        "a: list[flot] -> b",
        UnknownType,
        9,
        "did you mean `float`?",
    );
    check("a: -> b", Syntax, 4, "expected a type");
    check("a: None -> b", Syntax, 4, "Optional[T]");
    check("a: Literal[None] -> b", Syntax, 12, "Optional[T]");
    check("a: list[str -> b", Syntax, 13, "`]` to close `list`");
    check("a: list[str> -> b", Syntax, 12, "`]` to close `list`");
    check("a: list[int, str] -> b", Syntax, 12, "takes one type");
    check("a: list[] -> b", Syntax, 9, "expected a type");
    check("a: str[int] -> b", Syntax, 7, "no types in brackets");
    check(
        "a: dict[int, str] -> b",
        Syntax,
        9,
        "keys of a dict are `str`",
    );
    check("a: dict[str] -> b", Syntax, 12, "type of the values");
    check("a: Optional -> b", Syntax, 13, "needs brackets");
    check("a: Literal[] -> b", Syntax, 12, "expected a value");
    check("a: Literal[x] -> b", Syntax, 12, "write `\"x\"`");
    check(
        "a: Literal[[1]] -> b",
        Syntax,
        12,
        "texts, numbers and booleans",
    );
    check("a: &int -> b", Syntax, 5, "only `&str`");
    check("a: str] -> b", Syntax, 7, "never opened");
}

#[test]
fn defaults_that_are_not_allowed() {
    check(
        "a: int = \"x\" -> b",
        BadDefault,
        10,
        "not of the type `int`",
    );
    check("k = 3 -> b", BadDefault, 5, "write `k: int = 3`");
    check("a: list[int] = [1, null] -> b", BadDefault, 16, "list[int]");
    check("a: Literal[\"x\"] = \"y\" -> b", BadDefault, 19, "Literal");
    check("a: int = -> b", Syntax, 10, "expected a value");
    check("a: str = x -> b", Syntax, 10, "write `\"x\"`");
    check("a: str = \"x -> b", Syntax, 10, "not closed");
    check(r#"a: str = "\x" -> b"#, Syntax, 11, "unknown escape");
    check(r#"a: str = "\ud800" -> b"#, Syntax, 11, "unknown escape");
    check("a: int = 99999999999999999999 -> b", Syntax, 10, "64 bits");
    check(
        "a: float = 1e999 -> b",
        Syntax,
        12,
        "not a number that fits",
    );
    check("a: any = [1, -> b", Syntax, 14, "expected a value");
    check("a: any = {x: 1} -> b", Syntax, 11, "keys of a map");
}

#[test]
fn nesting_has_a_limit_and_no_effect_on_the_stack() {
    let nested = |levels: usize| format!("{}int{}", "list[".repeat(levels), "]".repeat(levels));
    assert!(Type::parse(&nested(64)).is_ok());
    for levels in [65, 100_000] {
        let error = Type::parse(&nested(levels)).unwrap_err();
        assert!(
            error.message().contains("deeper than 64"),
            "{}",
            error.message()
        );
    }
    let error = refused(&format!("a: any = {} -> b", "[".repeat(100_000)));
    assert!(
        error.message().contains("deeper than 64"),
        "{}",
        error.message()
    );
}

#[test]
fn the_text_of_an_error_shows_the_place() {
    assert_eq!(
        refused("question: strr -> answer").to_string(),
        "unknown type `strr`, did you mean `str`? types are str, int, float, bool, date, datetime, \
         time, image, any, list[T], dict[str, T], {name: T}, Literal[\"a\", \"b\"], Optional[T], \
         A | B\n\
         question: strr -> answer\n          ^"
    );
}

#[path = "shape_tests.rs"]
mod shapes;
