//! Numbers are read as they were written, or refused: never changed without a word.

use enact::adapter::{AdapterChoice, Json, Native};
use enact::model::{call, say};
use enact::run::Event;
use enact::{Values, values};
use serde_json::{Value, json};

use crate::{agent, search_and_add};

/// What becomes of an output that is submitted as this JSON text: the value with the repairs, or
/// what the model is told.
async fn submitted(ty: &str, written: &str) -> Result<(Value, String), String> {
    let native = (
        AdapterChoice::from(Native),
        call("submit", Value::String(format!("{{\"x\": {written}}}"))),
    );
    let text = format!(r#"{{"next_tool_name": "submit", "next_tool_args": {{"x": {written}}}}}"#);
    let json = (AdapterChoice::from(Json), say(text));
    let mut found = Vec::new();
    for (adapter, reply) in [native, json] {
        let arrow = format!("question -> x: {ty}");
        let played = agent(&arrow, search_and_add(), (0..9).map(|_| reply.clone()))
            .map(|agent| agent.adapter(adapter).max_iterations(3));
        let told = played.agent.call(values! { question: "q" }).await;
        played.model.abandon();
        found.push(match told {
            Ok(outcome) => {
                let done = outcome.finished().unwrap();
                let repairs = done.run().events().filter_map(|event| match event {
                    Event::Replied(replied) => Some(format!("{:?}", replied.repairs)),
                    _ => None,
                });
                Ok((done.outputs["x"].clone(), repairs.collect::<String>()))
            }
            Err(_) => {
                let requests = played.model.requests();
                Err(requests[1].prompt.iter().last().unwrap().text())
            }
        });
    }
    assert_eq!(
        found[0].is_ok(),
        found[1].is_ok(),
        "{ty} {written}: {found:?}"
    );
    if let (Ok((native, _)), Ok((json, _))) = (&found[0], &found[1]) {
        assert_eq!(native, json, "{ty} {written}");
    }
    found.remove(0)
}

#[tokio::test]
async fn truth_integers_are_exact_or_refused() {
    for (written, expected) in [
        ("9223372036854775807.0", "9223372036854775807"),
        ("9007199254740993.0", "9007199254740993"),
        ("\"9007199254740993.0\"", "9007199254740993"),
        ("1e18", "1000000000000000000"),
        ("18446744073709551615", "18446744073709551615"),
        ("-9223372036854775808", "-9223372036854775808"),
    ] {
        let (value, _) = submitted("int", written).await.unwrap();
        assert_eq!(value.to_string(), expected, "{written}");
    }
    for written in ["-9223372036854775809", "12345678901234567890123"] {
        let told = submitted("int", written).await.unwrap_err();
        assert!(told.contains("64 bits") && told.contains(written), "{told}");
    }
}

#[tokio::test]
async fn truth_floats_that_cannot_be_held_are_refused() {
    for (written, why) in [
        ("1e400", "it is too large for a number"),
        ("1e-400", "it is too small for a number"),
        ("NaN", "JSON has no such number"),
    ] {
        let told = submitted("float", written).await.unwrap_err();
        assert!(told.contains(why), "{written}: {told}");
    }
    for written in [
        "0.1",
        "1e300",
        "1e23",
        "12345678901234567.5",
        "18446744073709551616",
        "-15511210043330985984000000",
    ] {
        let (value, _) = submitted("float", written).await.unwrap();
        assert_eq!(value.as_f64(), written.parse().ok(), "{written}");
    }
}

#[tokio::test]
async fn truth_numbers_of_any_type_are_kept_as_written() {
    for ty in ["any", "str"] {
        let (value, repairs) = submitted(ty, "12345678901234567890123").await.unwrap();
        assert_eq!(value, "12345678901234567890123");
        assert!(repairs.contains("kept as text"), "{repairs}");
    }
}

#[tokio::test]
async fn truth_keys_that_are_given_twice_are_told() {
    let (value, repairs) = submitted("dict[str, int]", r#"{"a": 1, "a": 2}"#)
        .await
        .unwrap();
    assert_eq!(value, json!({"a": 2}));
    assert!(repairs.contains("`a` is given twice"), "{repairs}");
}

#[tokio::test]
async fn truth_nothing_is_invented_for_a_cut_off_value() {
    let cut = "{\"next_tool_name\": \"search\", \"next_tool_args\": {\"query\":";
    let submit = r#"{"next_tool_name": "submit", "next_tool_args": {"answer": "5"}}"#;
    let played = agent(
        "question -> answer",
        search_and_add(),
        [say(cut), say(submit)],
    )
    .map(|agent| agent.adapter(Json));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(
        done.outputs,
        Values::from_iter([("answer".to_owned(), json!("5"))])
    );
    let log = serde_json::to_string(&done.trajectory()).unwrap();
    assert!(!log.contains("search"), "{log}");
}
