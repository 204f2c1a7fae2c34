//! Signatures, and outputs that fit them.

use enact::Values;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// What is declared, and what the model has in mind.
#[derive(Debug, Clone)]
pub(super) struct Outputs {
    pub(super) arrow: String,
    /// The type of each output.
    pub(super) types: Vec<&'static str>,
    pub(super) values: Values,
}

impl Outputs {
    /// The only output, and its type.
    pub(super) fn only(&self) -> Option<(&'static str, &Value)> {
        match self.types[..] {
            [only] => self.values.values().next().map(|value| (only, value)),
            _ => None,
        }
    }

    /// Whether the only output is a text: what stands beside it could then belong to it.
    pub(super) fn is_one_text(&self) -> bool {
        self.types == ["str"]
    }

    pub(super) fn typed(&self) -> impl Iterator<Item = (&str, &'static str, &Value)> {
        let types = self.types.iter();
        let fields = self.values.iter().zip(types);
        fields.map(|((name, value), ty)| (name.as_str(), *ty, value))
    }
}

/// Names that mean nothing elsewhere, and names that calls have as well.
const NAMES: [&str; 10] = [
    "result",
    "verdict",
    "outcome",
    "short_summary",
    "answer",
    "name",
    "input",
    "content",
    "parameters",
    "confidence",
];

/// What a text may be made of. None of it is structure where it stands as it is.
const PIECES: [&str; 64] = [
    "a",
    "Paris",
    "the sea",
    "1,234",
    "85%",
    "3.",
    "-7",
    "2026-11-19",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    ".",
    ",",
    ":",
    ";",
    "?",
    "!",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\"\"",
    "'",
    "it's",
    "`",
    "\\",
    "\\n",
    "/",
    "<",
    ">",
    "<b>",
    "&",
    "&amp;",
    "#",
    "*",
    "**",
    "- ",
    "_",
    "=",
    "|",
    "~",
    "é",
    "漢字",
    "🦀",
    "“",
    "”",
    "’",
    "…",
    "\u{a0}",
    "İ",
    "ß",
    "e\u{301}",
    "null",
    "true",
    "None",
    "$1",
    "@",
    "```",
    "x = 1",
];

pub(super) fn word() -> impl Strategy<Value = String> {
    "[a-z]{1,8}( [a-z]{1,8}){0,3}"
}

fn text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(select(&PIECES[..]), 0..8);
    prop_oneof![
        2 => word(),
        3 => pieces.prop_map(|pieces| pieces.concat()),
        1 => "\\PC{0,24}",
        1 => "[ -~\n\t]{0,40}",
    ]
}

fn field() -> impl Strategy<Value = (&'static str, Value)> {
    let of = |ty: &'static str| move |value: Value| (ty, value);
    let or_null = |value: Option<Value>| value.unwrap_or(Value::Null);
    let some_text = || text().prop_map(Value::from);
    prop_oneof![
        4 => some_text().prop_map(of("str")),
        1 => any::<i64>().prop_map(|n| ("int", json!(n))),
        1 => any::<bool>().prop_map(|b| ("bool", json!(b))),
        1 => (-4000_i32..4000).prop_map(|n| ("float", json!(f64::from(n) / 8.0))),
        1 => select(&["2026-11-19", "2024-02-29"][..]).prop_map(|day| ("date", json!(day))),
        1 => select(&["red", "dark green", "n/a"][..])
            .prop_map(|word| ("Literal[\"red\", \"dark green\", \"n/a\"]", json!(word))),
        1 => (1..4).prop_map(|n| ("Literal[1, 2, 3]", json!(n))),
        1 => prop::option::of(some_text()).prop_map(or_null).prop_map(of("Optional[str]")),
        1 => prop::option::of(any::<i32>()).prop_map(|n| ("Optional[int]", json!(n))),
        1 => prop::option::of(any::<bool>()).prop_map(|b| ("Optional[bool]", json!(b))),
        1 => prop::collection::vec(text(), 0..3).prop_map(|list| ("list[str]", json!(list))),
        1 => prop::collection::vec(any::<i32>(), 0..3).prop_map(|list| ("list[int]", json!(list))),
        1 => prop::collection::hash_map(text(), any::<i32>(), 0..3)
            .prop_map(|map| ("dict[str, int]", json!(map))),
        1 => (text(), prop::collection::vec(text(), 0..2))
            .prop_map(|(name, tags)| ("{name: str, tags: list[str]}", json!({"name": name, "tags": tags}))),
        1 => prop::collection::vec((text(), any::<bool>()), 0..3).prop_map(|list| {
            let items = list.into_iter().map(|(to, ok)| json!({"to": {"who": to}, "ok": ok}));
            ("list[{to: {who: str}, ok: bool}]", items.collect())
        }),
    ]
}

pub(super) fn outputs() -> impl Strategy<Value = Outputs> {
    let names = Just(NAMES.to_vec()).prop_shuffle();
    let fields = prop_oneof![
        1 => prop::collection::vec(field(), 1..2),
        2 => prop::collection::vec(field(), 2..4),
    ];
    (names, fields).prop_map(|(names, fields)| {
        let (mut declared, mut types) = (Vec::new(), Vec::new());
        let mut values = Values::new();
        for (name, (ty, value)) in names.into_iter().zip(fields) {
            declared.push(format!("{name}: {ty}"));
            types.push(ty);
            values.insert(name.to_owned(), value);
        }
        let arrow = format!("question -> {}", declared.join(", "));
        Outputs {
            arrow,
            types,
            values,
        }
    })
}
