//! Further behaviours that the tests of DSPy, udspy and dspy.ex assert.

use std::sync::Arc;

use enact::model::{Capabilities, Message, ModelErrorKind, ScriptedModel, call, fail, say};
use enact::{AdapterChoice, ErrorKind, FnTool, History, ReAct, ToolError, Tools, values};
use serde_json::{Value, json};

use super::{agent, failing, search_and_add};

fn all_text(model: &ScriptedModel, index: usize) -> String {
    let request = model.requests()[index].clone();
    request
        .prompt
        .iter()
        .map(|message| message.text() + "\n")
        .collect()
}

/// An agent whose model only writes text, under an adapter.
fn texting(adapter: &str, replies: &[&str]) -> (ReAct, Arc<ScriptedModel>) {
    let model = Arc::new(
        ScriptedModel::new(replies.iter().map(|reply| say(*reply)))
            .with_capabilities(Capabilities::TEXT),
    );
    let choice: AdapterChoice = adapter.parse().unwrap();
    let agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .adapter(choice)
        .model(model.clone())
        .build()
        .unwrap();
    (agent, model)
}

#[tokio::test]
async fn dspy_tool_calling_without_typehint() {
    let schema = json!({"type": "object", "properties": {"a": {}, "b": {}}});
    let untyped = FnTool::from_spec(
        enact::tool::ToolSpec::new("foo", "Adds.", schema),
        |args, _| async move {
            let number = |name: &str| args.get(name).and_then(Value::as_i64).unwrap_or_default();
            Ok::<_, ToolError>(number("a") + number("b"))
        },
    );
    let played = agent(
        "a, b -> c: int",
        Tools::new().with(untyped),
        [
            call("foo", json!({"a": 1, "b": 2})),
            call("submit", json!({"c": "3"})),
        ],
    );
    let done = played.call(values! { a: "1", b: "2" }).await;
    assert_eq!(done.trajectory().steps()[0].observation, 3);
    assert_eq!(done.outputs["c"], 3);
}

#[tokio::test]
async fn dspy_tool_error_observation_format() {
    let played = agent(
        "question -> answer",
        Tools::new().with(failing()),
        [
            call("failing_tool", json!({})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let text = done.trajectory().steps()[0]
        .observation
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(text, "Error executing failing_tool: tool error");
}

#[tokio::test]
async fn dspy_truncate_raises_on_a_single_step_with_the_step_kept() {
    let overflow = || fail(ModelErrorKind::ContextLength, "too long");
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "x"})),
            overflow(),
            overflow(),
            overflow(),
            overflow(),
            overflow(),
        ],
    );
    let error = played
        .agent
        .call(values! { question: "q" })
        .await
        .unwrap_err();
    played.model.abandon();
    assert_eq!(
        error.kind(),
        ErrorKind::Model(ModelErrorKind::ContextLength)
    );
    assert_eq!(error.run().unwrap().trajectory().steps().len(), 1);
}

#[test]
fn dspy_context_window_exceeded_in_a_blocking_call() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            fail(ModelErrorKind::ContextLength, "too long"),
            say(r#"{"reasoning": "r", "answer": "a"}"#),
        ],
    );
    let done = played
        .agent
        .call(values! { question: "q" })
        .blocking()
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.outputs["answer"], "a");
}

#[tokio::test]
async fn dspy_text_mode_accepts_top_level_and_wrapped_tool_arguments() {
    for replies in [
        [
            r#"{"name": "search", "arguments": {"query": "x"}}"#,
            r#"{"name": "submit", "arguments": {"answer": "a"}}"#,
        ],
        [
            r#"{"tool_calls": [{"name": "search", "arguments": {"query": "x"}}]}"#,
            r#"{"tool_calls": [{"name": "submit", "arguments": {"answer": "a"}}]}"#,
        ],
    ] {
        let (agent, model) = texting("json", &replies);
        let done = agent
            .call(values! { question: "q" })
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(done.outputs["answer"], "a");
        assert_eq!(done.trajectory().steps()[0].observation, "about x");
        // In text mode nothing is said of tools outside the text.
        assert!(
            model
                .requests()
                .iter()
                .all(|request| request.tools.is_empty())
        );
    }
}

#[tokio::test]
async fn dspy_accepts_serialised_history() {
    let first = agent(
        "question -> answer",
        search_and_add(),
        [call("submit", json!({"answer": "one"}))],
    );
    let done = first.call(values! { question: "first" }).await;
    let text = serde_json::to_string(&done.history).unwrap();
    let history: History = serde_json::from_str(&text).unwrap();
    let second = agent(
        "question -> answer",
        search_and_add(),
        [call("submit", json!({"answer": "two"}))],
    );
    let outcome = second
        .agent
        .call(values! { question: "second" })
        .history(&history)
        .await
        .unwrap();
    let done = outcome.finished().unwrap();
    assert_eq!(done.history.entries()[0], history.entries()[0]);
    assert!(all_text(&second.model, 0).contains("first"));
}

#[tokio::test]
async fn dspy_native_prompt_has_no_markers() {
    let played = agent(
        "question, context -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "x"})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let _ = played.call(values! { question: "q", context: "c" }).await;
    for index in 0..2 {
        let text = all_text(&played.model, index);
        assert!(
            !text.contains("[[") && !text.contains("completed ##"),
            "{text}"
        );
    }
    assert_eq!(played.model.requests()[0].tools.list().len(), 3);
}

#[tokio::test]
async fn dspy_ex_step_prompt_requires_a_json_object_for_arguments() {
    for adapter in ["chat", "json", "xml"] {
        let (agent, model) = texting(adapter, &["Paris", "Paris"]);
        let _ = agent.call(values! { question: "q" }).await.unwrap();
        let system = model.requests()[0].prompt.iter().next().unwrap().text();
        assert!(system.contains("next_tool_args"), "{adapter}: {system}");
        assert!(system.contains("JSON object"), "{adapter}: {system}");
        for name in ["search", "add", "submit", "Looks something up."] {
            assert!(system.contains(name), "{adapter}: {system}");
        }
    }
}

#[tokio::test]
async fn dspy_ex_extraction_keeps_the_history_and_does_not_mix_it_into_the_trajectory() {
    let first = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "earlier"})),
            call("submit", json!({"answer": "one"})),
        ],
    );
    let earlier = first.call(values! { question: "first question" }).await;
    let second = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "later"})),
            say("{"),
            say(r#"{"reasoning": "r", "answer": "two"}"#),
        ],
    );
    let outcome = second
        .agent
        .call(values! { question: "second question" })
        .history(&earlier.history)
        .max_iterations(1)
        .await
        .unwrap();
    let _ = outcome.finished().unwrap();
    let request = second.model.requests()[2].clone();
    let messages: Vec<String> = request.prompt.iter().map(Message::text).collect();
    let (last, before) = messages.split_last().unwrap();
    assert!(
        last.contains("about later") && last.contains("second question"),
        "{last}"
    );
    assert!(!last.contains("about earlier"), "{last}");
    assert!(
        before.iter().any(|text| text.contains("about earlier")),
        "{before:?}"
    );
}

#[tokio::test]
async fn the_users_instructions_are_in_every_inner_prompt() {
    for adapter in ["native", "chat", "json", "xml", "tagged"] {
        let played = agent(
            "question -> answer",
            search_and_add(),
            [say("x"), say(r#"{"reasoning": "r", "answer": "a"}"#)],
        );
        let choice: AdapterChoice = adapter.parse().unwrap();
        let agent = played
            .builder
            .instructions("Answer like a pirate.")
            .adapter(choice)
            .max_repairs(0)
            .build()
            .unwrap();
        let _ = agent.call(values! { question: "q" }).await;
        played.model.abandon();
        for request in played.model.requests() {
            let system = request.prompt.iter().next().unwrap().text();
            assert!(
                system.contains("Answer like a pirate."),
                "{adapter}: {system}"
            );
        }
    }
}

#[tokio::test]
async fn udspy_invalid_json_arguments_keep_the_raw_output_for_the_reader() {
    let (agent, _) = texting(
        "chat",
        &[
            "[[ ## next_thought ## ]]\nt\n[[ ## next_tool_name ## ]]\nsearch\n[[ ## next_tool_args ## ]]\nnot json at all",
            "[[ ## next_thought ## ]]\nt\n[[ ## next_tool_name ## ]]\nsubmit\n[[ ## next_tool_args ## ]]\n{\"answer\": \"a\"}",
        ],
    );
    let done = agent
        .call(values! { question: "q" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    let log = serde_json::to_string(done.run()).unwrap();
    assert!(log.contains("not json at all"));
    assert_eq!(done.outputs["answer"], "a");
}
