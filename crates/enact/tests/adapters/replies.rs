//! Outputs as real models write them, and what is read.

use enact::adapter::{RepairKind, Task};
use enact::model::Reply;
use enact::signature::{Field, Signature, Type};
use serde_json::{Value, json};

use crate::tasks::{adapter, adapters, cut_off, predict, predict_arrow};

/// A text, a number, a choice, a list, something optional and something with a default.
fn task() -> Task {
    let signature = Signature::parse(
        "question: str -> answer: str, k: int, mood: Literal[\"calm\", \"excited\"], tags: list[str], \
         note: Optional[str], score: float",
    )
    .unwrap()
    .update("score", |field| field.default_value(0.5))
    .unwrap();
    predict(signature)
}

fn read(name: &str, task: &Task, text: &str) -> Value {
    let read = adapter(name).parse_outputs(task, &Reply::text(text));
    Value::Object(
        read.unwrap_or_else(|misread| panic!("{name}: {misread}\n{text}"))
            .value,
    )
}

#[test]
fn messy_outputs_are_read() {
    let wanted = |note: Value, score: f64| {
        json!({
            "answer": "It is Paris.", "k": 2, "mood": "calm", "tags": ["a", "b"], "note": note, "score": score,
        })
    };
    let plain = wanted(Value::Null, 0.5);
    for (name, text, wanted) in [
        (
            "chat",
            "[[ ## answer ## ]]\nIt is Paris.\n\n[[ ## k ## ]]\n2\n\n[[ ## mood ## ]]\ncalm\n\n[[ ## tags ## ]]\n[\"a\", \"b\"]\n\n[[ ## completed ## ]]",
            &plain,
        ),
        (
            "chat",
            "<think>…</think>\n[[ ## answer ## ]] It is Paris.\n [[## k ##]]\n 2\n[[ ## Mood ## ]]\n\"calm\"\n[[ ## tags ## ]]\n```json\n[\"a\", \"b\",]\n```\n[[ ## note ## ]]\nnull\n[[ ## extra ## ]]\nx",
            &plain,
        ),
        (
            "chat",
            "[[ ## k ## ]]\n2.0\n[[ ## answer ## ]]\nIt is Paris.\n[[ ## mood ## ]]\n{Calm}\n[[ ## tags ## ]]\n['a', 'b']\n[[ ## note ## ]]\nNone\n[[ ## score ## ]]\n0.25",
            &wanted(Value::Null, 0.25),
        ),
        (
            "chat",
            "```json\n{\"answer\": \"It is Paris.\", \"k\": \"2\", \"mood\": \"calm\", \"tags\": [\"a\", \"b\"]}\n```",
            &plain,
        ),
        (
            "json",
            "{\"answer\": \"It is Paris.\", \"k\": 2, \"mood\": \"calm\", \"tags\": [\"a\", \"b\"], \"note\": \"hm\"}",
            &wanted(json!("hm"), 0.5),
        ),
        (
            "json",
            "Of course:\n```json\n{\"Answer\": \"It is Paris.\", \"k\": \"2\", \"mood\": \"Calm\", \"tags\": \"[\\\"a\\\", \\\"b\\\"]\", \"score\": null, \"extra\": 1}\n```\nAnything else?",
            &plain,
        ),
        (
            "json",
            "{'answer': 'It is Paris.', 'k': 2, 'mood': 'calm', 'tags': ['a', 'b'], 'note': None,}",
            &plain,
        ),
        (
            "xml",
            "<answer>It is Paris.</answer><k>2</k><mood>calm</mood><tags>[\"a\", \"b\"]</tags>",
            &plain,
        ),
        (
            "xml",
            "<think>x</think><outputs>\n<answer>\nIt is Paris.\n</answer>\n<k> 2 </k>\n<mood>Calm</mood>\n<tags>[&quot;a&quot;, \"b\"]</tags>\n<note></note>\n</outputs>",
            &plain,
        ),
        (
            "tagged",
            "answer: It is Paris.\nk: 2\nmood: calm\ntags: [\"a\", \"b\"]",
            &plain,
        ),
        (
            "tagged",
            "**Answer:** It is Paris.\n**K**: 2\nMood: \"calm\"\nTags:\n[\n  \"a\",\n  \"b\"\n]\nNote: null",
            &plain,
        ),
        (
            "native",
            "{\"answer\": \"It is Paris.\", \"k\": 2, \"mood\": \"calm\", \"tags\": [\"a\", \"b\"]}",
            &plain,
        ),
        (
            "native",
            "<think>{}</think>```\n{\"answer\": \"It is Paris.\", \"k\": 2.0, \"mood\": \"calm\", \"tags\": [\"a\", \"b\"]}\n```",
            &plain,
        ),
    ] {
        assert_eq!(read(name, &task(), text), *wanted, "{name}: {text}");
    }
}

#[test]
fn a_plain_reply_is_the_only_text() {
    let task = predict_arrow("question -> answer");
    for name in ["chat", "json", "xml", "tagged", "native"] {
        assert_eq!(
            read(name, &task, " <think>x</think>\nIt is Paris.\n"),
            json!({"answer": "It is Paris."}),
            "{name}"
        );
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    for adapter in adapters() {
        let name = adapter.name();
        let text = match name {
            "chat" => "[[ ## answer ## ]]\nx\n[[ ## k ## ]]\n1",
            "xml" => "<answer>x</answer><k>1</k>",
            "tagged" => "answer: x\nk: 1",
            _ => "{\"answer\": \"x\", \"k\": 1}",
        };
        let problem = adapter
            .parse_outputs(&task(), &Reply::text(text))
            .unwrap_err()
            .problem;
        assert!(
            problem.starts_with("`mood`, `tags` are missing. Reply with"),
            "{name}: {problem}"
        );

        let text = match name {
            "chat" => {
                "[[ ## answer ## ]]\nx\n[[ ## k ## ]]\nmany\n[[ ## mood ## ]]\nsad\n[[ ## tags ## ]]\n[]"
            }
            "xml" => "<answer>x</answer><k>many</k><mood>sad</mood><tags>[]</tags>",
            "tagged" => "answer: x\nk: many\nmood: sad\ntags: []",
            _ => "{\"answer\": \"x\", \"k\": \"many\", \"mood\": \"sad\", \"tags\": []}",
        };
        let problem = adapter
            .parse_outputs(&task(), &Reply::text(text))
            .unwrap_err()
            .problem;
        assert!(
            problem.contains("`k`: expected an integer, got \"many\""),
            "{name}: {problem}"
        );
        assert!(
            problem.contains("`mood`: expected one of \"calm\", \"excited\""),
            "{name}: {problem}"
        );
        assert!(problem.len() < 1500);

        assert!(
            adapter.parse_outputs(&task(), &Reply::text("")).is_err(),
            "{name}"
        );
        assert!(
            adapter
                .parse_outputs(&task(), &Reply::text("I do not know."))
                .is_err(),
            "{name}"
        );
    }
}

#[test]
fn a_cut_reply_is_not_completed() {
    let two = predict_arrow("question -> reasoning, answer");
    for (name, text) in [
        (
            "chat",
            "[[ ## reasoning ## ]]\nHm.\n\n[[ ## answer ## ]]\nPar",
        ),
        ("json", "{\"reasoning\": \"Hm.\", \"answer\": \"Par"),
        ("json", "{\"reasoning\": \"Hm.\", \"answer\": \"Paris\""),
        ("xml", "<reasoning>Hm.</reasoning><answer>Par"),
        ("tagged", "reasoning: Hm.\nanswer: Par"),
        ("native", "{\"reasoning\": \"Hm.\", \"answer\": \"Par"),
    ] {
        let misread = adapter(name)
            .parse_outputs(&two, &cut_off(text))
            .unwrap_err();
        assert!(misread.problem.contains("cut off"), "{name}: {misread}");
    }
    for adapter in adapters() {
        let misread = adapter
            .parse_outputs(&predict_arrow("q -> answer"), &cut_off("Par"))
            .unwrap_err();
        assert!(
            misread.problem.contains("cut off"),
            "{}: {misread}",
            adapter.name()
        );
    }
    let whole =
        "[[ ## reasoning ## ]]\nHm.\n[[ ## answer ## ]]\nParis\n[[ ## completed ## ]]\n[[ ## an";
    assert!(adapter("chat").parse_outputs(&two, &cut_off(whole)).is_ok());
}

#[test]
fn coercions_are_recorded() {
    let task = predict_arrow("q -> k: int");
    let read = adapter("json")
        .parse_outputs(&task, &Reply::text("{\"k\": \"2\"}"))
        .unwrap();
    assert_eq!(read.repairs.len(), 1);
    assert_eq!(read.repairs[0].kind, RepairKind::Coercion);
    assert_eq!(read.repairs[0].detail, "`k`: \"2\" → 2");
    let read = adapter("chat")
        .parse_outputs(&task, &Reply::text("[[ ## k ## ]]\n2"))
        .unwrap();
    assert_eq!(read.repairs, []);
}

#[test]
fn code_keeps_its_look() {
    let task = predict_arrow("q -> code: str, language: str");
    let code =
        "def f(x):\n    if x < 1 and x > -1:\n        return \"</code>\" & 1\n\n    return x";
    for (name, text) in [
        (
            "chat",
            format!("[[ ## code ## ]]\n{code}\n\n[[ ## language ## ]]\npython"),
        ),
        (
            "xml",
            format!("<code>{code}</code>\n<language>python</language>"),
        ),
        ("tagged", format!("code: {code}\nlanguage: python")),
    ] {
        assert_eq!(
            read(name, &task, &text),
            json!({"code": code, "language": "python"}),
            "{name}"
        );
    }
}

#[test]
fn numbers_keep_their_digits() {
    let task = predict(
        Signature::parse("q -> n: int")
            .unwrap()
            .append_output(Field::new("x", Type::Float))
            .unwrap(),
    );
    let text = "[[ ## n ## ]]\n18446744073709551615\n[[ ## x ## ]]\n123_456.789";
    assert_eq!(
        read("chat", &task, text),
        json!({"n": u64::MAX, "x": 123_456.789})
    );
    let text = "[[ ## n ## ]]\n123456789012345678901234567890\n[[ ## x ## ]]\n1";
    assert!(
        adapter("chat")
            .parse_outputs(&task, &Reply::text(text))
            .is_err()
    );
}
