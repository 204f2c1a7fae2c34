//! Outputs in whatever form a reply holds them.

use enact::adapter::{AdapterChoice, Chat, Json, Native, Tagged, Xml};
use enact::model::{ScriptedModel, call, say};
use enact::{Predict, Values, values};
use serde_json::json;

use crate::{agent, search_and_add};

fn adapters() -> [AdapterChoice; 5] {
    [
        Native.into(),
        Json.into(),
        Chat.into(),
        Xml.into(),
        Tagged::default().into(),
    ]
}

#[tokio::test]
async fn truth_outputs_in_the_adapters_own_form_are_read_in_a_step() {
    for (adapter, reply) in [
        (AdapterChoice::from(Xml), "<answer>5</answer>"),
        (Tagged::default().into(), "Answer: 5"),
        (Tagged::default().into(), "Thought: I know it.\nanswer: 5"),
        (
            Chat.into(),
            "[[ ## answer ## ]]\n5\n\n[[ ## completed ## ]]",
        ),
        (Json.into(), r#"{"answer": "5"}"#),
        (Native.into(), r#"{"answer": "5"}"#),
        (Native.into(), "<answer>5</answer>"),
    ] {
        let script = [call_in(&adapter), say(reply)];
        let played = agent("question -> answer", search_and_add(), script)
            .map(|agent| agent.adapter(adapter.clone()));
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.outputs["answer"], "5", "{adapter}: {reply}");
        assert!(done.success());
    }
}

/// A search in the words of an adapter.
fn call_in(adapter: &AdapterChoice) -> enact::model::ScriptStep {
    match adapter.name() {
        "native" => call("search", json!({"query": "x"})),
        "tagged" => say("Thought: t\nAction: search(query=\"x\")"),
        _ => say(
            r#"{"next_thought": "t", "next_tool_name": "search", "next_tool_args": {"query": "x"}}"#,
        ),
    }
}

async fn predicted(arrow: &str, adapter: &AdapterChoice, reply: &str) -> Values {
    let module = Predict::builder(arrow)
        .model(ScriptedModel::new([say(reply)]))
        .adapter(adapter.clone())
        .build()
        .unwrap();
    let outcome = module.call(values! { question: "q" }).await.unwrap();
    outcome.finished().unwrap().outputs
}

#[tokio::test]
async fn truth_predict_reads_objects_and_bare_values() {
    let native = AdapterChoice::from(Native);
    let read = |arrow: &'static str, reply: &'static str| {
        let native = native.clone();
        async move { predicted(arrow, &native, reply).await }
    };
    assert_eq!(
        read("question -> answer", r#"{"answer": "z"}"#).await["answer"],
        "z"
    );
    assert_eq!(read("question -> n: int", "42").await["n"], 42);
    assert_eq!(read("question -> x: float", "4.5").await["x"], 4.5);
    assert_eq!(read("question -> ok: bool", "true").await["ok"], true);
    assert_eq!(
        read("question -> l: list[int]", "[1, 2]").await["l"],
        json!([1, 2])
    );
    // A text that has structure in it is a text.
    for text in [
        r#"{"answer": "z", "other": 1}"#,
        r#"Send {"answer": "z"} to the server."#,
        "Write <answer>5</answer> there.",
        "Title: x\nanswer: y",
    ] {
        assert_eq!(read("question -> answer", text).await["answer"], text);
    }
}

#[tokio::test]
async fn truth_bare_values_are_read_in_every_adapter() {
    for adapter in adapters() {
        for reply in ["42", "\"42\"", "**42**", "`42`", "42."] {
            let outputs = predicted("question -> n: int", &adapter, reply).await;
            assert_eq!(outputs["n"], 42, "{adapter}: {reply}");
        }
    }
}

#[tokio::test]
async fn truth_an_empty_list_among_arguments_is_no_step() {
    let reply = "Action: submit(answer=\"a\", tags=[])";
    for adapter in adapters() {
        let script = [call_in(&adapter), say(reply)];
        let played = agent(
            "question -> answer, tags: list[str]",
            search_and_add(),
            script,
        )
        .map(|agent| agent.adapter(adapter.clone()));
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.outputs["answer"], "a", "{adapter}");
        assert_eq!(done.outputs["tags"], json!([]), "{adapter}");
    }
}

#[tokio::test]
async fn truth_outputs_that_do_not_fit_are_said_to_be_wrong() {
    let script = [
        say("<n>many</n>"),
        say(
            "<next_thought>t</next_thought><next_tool_name>submit</next_tool_name><next_tool_args>{\"n\": 3}</next_tool_args>",
        ),
    ];
    let played =
        agent("question -> n: int", search_and_add(), script).map(|agent| agent.adapter(Xml));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["n"], 3);
    let notice = played.model.requests()[1]
        .prompt
        .iter()
        .last()
        .unwrap()
        .text();
    assert!(notice.contains("Invalid outputs"), "{notice}");
}
