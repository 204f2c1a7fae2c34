//! Ollama by its own protocol.

use std::time::Duration;

use enact_core::model::{
    FinishReason, LanguageModel as _, Message, ModelErrorKind, ModelOptions, Part, Prompt, Request,
    Usage,
};
use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::{ask, call, client, error_of, reply_of, weather};

const MODEL: &str = "ollama::qwen-test";

fn lines(list: impl IntoIterator<Item = Value>) -> Turn {
    let chunks = list.into_iter().map(|line| format!("{line}\n"));
    Turn::raw_chunks(chunks).header("content-type", "application/x-ndjson")
}

fn piece(message: Value) -> Value {
    json!({"model": "qwen-test", "message": message, "done": false})
}

fn done(reason: &str) -> Value {
    json!({
        "model": "qwen-test", "message": {"role": "assistant", "content": ""}, "done": true,
        "done_reason": reason, "prompt_eval_count": 21, "prompt_eval_cached_count": 17,
        "eval_count": 8,
    })
}

#[tokio::test]
async fn text_and_thinking_arrive_with_what_they_cost() {
    let turn = lines([
        piece(json!({"role": "assistant", "content": "", "thinking": "hm"})),
        piece(json!({"role": "assistant", "content": "Hel"})),
        piece(json!({"role": "assistant", "content": "lo"})),
        done("stop"),
    ]);
    let reply = reply_of(MODEL, turn).await;
    assert_eq!(
        (reply.text.as_str(), reply.reasoning.as_str()),
        ("Hello", "hm")
    );
    let mut usage = Usage::of_request(21, 8);
    usage.cached_input_tokens = 17;
    assert_eq!(reply.usage, usage);
    assert_eq!(reply.finish, FinishReason::Stop);
}

#[tokio::test]
async fn parallel_calls_and_their_results_are_exchanged() {
    let used = |city: &str| json!({"function": {"name": "weather", "arguments": {"city": city}}});
    let calls =
        json!({"role": "assistant", "content": "", "tool_calls": [used("Paris"), used("Rome")]});
    let turn = lines([piece(calls), done("stop")]);
    let server = TestServer::start_anywhere([turn, lines([done("length")])]).await;
    let model = client(MODEL, &server);
    let reply = model
        .complete(ask("hi").with_tools(weather()))
        .await
        .unwrap();
    let said: Vec<&str> = reply
        .calls
        .iter()
        .map(|call| call.arguments.as_str())
        .collect();
    assert_eq!(said, ["{\"city\":\"Paris\"}", "{\"city\":\"Rome\"}"]);
    assert!(reply.calls.iter().all(|call| call.id.is_some()));
    assert_eq!(reply.finish, FinishReason::ToolCalls);

    let prompt = Prompt::from_iter([
        Message::user("hi"),
        Message::Assistant {
            text: "Looking.".into(),
            calls: vec![call("a", "Paris")],
            opaque: None,
        },
        Message::Tool {
            call_id: "a".into(),
            name: "weather".into(),
            parts: vec![Part::Text("20 °C".into())],
        },
    ]);
    let reply = model.complete(Request::new(prompt)).await.unwrap();
    assert_eq!(reply.finish, FinishReason::Length);
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/api/chat");
    assert_eq!(
        requests[0].json()["tools"][0]["function"]["name"],
        "weather"
    );
    let messages = &requests[1].json()["messages"];
    assert_eq!(
        messages[1]["tool_calls"][0]["function"]["arguments"]["city"],
        "Paris"
    );
    assert_eq!(messages[2], json!({"role": "tool", "content": "20 °C"}));
}

#[tokio::test]
async fn the_wish_to_wait_is_passed_on() {
    let error = error_of(
        MODEL,
        Turn::status(429).header("retry-after", "7").body("{}"),
    )
    .await;
    assert_eq!(error.kind(), ModelErrorKind::RateLimit);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_recognised() {
    let report = json!({"error": "prompt too long; exceeded max context length by 52 tokens"});
    let error = error_of(MODEL, Turn::status(400).body(report.to_string())).await;
    assert_eq!(error.kind(), ModelErrorKind::ContextLength);
}

#[tokio::test]
async fn a_missing_model_is_named() {
    let report = json!({"error": "model 'qwen-test' not found"});
    let error = error_of(MODEL, Turn::status(404).body(report.to_string())).await;
    assert_eq!(error.kind(), ModelErrorKind::NotFound);
    assert!(error.to_string().contains("`qwen-test`"), "{error}");
}

#[tokio::test]
async fn a_reply_that_is_cut_off_or_no_reply_breaks_the_protocol() {
    let half = || piece(json!({"role": "assistant", "content": "half"}));
    for turn in [
        lines([half()]),
        lines([half(), json!({"error": "the model crashed"})]),
        Turn::status(200).body("<html>\nWelcome to the router\n</html>"),
    ] {
        let error = error_of(MODEL, turn).await;
        assert_eq!(error.kind(), ModelErrorKind::Protocol, "{error}");
    }
}

#[tokio::test]
async fn what_would_be_dropped_is_refused() {
    let server = TestServer::start_anywhere([]).await;
    let mut options = ModelOptions::default();
    options.extra.insert("top_k".into(), json!(5));
    let model = client(MODEL, &server);
    let error = model
        .complete(ask("hi").with_options(options))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::InvalidRequest);
    assert!(!model.capabilities().response_schema);
}
