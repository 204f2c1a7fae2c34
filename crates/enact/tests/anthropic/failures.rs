//! How requests fail, and what is said about it.

use std::time::Duration;

use enact::model::{Chunk, LanguageModel as _, ModelError, ModelErrorKind, Retrying, Timeouts};
use enact_test_server::{TestServer, Turn};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::{ask, block_start, client, events, message_start, says, stop};

const KEY: &str = "sk-ant-0123456789abcdef";

async fn error_of(turn: Turn) -> ModelError {
    let server = TestServer::start_anywhere([turn]).await;
    let error = client(&server).complete(ask("hi")).await.unwrap_err();
    server.assert_complete();
    error
}

fn refusal(status: u16, kind: &str, message: &str) -> Turn {
    let report = json!({"type": "error", "error": {"type": kind, "message": message}});
    Turn::status(status).body(report.to_string())
}

fn half() -> Vec<Value> {
    vec![
        message_start(),
        block_start(0, json!({"type": "text", "text": "half"})),
    ]
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_has_a_kind() {
    let reports = [
        ("overloaded_error", "Overloaded", ModelErrorKind::Server),
        ("rate_limit_error", "slow down", ModelErrorKind::RateLimit),
        ("api_error", "Internal error", ModelErrorKind::Server),
        (
            "permission_error",
            "not you",
            ModelErrorKind::Authentication,
        ),
    ];
    for (kind, message, expected) in reports {
        let mut list = half();
        list.push(json!({"type": "error", "error": {"type": kind, "message": message}}));
        let server = TestServer::start_anywhere([events(list)]).await;
        let model = client(&server);
        let mut stream = model.stream(ask("hi"));
        let first = stream.next().await.unwrap().unwrap();
        assert_eq!(first, Chunk::Text("half".into()));
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), expected, "{error}");
        assert!(error.to_string().contains(message), "{error}");
        assert!(stream.next().await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_stalled_stream_times_out() {
    let server = TestServer::start_anywhere([events(half()).then_stall()]).await;
    let model = client(&server).with_timeouts(Timeouts {
        idle: Duration::from_secs(20),
        ..Timeouts::default()
    });
    let before = tokio::time::Instant::now();
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Timeout);
    assert_eq!(before.elapsed().as_secs(), 20);
    assert!(error.to_string().contains("Timeouts::idle"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_waited_out() {
    let busy = refusal(429, "rate_limit_error", "slow down").header("retry-after", "7");
    let server = TestServer::start_anywhere([busy, says("hi")]).await;
    let before = tokio::time::Instant::now();
    let reply = Retrying::new(client(&server))
        .complete(ask("hi"))
        .await
        .unwrap();
    assert_eq!(before.elapsed().as_secs(), 7);
    assert_eq!((reply.text.as_str(), reply.attempts), ("hi", 2));
}

#[tokio::test]
async fn the_wish_to_wait_is_passed_on() {
    let error = error_of(refusal(429, "rate_limit_error", "m").header("retry-after", "7")).await;
    assert_eq!(error.kind(), ModelErrorKind::RateLimit);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    assert_eq!(error.status(), Some(429));
}

#[tokio::test]
async fn an_overloaded_provider_is_asked_again() {
    let error = error_of(refusal(529, "overloaded_error", "Overloaded")).await;
    assert_eq!(error.kind(), ModelErrorKind::Server);
    assert!(error.is_retryable());
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_recognised() {
    for message in [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    ] {
        let error = error_of(refusal(400, "invalid_request_error", message)).await;
        assert_eq!(error.kind(), ModelErrorKind::ContextLength, "{error}");
        assert!(error.to_string().contains("200000"), "{error}");
    }
}

#[tokio::test]
async fn a_body_that_is_not_json_is_shown_in_part() {
    let page = format!(
        "<html>\n<h1>Welcome to the router</h1>\n{}",
        "x".repeat(4000)
    );
    let error = error_of(Turn::status(200).body(page)).await;
    assert_eq!(error.kind(), ModelErrorKind::Protocol);
    let text = error.to_string();
    assert!(text.contains("<h1>Welcome to the router</h1>"), "{text}");
    assert!(text.contains("Anthropic's messages"), "{text}");
    assert!(text.len() < 700, "{text}");
}

#[tokio::test]
async fn an_event_that_is_not_json_is_told_without_its_text() {
    let turn = Turn::raw_chunks(["event: message_start\ndata: {\"type\": \"private\n\n"]);
    let error = error_of(turn).await;
    assert_eq!(error.kind(), ModelErrorKind::Protocol);
    assert!(!error.to_string().contains("private"), "{error}");
}

#[tokio::test]
async fn a_reply_that_is_cut_off_is_no_reply() {
    let error = error_of(events(half())).await;
    assert_eq!(error.kind(), ModelErrorKind::Protocol);
    assert!(error.to_string().contains("cut off"), "{error}");
    let error = error_of(events(half()).then_cut()).await;
    assert_eq!(error.kind(), ModelErrorKind::Connection);
}

#[tokio::test]
async fn a_refusal_is_told_from_other_ends() {
    let mut list = half();
    list.extend(stop("refusal"));
    let error = error_of(events(list)).await;
    assert_eq!(error.kind(), ModelErrorKind::ContentFilter);
}

#[tokio::test]
async fn a_refused_key_is_explained_and_never_shown() {
    let turn = || {
        refusal(
            401,
            "authentication_error",
            &format!("invalid x-api-key {KEY}"),
        )
    };
    let server = TestServer::start_anywhere([turn(), turn()]).await;
    let model = client(&server).with_api_key(KEY);
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Authentication);
    assert!(
        error.to_string().contains("Anthropic::with_api_key"),
        "{error}"
    );
    let shown = format!("{error} {error:?} {model:?}");
    assert!(!shown.contains(KEY), "{shown}");

    let error = client(&server).complete(ask("hi")).await.unwrap_err();
    assert!(error.to_string().contains("none was sent"), "{error}");
}
