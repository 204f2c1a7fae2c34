//! Objects, ranges and dates: what adapters say of them, and what they read.

use enact::adapter::{Completion, Task};
use enact::model::Reply;
use enact::signature::{Property, Signature, Type, Validator};
use serde_json::{Value, json};

use crate::tasks::{adapter, adapters, predict, shown, step, weather};

/// People with a description of one of their properties, and a day.
fn signature() -> Signature {
    let person = Type::object([
        Property::new("name", Type::parse("str(..40)").unwrap()).describe("As in the text."),
        Property::new("age", Type::parse("int(0..150) | None").unwrap()),
        Property::new("mood", Type::parse(r#""good" | "bad""#).unwrap()),
    ])
    .unwrap();
    let people = Type::list(person).within(Some(1.into()), None).unwrap();
    Signature::parse("text -> people: any, day: date, share: float(0..1)")
        .unwrap()
        .update("people", |mut field| {
            field.ty = people;
            field
        })
        .unwrap()
}

fn reply(name: &str, people: &str, day: &str, share: &str) -> String {
    match name {
        "chat" => format!(
            "[[ ## people ## ]]\n{people}\n[[ ## day ## ]]\n{day}\n[[ ## share ## ]]\n{share}"
        ),
        "xml" => format!("<people>{people}</people><day>{day}</day><share>{share}</share>"),
        "tagged" => format!("people: {people}\nday: {day}\nshare: {share}"),
        _ => format!("{{\"people\": {people}, \"day\": \"{day}\", \"share\": {share}}}"),
    }
}

fn read(name: &str, task: &Task, text: &str) -> Result<Value, String> {
    let read = adapter(name).parse_outputs(task, &Reply::text(text));
    match read {
        Ok(read) => Ok(Value::Object(read.value)),
        Err(misread) => Err(misread.problem),
    }
}

#[test]
fn every_prompt_describes_what_is_inside() {
    let words = [
        "name: str (at most 40 characters) (As in the text.)",
        "age?: int (0 to 150) or null",
        "mood: \"good\" | \"bad\"",
    ];
    for adapter in adapters() {
        let name = adapter.name();
        let prompt = shown(&*adapter, &predict(signature()), &[]);
        let stepped = step(signature(), vec![weather()], Completion::Finish);
        for prompt in [prompt, shown(&*adapter, &stepped, &[])] {
            for words in words {
                assert!(prompt.contains(words), "{name}: {words} in\n{prompt}");
            }
            assert!(prompt.contains("(at least 1 items)"), "{name}\n{prompt}");
            assert!(prompt.contains("str (date)"), "{name}\n{prompt}");
            assert!(prompt.contains("float (0 to 1)"), "{name}\n{prompt}");
        }
    }
}

/// What a model sees where it submits by a tool: the example fits the schema.
#[test]
fn an_example_fits() {
    for name in ["chat", "xml", "json", "tagged"] {
        let task = step(signature(), vec![weather()], Completion::Submit);
        let prompt = shown(&*adapter(name), &task, &[]);
        assert!(prompt.contains("\"2025-01-31\""), "{name}\n{prompt}");
        assert!(
            prompt.contains("\"mood\": \"good\"") || prompt.contains("\"mood\":\"good\""),
            "{name}\n{prompt}"
        );
    }
}

#[test]
fn shapes_are_read_and_coerced() {
    let wanted = json!({
        "people": [{"name": "Ada", "age": 36, "mood": "good"}, {"name": "Bob", "mood": "bad"}],
        "day": "2025-01-31",
        "share": 0.5,
    });
    for adapter in adapters() {
        let name = adapter.name();
        let people =
            r#"[{"name": "Ada", "age": "36", "mood": "Good"}, {"name": "Bob", "mood": "bad"}]"#;
        let text = reply(name, people, "2025-01-31", "0.5");
        let value = read(name, &predict(signature()), &text);
        assert_eq!(value.as_ref(), Ok(&wanted), "{name}");
    }
    let quoted = reply(
        "chat",
        r#"[{"name": "A", "mood": "bad"}]"#,
        "\"2025-01-31\"",
        "1",
    );
    let value = read("chat", &predict(signature()), &quoted).unwrap();
    assert_eq!(value["day"], "2025-01-31");
}

#[test]
fn what_is_wrong_inside_is_named() {
    for adapter in adapters() {
        let name = adapter.name();
        let people = r#"[{"name": "Ada", "age": 200, "mood": "fine", "size": 3}]"#;
        let text = reply(name, people, "tomorrow", "1.5");
        let problem = read(name, &predict(signature()), &text).unwrap_err();
        for words in [
            "`people[0].age`",
            "`people[0].mood`: expected one of \"good\", \"bad\"",
            "`size`: not known in `people[0]`",
            "`day`: expected a date such as 2025-01-31, got \"tomorrow\"",
            "`share`: 1.5 is greater than the maximum of 1",
        ] {
            assert!(problem.contains(words), "{name}: {words} in {problem}");
        }
    }
}

#[test]
fn dates_are_respelled_and_checked_inside_of_unions() {
    let checked = |ty: &str, value: Value| {
        let ty = Type::parse(ty).unwrap();
        let checked = Validator::new(ty.json_schema()).unwrap().check(value);
        checked
            .map(|checked| checked.value)
            .map_err(|problems| problems.to_string())
    };
    assert_eq!(
        checked("datetime", json!(" 2025-01-31 14:30")),
        Ok(json!("2025-01-31T14:30"))
    );
    assert_eq!(checked("date | None", json!("null")), Ok(json!(null)));
    assert_eq!(
        checked("date | None", json!("soon")),
        Err("the value: expected a date such as 2025-01-31, got \"soon\"".to_owned())
    );
    assert_eq!(checked("int(1..)", json!("7")), Ok(json!(7)));
    assert!(checked("int(1..)", json!("0")).is_err());
    assert!(checked("int(1..)", json!(null)).is_err());
    assert!(checked("list[int](..1)", json!([1, 2])).is_err());
}
