//! Servers that ask the person something while a call is under way.

use enact::tool::ToolContext;
use serde_json::{Value, json};

use crate::{call, call_with, server, unruly};

#[tokio::test]
async fn a_call_that_asks_is_cancelled_and_repeated_with_the_answer() {
    let server = server().await;
    let context = ToolContext::detached("c");
    let asks = call_with(&server, "ask", json!({"n": 1}), context.clone()).await;
    let question = asks.unwrap_err().into_question().expect("a question");
    assert_eq!(
        question,
        "What is 1?\n- `age` (a whole number)\nAnswer with the value, or `decline`."
    );
    let cancelled = call(&server, "cancelled").await.unwrap();
    let cancelled: Vec<u64> = serde_json::from_str(cancelled.as_str().unwrap()).unwrap();
    assert_eq!(cancelled.len(), 1);

    let context = context.with_answer(&question, "36");
    let given = call_with(&server, "ask", json!({"n": 1}), context)
        .await
        .unwrap();
    let given: Value = serde_json::from_str(given.value.as_str().unwrap()).unwrap();
    assert_eq!(given, json!({"action": "accept", "content": {"age": 36}}));
    server.shutdown().await;
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again_and_a_refusal_is_passed_on() {
    let server = server().await;
    let context = ToolContext::detached("c");
    let asks = call_with(&server, "ask", json!({"n": 1}), context.clone()).await;
    let question = asks.unwrap_err().into_question().expect("a question");
    let context = context.with_answer(&question, "old");
    let asks = call_with(&server, "ask", json!({"n": 1}), context.clone()).await;
    let again = asks.unwrap_err().into_question().expect("a question");
    assert!(again.contains("`old` does not fit"), "{again}");
    let context = context.with_answer(&again, "decline");
    let given = call_with(&server, "ask", json!({"n": 1}), context)
        .await
        .unwrap();
    assert_eq!(given.value, r#"{"action":"decline"}"#);
    server.shutdown().await;
}

#[tokio::test]
async fn a_question_waits_until_it_is_clear_whose_it_is() {
    let server = server().await;
    let context = ToolContext::detached("c");
    let busy = ToolContext::detached("d");
    let hanging = call_with(&server, "hang", json!({}), busy.clone());
    let asking = call_with(&server, "ask", json!({"n": 1}), context);
    let free = async {
        // By now both calls are with the server: this one comes after them.
        call(&server, "pid").await.unwrap();
        busy.cancellation.cancel();
    };
    let (hung, asked, ()) = tokio::join!(hanging, asking, free);
    assert_eq!(hung.unwrap_err().to_string(), "the call was cancelled");
    let question = asked.unwrap_err().into_question().expect("a question");
    assert!(question.starts_with("What is 1?"), "{question}");
    server.shutdown().await;
}

#[tokio::test]
async fn questions_of_several_calls_at_once_are_not_mixed_up() {
    let server = server().await;
    let ask = |id: &str| call_with(&server, "ask", json!({"n": 1}), ToolContext::detached(id));
    let (first, second) = tokio::join!(ask("c"), ask("d"));
    for result in [first, second] {
        let text = result.unwrap_err().to_string();
        assert!(text.contains("make these calls one at a time"), "{text}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_server_that_hands_the_question_back_gets_the_answer_with_its_state() {
    let server = unruly("modern").connect().await.unwrap();
    assert_eq!(server.name(), "modern");
    let context = ToolContext::detached("c");
    let asks = call_with(&server, "ask", json!({}), context.clone()).await;
    let question = asks.unwrap_err().into_question().expect("a question");
    assert!(question.starts_with("What is it?"), "{question}");
    assert_eq!(call(&server, "cancelled").await.unwrap(), "[]");
    let context = context.with_answer(&question, "36");
    let given = call_with(&server, "ask", json!({}), context).await.unwrap();
    let given: Value = serde_json::from_str(given.value.as_str().unwrap()).unwrap();
    let answer = json!({"q": {"action": "accept", "content": {"age": 36}}});
    assert_eq!(given, json!(["sealed", answer]));
    server.shutdown().await;
}
