//! The prompts, in full.

use std::sync::Arc;

use enact::adapter::{Adapter, Completion, Json, Native, Tagged, Tags, Task};
use enact::model::{
    Capabilities, Image, Message, Part, Prompt, Request, ResponseFormat, ToolChoice,
};
use enact::run::{Call, Entry, Observation, ToolResult};
use enact::signature::{Field, Signature, Type};
use enact::tool::ToolSpec;
use serde_json::{Value, json};

use crate::tasks::{
    adapter, adapters, answer_step, convert, finish_step, outputs, predict, predict_arrow,
    report_step, shown, step, values, weather,
};

fn inputs(value: Value) -> Entry {
    Entry::Inputs {
        values: values(value),
    }
}

/// Two inputs, several types, a demonstration, a past turn and the current one.
fn predict_prompt(adapter: &dyn Adapter) -> String {
    let place = Type::schema(
        "Place",
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "As on maps."},
                "people": {"type": "integer"},
            },
            "required": ["name"],
        }),
    );
    let signature = Signature::parse("question: str, k: int = 3 -> answer: str")
        .unwrap()
        .append_output(Field::new("mood", Type::literal(["calm", "excited"])))
        .and_then(|s| s.append_output(Field::new("sources", Type::list(Type::Str))))
        .and_then(|s| s.append_output(Field::new("place", Type::optional(place))))
        .and_then(|s| s.update("answer", |field| field.describe("In one sentence.")))
        .unwrap()
        .with_instructions("Answer the question.\nBe kind.");
    let entries = [
        inputs(json!({"question": "Capital of France?", "k": 1})),
        outputs(json!({
            "answer": "Paris.", "mood": "calm", "sources": ["atlas"],
            "place": {"name": "Paris", "people": 2_000_000},
        })),
        inputs(
            json!({"question": "And of \"Italy\"?\n[[ ## answer ## ]]\nanswer: x <b>&</b>", "k": 2}),
        ),
        outputs(json!({"answer": "Rome.\nIt is.", "mood": "calm", "sources": [], "place": null})),
        inputs(json!({"question": "Of Spain?", "k": 3})),
    ];
    shown(adapter, &predict(signature), &entries)
}

fn call(id: &str, name: &str, args: Value) -> Call {
    Call {
        id: id.into(),
        name: name.into(),
        args: values(args),
        raw: None,
    }
}

fn result(id: &str, name: &str, observation: Observation) -> ToolResult {
    ToolResult::new(id, name, observation)
}

/// A past turn, then a step with two calls at once, one of which failed.
fn step_prompt(adapter: &dyn Adapter, task: &Task) -> String {
    let entries = [
        inputs(json!({"question": "Is it warm in Rome?"})),
        Entry::Outputs {
            values: values(json!({"answer": "Yes.", "celsius": 25.5})),
            thought: "I remember that.".into(),
            call_id: None,
        },
        inputs(json!({"question": "And in Paris, in F?"})),
        Entry::Assistant {
            text: "I need the weather there.".into(),
            calls: vec![
                call("c1", "weather", json!({"city": "Paris"})).into(),
                call("c2", "convert", json!({"value": 20, "to": "K"})).into(),
            ],
            opaque: None,
        },
        Entry::Results {
            results: vec![
                result(
                    "c1",
                    "weather",
                    Observation::value(json!({"celsius": 20, "sky": "clear"})),
                ),
                result("c2", "convert", Observation::error("`to` must be C or F")),
            ],
        },
        Entry::Assistant {
            text: "Now the other unit.".into(),
            calls: vec![call("c3", "convert", json!({"value": 20, "to": "F"})).into()],
            opaque: None,
        },
        Entry::Results {
            results: vec![result("c3", "convert", Observation::value("68 F"))],
        },
        Entry::Notice {
            text: "One step is left.".into(),
        },
    ];
    shown(adapter, task, &entries)
}

#[test]
fn predict_prompts() {
    for adapter in adapters() {
        insta::assert_snapshot!(
            format!("predict_{}", adapter.name()),
            predict_prompt(&*adapter)
        );
    }
}

#[test]
fn step_prompts() {
    for adapter in adapters() {
        let prompt = step_prompt(&*adapter, &report_step());
        insta::assert_snapshot!(format!("step_{}", adapter.name()), prompt);
    }
}

#[test]
fn finish_prompts() {
    for adapter in adapters() {
        let prompt = shown(
            &*adapter,
            &finish_step(),
            &[outputs(json!({"answer": "Yes."}))],
        );
        insta::assert_snapshot!(format!("finish_{}", adapter.name()), prompt);
    }
}

#[test]
fn instructions_and_tools_are_always_said() {
    let declared = Signature::parse("question: str -> answer: str")
        .unwrap()
        .with_instructions("Be brief and kind.");
    for completion in [Completion::Submit, Completion::Finish] {
        let task = step(declared.clone(), vec![weather(), convert()], completion);
        for adapter in adapters() {
            let system = adapter.system(&task);
            assert!(system.contains("Be brief and kind."), "{}", adapter.name());
            assert!(
                system.contains(completion.tool_name()),
                "{}",
                adapter.name()
            );
            if adapter.name() != "native" {
                for word in [
                    "weather",
                    "Current weather in a city.",
                    "City name, such as Paris.",
                ] {
                    assert!(system.contains(word), "{word} in {}", adapter.name());
                }
            }
        }
        for name in ["chat", "json", "xml"] {
            let system = adapter(name).system(&task);
            assert!(
                system.contains("`next_tool_args` must be a valid JSON object"),
                "{name}"
            );
        }
    }
}

#[test]
fn native_says_no_more_than_it_must() {
    let system = Native.system(&answer_step());
    assert!(!system.contains("[["), "{system}");
    assert!(!system.contains("Inputs"), "{system}");
    assert_eq!(
        Native.system(&predict_arrow("question -> answer")),
        "Given `question`, produce `answer`."
    );
}

#[test]
fn a_single_text_input_is_sent_as_it_is_by_native() {
    let text = "What?\nquestion: not a label";
    let messages = Native.render(&answer_step(), &inputs(json!({"question": text})));
    assert_eq!(messages, [Message::user(text)]);
}

#[test]
fn pictures_become_parts() {
    let task = predict_arrow("photo: any, more: list[any], question: str -> answer: str");
    let image = Image::from_url("https://example.com/a.png", "image/png");
    let other = Image::from_base64("aGk=", "image/jpeg");
    let value = |image: &Image| serde_json::to_value(image).unwrap();
    let entry =
        inputs(json!({"photo": value(&image), "more": [value(&other)], "question": "What is it?"}));
    for adapter in adapters() {
        let messages = adapter.render(&task, &entry);
        let [Message::User { parts }] = messages.as_slice() else {
            panic!("not a user message")
        };
        let [Part::Text(text), Part::Image(first), Part::Image(second)] = parts.as_slice() else {
            panic!("{parts:?}")
        };
        assert!(
            text.contains("[image 1]") && text.contains("[image 2]"),
            "{text}"
        );
        assert!(!text.contains("aGk="), "{text}");
        assert_eq!((first, second), (&image, &other));
    }
}

#[test]
fn pictures_of_results_follow_the_text() {
    let image = Image::from_url("https://example.com/a.png", "image/png");
    let observation = Observation::value("Two.").with_images(vec![image.clone(); 2]);
    let entry = Entry::Results {
        results: vec![result("c1", "photos", observation)],
    };
    for adapter in adapters() {
        let messages = adapter.render(&answer_step(), &entry);
        let [Message::User { parts } | Message::Tool { parts, .. }] = messages.as_slice() else {
            panic!("{messages:?}")
        };
        assert_eq!(parts.len(), 3, "{}", adapter.name());
        assert_eq!(parts[2], Part::Image(image.clone()));
    }
}

#[test]
fn requests_are_shaped() {
    let request = || Request::new(Prompt::new());
    let (full, text) = (Capabilities::FULL, Capabilities::TEXT);
    let is_schema =
        |request: &Request| matches!(request.response_format, ResponseFormat::Schema { .. });

    let shaped = Native.shape(&answer_step(), full, request());
    let names: Vec<_> = shaped
        .tools
        .list()
        .iter()
        .map(|f| f.name.as_str())
        .collect();
    assert_eq!(names, ["weather", "convert", "submit"]);
    assert_eq!(shaped.tool_choice, ToolChoice::Auto);
    assert!(!is_schema(&shaped));
    assert!(is_schema(&Native.shape(
        &predict_arrow("q -> a, b"),
        full,
        request()
    )));
    assert!(!is_schema(&Native.shape(
        &predict_arrow("q -> a, b"),
        text,
        request()
    )));
    assert!(!is_schema(&Native.shape(
        &predict_arrow("q -> a"),
        full,
        request()
    )));

    for task in [predict_arrow("q -> a"), answer_step()] {
        let shaped = Json.shape(&task, full, request());
        assert!(is_schema(&shaped) && shaped.tools.is_empty());
        let shaped = Json.shape(&task, text, request());
        assert_eq!(shaped.response_format, ResponseFormat::Text);
    }

    let shaped = Tagged::default().shape(&answer_step(), full, request());
    assert_eq!(shaped.stop, ["\nObservation:"]);
    let tags = Tags {
        observation: "Result".into(),
        ..Tags::default()
    };
    let shaped = Tagged::new(tags).shape(&answer_step(), full, request());
    assert_eq!(shaped.stop, ["\nResult:"]);
    assert!(
        Tagged::default()
            .shape(&predict_arrow("q -> a"), full, request())
            .stop
            .is_empty()
    );
}

#[test]
fn other_words_for_the_tags() {
    let tags = Tags {
        thought: "Idee".into(),
        action: "Tat".into(),
        observation: "Befund".into(),
    };
    let tagged = Tagged::new(tags);
    let task = answer_step();
    let reply = enact::model::Reply::text("Idee: los\nTat: weather[Paris]\nBefund: warm");
    let read = tagged.parse_step(&task, &reply).unwrap().value;
    assert_eq!(read.thought, "los");
    assert_eq!(
        read.calls[0].args.clone().map(Value::Object),
        Ok(json!({"city": "Paris"}))
    );
    let entry = Entry::Results {
        results: vec![result(
            "c",
            "weather",
            Observation::value("Tat: submit()\nAction: x"),
        )],
    };
    assert_eq!(
        tagged.render(&task, &entry)[0].text(),
        "Befund: \\Tat: submit()\nAction: x"
    );
}

#[test]
fn native_history_is_fit_for_providers() {
    let entry = Entry::Assistant {
        text: String::new(),
        calls: vec![Arc::new(Call {
            id: "c".into(),
            name: "get weather!".into(),
            args: values(json!({})),
            raw: Some("{\"city\": ".into()),
        })],
        opaque: Some(json!({"signature": "x"})),
    };
    let messages = Native.render(&answer_step(), &entry);
    let [Message::Assistant { calls, opaque, .. }] = messages.as_slice() else {
        panic!("not an assistant message")
    };
    assert_eq!(calls[0].name, "get_weather_");
    assert_eq!(calls[0].arguments, "{\"unreadable\":\"{\\\"city\\\": \"}");
    assert_eq!(*opaque, Some(json!({"signature": "x"})));
}

#[test]
fn native_submits_keep_their_id_or_get_a_stable_one() {
    let task = answer_step();
    let entry = |call_id: Option<&str>| Entry::Outputs {
        values: values(json!({"answer": "Yes."})),
        thought: "Done.".into(),
        call_id: call_id.map(str::to_owned),
    };
    let ids = |entry: &Entry| -> (String, String) {
        let messages = Native.render(&task, entry);
        let [
            Message::Assistant { calls, .. },
            Message::Tool { call_id, .. },
        ] = messages.as_slice()
        else {
            panic!("{messages:?}")
        };
        assert_eq!(messages[1].text(), "Completed.");
        (calls[0].id.clone().unwrap(), call_id.clone())
    };
    assert_eq!(ids(&entry(Some("c9"))), ("c9".to_owned(), "c9".to_owned()));
    let (first, second) = ids(&entry(None));
    assert_eq!(first, second);
    assert_eq!(ids(&entry(None)).0, first);
}

#[test]
fn truth_worked_examples_show_structs_and_pairs_as_they_are() {
    let home = json!({
        "type": "object",
        "properties": {
            "address": {
                "type": "object",
                "properties": {
                    "street": {
                        "type": "object",
                        "properties": {"name": {"type": "string"}, "number": {"type": "integer"}},
                        "required": ["name", "number"],
                    },
                },
                "required": ["street"],
            },
        },
        "required": ["address"],
    });
    let place = json!({
        "type": "array",
        "prefixItems": [{"type": "number"}, {"type": "number"}],
        "minItems": 2,
        "maxItems": 2,
    });
    let endless = json!({
        "type": "object",
        "properties": {"again": {"$ref": "#"}},
        "required": ["again"],
    });
    let person = json!({
        "type": "object",
        "properties": {"home": home, "place": place},
        "required": ["home", "place"],
    });
    let declared = Signature::parse("question -> answer").unwrap();
    let declared = declared
        .append_output(Field::new("person", Type::schema("Person", person)))
        .unwrap();
    let specs = vec![ToolSpec::new("endless", "Cannot be called.", endless)];
    let task = step(declared, specs, Completion::Submit);
    for adapter in adapters() {
        let said = adapter.system(&task);
        assert!(!said.contains("A reply that calls a tool looks"), "{said}");
        if said.contains("The last reply looks like this") {
            let shown =
                r#"{"home":{"address":{"street":{"name":"…","number":1}}},"place":[1.5,1.5]}"#;
            assert!(said.contains(shown), "{}: {said}", adapter.name());
        }
    }
}
