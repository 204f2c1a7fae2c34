//! Random data, the more hostile the better.

use enact::signature::{Field, Signature, Type, Values};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Texts made of everything that means something to some adapter.
pub(crate) fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "[[ ## answer ## ]]",
            "[[ ## completed ## ]]",
            "[[ ## next_tool_name ## ]]",
            "[[##x##]]",
            "\\[[ ## answer ## ]]",
            "\\\\[[ ##",
            "[[ ## observation ## ]]",
            "[[",
            "]]",
            "##",
            "Thought: ",
            "Thought 1:",
            "Action: submit(answer=\"x\")",
            "Action Input: {}",
            "**Action:**",
            "Observation: ",
            "Observation 2 (error): ",
            "Final Answer: 4",
            "answer: ",
            "Answer:",
            "\\Thought:",
            "question: ",
            "reasoning:",
            "Finish[x]",
            "notice: ",
            "<answer>",
            "</answer>",
            "<next_tool_name>",
            "</next_tool_args>",
            "&lt;",
            "&amp;",
            "&",
            "<",
            ">",
            "<![CDATA[",
            "]]>",
            "<observation tool=\"x\">",
            "<think>",
            "</think>",
            "<thinking>",
            "\\<think>",
            "<tool_call>",
            "</tool_call>",
            "<function=submit>",
            "```json",
            "```",
            "{\"answer\": \"x\"}",
            "{\"name\": \"submit\", \"arguments\": {}}",
            "{",
            "}",
            "[",
            "]",
            "(",
            ")",
            "\"",
            "'",
            "\\",
            "\\\\",
            "\n",
            "\r",
            "\r\n",
            "\n\n",
            " ",
            "\t",
            "    ",
            "\u{2028}",
            "\u{a0}",
            "null",
            "None",
            "true",
            "2",
            "\"\"",
            "\" x\"",
            "a, b=2",
            "🦀",
            "\u{0}",
            "\\n",
            "\\u0041",
            "\"\"\"",
            "'''",
            "#",
            "//",
            "/*",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
        "[a-zA-Z :=,.]{0,12}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        finite().prop_map(Value::from),
        hostile_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((hostile_text(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("JSON has no infinities", |f| f.is_finite())
}

fn shape(text: &str) -> Type {
    Type::parse(text).unwrap()
}

/// A type and a value of it.
fn typed() -> BoxedStrategy<(Type, Value)> {
    let leaf = prop_oneof![
        4 => hostile_text().prop_map(|text| (Type::Str, Value::from(text))),
        1 => any::<i64>().prop_map(|n| (Type::Int, Value::from(n))),
        1 => finite().prop_map(|n| (Type::Float, Value::from(n))),
        1 => any::<bool>().prop_map(|b| (Type::Bool, Value::from(b))),
        1 => any_json().prop_map(|value| (Type::Any, value)),
        1 => prop::sample::select(vec!["yes", "no", "1", "None", " a", "\"q\"", "Answer: x"]).prop_map(|choice| {
            (Type::literal(["yes", "no", "1", "None", " a", "\"q\"", "Answer: x"]), Value::from(choice))
        }),
        1 => prop::collection::vec(hostile_text(), 0..3)
            .prop_map(|texts| (Type::list(Type::Str), Value::from(texts))),
        1 => prop::collection::vec((hostile_text(), hostile_text()), 0..3).prop_map(|pairs| {
            let map = pairs.into_iter().map(|(key, text)| (key, Value::from(text))).collect();
            (Type::dict(Type::Str), Value::Object(map))
        }),
        1 => hostile_text().prop_map(|text| (Type::union([Type::Int, Type::Str]), Value::from(text))),
        1 => any::<i64>().prop_map(|n| (Type::union([Type::Int, Type::Str]), Value::from(n))),
        1 => hostile_text().prop_map(|text| (shape("str(0..)"), Value::from(text))),
        1 => prop::sample::select(vec!["2025-01-31", "0001-12-31"])
            .prop_map(|date| (shape("date"), Value::from(date))),
        1 => prop::sample::select(vec!["14:30", "2025-01-31T14:30:00.5+01:00"])
            .prop_map(|text| (shape("time | datetime"), Value::from(text))),
        2 => (hostile_text(), any::<bool>()).prop_map(|(text, whole)| {
            let person = json!({"name": text, "born": "2025-01-31"});
            let value = if whole { json!({"name": text}) } else { person };
            (shape("{name: str, born?: date}"), value)
        }),
        2 => prop::collection::vec(hostile_text(), 1..3).prop_map(|texts| {
            let items: Vec<Value> = texts.iter().map(|text| json!({"a b": text})).collect();
            (shape(r#"list[{"a b": str}](1..3)"#), Value::from(items))
        }),
    ];
    (leaf, any::<bool>(), any::<bool>())
        .prop_map(|((ty, value), optional, null)| match (optional, null) {
            (true, true) => (Type::optional(ty), Value::Null),
            (true, false) => (Type::optional(ty), value),
            (false, _) => (ty, value),
        })
        .boxed()
}

/// A signature with outputs of random types, and values for them.
pub(crate) fn outputs() -> impl Strategy<Value = (Signature, Values)> {
    prop::collection::vec(typed(), 1..4).prop_map(|fields| {
        let names = ["answer", "reasoning", "Answer"];
        let mut signature = Signature::parse("question: str -> placeholder: str").unwrap();
        let mut values = Values::new();
        for (name, (ty, value)) in names.into_iter().zip(fields) {
            signature = signature.append_output(Field::new(name, ty)).unwrap();
            values.insert(name.to_owned(), value);
        }
        (signature.remove("placeholder").unwrap(), values)
    })
}
