//! How requests fail, and what is said about it.

use std::error::Error as _;
use std::time::Duration;

use enact::model::openai::{OpenAi, Timeouts};
use enact::model::{Chunk, Delivery, LanguageModel as _, ModelError, ModelErrorKind};
use enact_test_server::{TestServer, Turn};
use futures_util::StreamExt as _;
use serde_json::json;

use crate::{ask, client};

const KEY: &str = "sk-proj-0123456789abcdef";

async fn error_of(turn: Turn) -> ModelError {
    let server = TestServer::start([turn]).await;
    let error = client(&server).complete(ask("hi")).await.unwrap_err();
    server.assert_complete();
    error
}

/// Everything that a log may show of an error.
fn everything(error: &ModelError) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(" {cause} {cause:?}"));
        source = cause.source();
    }
    text
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_has_a_kind() {
    let error = json!({"message": "slow down", "type": "rate_limit_error"});
    let server = TestServer::start([Turn::text("half").then_error(error)]).await;
    let model = client(&server);
    let mut stream = model.stream(ask("hi"));
    assert_eq!(
        stream.next().await.unwrap().unwrap(),
        Chunk::Text("half".into())
    );
    let error = stream.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::RateLimit);
    assert!(error.to_string().contains("slow down"), "{error}");
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_cut_connection_is_a_connection_error() {
    let error = error_of(Turn::text("half").then_cut()).await;
    assert_eq!(error.kind(), ModelErrorKind::Connection);
    assert!(error.to_string().contains("lost the connection"), "{error}");
}

async fn time_out(turn: Turn, timeouts: Timeouts) -> ModelError {
    let server = TestServer::start([turn]).await;
    let model = client(&server).with_timeouts(timeouts);
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Timeout);
    error
}

#[tokio::test(start_paused = true)]
async fn a_stalled_stream_times_out() {
    let timeouts = Timeouts {
        idle: Duration::from_secs(20),
        ..Timeouts::default()
    };
    let before = tokio::time::Instant::now();
    let error = time_out(Turn::text("half").then_stall(), timeouts).await;
    assert_eq!(before.elapsed().as_secs(), 20);
    assert!(error.to_string().contains("Timeouts::idle"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_does_not_begin_times_out() {
    let timeouts = Timeouts {
        first_byte: Duration::from_secs(3),
        ..Timeouts::default()
    };
    let late = Turn::text("late").latency(Duration::from_secs(60));
    let error = time_out(late, timeouts).await;
    assert!(
        error.to_string().contains("Timeouts::first_byte"),
        "{error}"
    );

    // A head alone is no reply.
    let error = time_out(Turn::raw_chunks([""]).then_stall(), timeouts).await;
    assert!(
        error.to_string().contains("Timeouts::first_byte"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_comes_whole_may_take_its_time() {
    let timeouts = Timeouts {
        first_byte: Duration::from_secs(3),
        total: Duration::from_secs(90),
        ..Timeouts::default()
    };
    let late = |seconds| Turn::text("late").latency(Duration::from_secs(seconds));
    let server = TestServer::start([late(60), late(120)]).await;
    let model = client(&server).with_timeouts(timeouts);
    let request = ask("hi").with_delivery(Delivery::Whole);
    let reply = model.complete(request.clone()).await.unwrap();
    assert_eq!(reply.text, "late");
    let error = model.complete(request).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Timeout);
    assert!(error.to_string().contains("Timeouts::total"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_whole_request_has_a_limit() {
    let timeouts = Timeouts {
        total: Duration::from_secs(15),
        ..Timeouts::default()
    };
    let error = time_out(Turn::text("half").then_stall(), timeouts).await;
    assert!(error.to_string().contains("Timeouts::total"), "{error}");
}

#[tokio::test]
async fn limits_beyond_the_clock_mean_never() {
    let server = TestServer::start([Turn::text("hi")]).await;
    let model = client(&server).with_timeouts(Timeouts {
        connect: Duration::MAX,
        first_byte: Duration::MAX,
        idle: Duration::MAX,
        total: Duration::MAX,
    });
    assert_eq!(model.complete(ask("hi")).await.unwrap().text, "hi");
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_recognised() {
    let report = json!({"error": {
        "message": "This model's maximum context length is 8192 tokens.",
        "type": "invalid_request_error",
        "code": "context_length_exceeded",
    }});
    let error = error_of(Turn::status(400).body(report.to_string())).await;
    assert_eq!(error.kind(), ModelErrorKind::ContextLength);
    assert_eq!(error.status(), Some(400));
    assert!(error.to_string().contains("8192 tokens"), "{error}");
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
    assert!(text.len() < 700, "{text}");
}

#[tokio::test]
async fn a_body_that_is_no_reply_is_explained() {
    for body in ["", "  ", "{}", "[]", "{\"choices\": 3}"] {
        let error = error_of(Turn::status(200).body(body)).await;
        assert_eq!(error.kind(), ModelErrorKind::Protocol, "{body:?}");
        assert!(error.to_string().contains("base URL"), "{error}");
    }
    let error = error_of(Turn::raw_chunks([": ping\n\n"])).await;
    assert!(error.to_string().contains("no event"), "{error}");
}

#[tokio::test]
async fn a_failure_told_with_status_200_is_a_failure() {
    let report = json!({"error": {"message": "upstream is down", "code": 502}});
    let error = error_of(Turn::status(200).body(report.to_string())).await;
    assert_eq!(error.kind(), ModelErrorKind::Server);
    assert!(error.to_string().contains("upstream is down"), "{error}");
    assert!(!error.to_string().contains("status"), "{error}");
}

#[tokio::test]
async fn a_refused_key_is_explained_and_never_shown() {
    let report = json!({"error": {
        "message": format!("Incorrect API key provided: {KEY}. Or sk-pr***cdef."),
        "code": "invalid_api_key",
    }});
    let turn = || Turn::status(401).body(report.to_string());
    let server = TestServer::start([turn(), turn()]).await;
    let model = client(&server).with_api_key(KEY);
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Authentication);
    assert!(
        error.to_string().contains("OpenAi::with_api_key"),
        "{error}"
    );
    let shown = format!("{} {model:?}", everything(&error));
    assert!(!shown.contains(KEY), "{shown}");
    assert!(!shown.contains("cdef"), "{shown}");

    let error = client(&server).complete(ask("hi")).await.unwrap_err();
    assert!(error.to_string().contains("none was sent"), "{error}");
}

#[tokio::test]
async fn a_missing_model_is_named() {
    let error = error_of(Turn::status(404).body("{\"error\":\"model not found\"}")).await;
    assert_eq!(error.kind(), ModelErrorKind::NotFound);
    assert!(error.to_string().contains("`test-model`"), "{error}");
}

#[tokio::test]
async fn a_wrong_base_url_is_named() {
    let server = TestServer::start([]).await;
    let base_url = server.base_url().replace("/v1", "/v2");
    let model = OpenAi::new("m").with_base_url(&base_url).unwrap();
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::NotFound);
    assert!(error.to_string().contains(&base_url), "{error}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let turn = Turn::status(307).header("location", "http://127.0.0.1:1/elsewhere");
    let error = error_of(turn).await;
    assert_eq!(error.kind(), ModelErrorKind::NotFound);
    assert!(error.to_string().contains("redirects"), "{error}");
}

#[tokio::test]
async fn a_content_filter_is_told_from_other_ends() {
    let error = error_of(Turn::text("I").finish_reason("content_filter")).await;
    assert_eq!(error.kind(), ModelErrorKind::ContentFilter);
}

#[tokio::test]
async fn a_server_that_does_not_run_is_explained() {
    // Port 1 is set aside for a service that nobody runs.
    let base_url = "http://user:p4ss@127.0.0.1:1/v1";
    let model = OpenAi::new("m")
        .with_base_url(base_url)
        .unwrap()
        .with_api_key(KEY);
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Connection);
    let text = error.to_string();
    assert!(text.contains(model.base_url().unwrap()), "{text}");
    assert!(text.contains("check that the server runs"), "{text}");
    let shown = everything(&error);
    assert!(!shown.contains(KEY) && !shown.contains("p4ss"), "{shown}");
}

#[tokio::test]
async fn the_wish_to_wait_is_passed_on() {
    let error = error_of(Turn::status(429).header("retry-after", "7").body("{}")).await;
    assert_eq!(error.kind(), ModelErrorKind::RateLimit);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    assert_eq!(error.status(), Some(429));
}

#[tokio::test]
async fn truth_errors_repeat_no_credentials_of_the_base_url() {
    let server = TestServer::answering_anywhere(|received| {
        let url = format!("{} me+you@x p@ss/word t0ken with space", received.path);
        Turn::status(400).body(json!({"error": {"message": url}}).to_string())
    });
    let at = server
        .base_url()
        .replace("http://", "http://user-name:p%40ss%2Fword@");
    let at = format!("{at}?token=t0ken%20with+space&n=1");
    let model = OpenAi::new("m").with_base_url(at).unwrap();
    let error = model.complete(ask("hi")).await.unwrap_err();
    let shown = format!("{error} {error:?}");
    for secret in ["user-name", "p@ss", "p%40ss", "t0ken"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    assert!(shown.contains("[redacted]"), "{shown}");
    let error = OpenAi::new("m").with_base_url("localhost/v1?token=t0ken");
    let error = error.unwrap_err().to_string();
    assert!(!error.contains("t0ken"), "{error}");
}
