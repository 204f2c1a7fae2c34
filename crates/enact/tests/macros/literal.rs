//! `signature!`.

use enact::signature;
use enact_signature::Signature;

#[test]
fn the_value_is_what_the_parser_gives() {
    let made: Signature = signature!("question: str, k: int = 3 -> answer: str");
    assert_eq!(
        made,
        Signature::parse("question: str, k: int = 3 -> answer: str").unwrap()
    );
}

#[test]
fn every_type_and_every_default() {
    let made = signature!(
        r#"
        a: list[dict[str, float]] = [{"x": 1.5}], b: Literal["x", 2, -3, true] = "x",
        c: Optional[int | str] = null, d: any = {"k": [18446744073709551615, false, "\u00e9"]},
        e: bool = true, f: list, g: float = 1
        -> h: Vec<Option<String>>, i
        "#
    );
    assert_eq!(Signature::parse(&made.arrow()).unwrap(), made);
    assert_eq!(
        made.arrow(),
        concat!(
            r#"a: list[dict[str, float]] = [{"x":1.5}], b: Literal["x", 2, -3, true] = "x", "#,
            r#"c: Optional[int | str] = null, d: any = {"k":[18446744073709551615,false,"é"]}, "#,
            r#"e: bool = true, f: list[any], g: float = 1 "#,
            r#"-> h: list[Optional[str]], i: str"#
        )
    );
}
