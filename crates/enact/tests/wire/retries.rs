//! When a request is made again, and when it is not.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use enact::model::{
    Capabilities, Chunk, Delivery, FinishReason, LanguageModel, ModelError, ModelErrorKind,
    ModelInfo, Reply, ReplyStream, Request, Retrying, ScriptedModel, fail, say,
};
use enact_test_server::{TestServer, Turn};
use futures_util::StreamExt as _;
use serde_json::json;
use tokio::time::Instant;

use crate::{ask, client};

fn busy(seconds: &str) -> Turn {
    Turn::status(429).header("retry-after", seconds).body("{}")
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_waited_out() {
    let server = TestServer::start([busy("7"), Turn::text("hi")]).await;
    let model = Retrying::new(client(&server));
    let before = Instant::now();
    let reply = model.complete(ask("hi")).await.unwrap();
    assert_eq!(before.elapsed().as_secs(), 7);
    assert_eq!((reply.text.as_str(), reply.attempts), ("hi", 2));
    server.assert_complete();
    let bodies: Vec<Vec<u8>> = server
        .requests()
        .into_iter()
        .map(|seen| seen.body)
        .collect();
    assert_eq!(bodies[0], bodies[1]);
}

#[tokio::test(start_paused = true)]
async fn a_whole_reply_is_asked_for_whole_each_time() {
    let server = TestServer::start([busy("7"), Turn::text("hi")]).await;
    let model = Retrying::new(client(&server));
    let asked = ask("hi").with_delivery(Delivery::Whole);
    let reply = model.complete(asked).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("hi", 2));
    server.assert_complete();
    let model = Retrying::new(Whole::default());
    let reply = model.complete(ask("hi")).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("whole", 3));
}

/// Fails twice, then gives a whole reply. It has no stream.
#[derive(Debug, Default)]
struct Whole(AtomicUsize);

impl LanguageModel for Whole {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("whole", Capabilities::FULL)
    }

    fn stream(&self, _: Request) -> ReplyStream<'_> {
        panic!("nobody wants a stream")
    }

    fn complete(
        &self,
        _: Request,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send + '_>> {
        let outcome = match self.0.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => Err(ModelError::new(ModelErrorKind::Server, "down")),
            _ => Ok(Reply::text("whole")),
        };
        Box::pin(std::future::ready(outcome))
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_budget_is_not_begun() {
    let server = TestServer::start([busy("40"), busy("40")]).await;
    let model = Retrying::new(client(&server));
    let before = Instant::now();
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(before.elapsed().as_secs(), 40);
    assert_eq!(error.kind(), ModelErrorKind::RateLimit);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(40)));
    let text = error.to_string();
    assert!(
        text.contains("asked to wait 40s") && text.contains("20s"),
        "{text}"
    );
    server.assert_complete();
}

#[tokio::test(start_paused = true)]
async fn what_came_before_a_failure_does_not_count() {
    let overloaded = json!({"message": "overloaded"});
    let server = TestServer::start([
        Turn::text("wrong").then_error(overloaded),
        Turn::status(503).body("{}"),
        Turn::text("right"),
    ])
    .await;
    let model = Retrying::new(client(&server));
    let chunks: Vec<Chunk> = model
        .stream(ask("hi"))
        .map(|chunk| chunk.unwrap())
        .filter(|chunk| std::future::ready(!matches!(chunk, Chunk::Usage(_))))
        .collect()
        .await;
    let expected = [
        Chunk::Text("wrong".into()),
        Chunk::Restart,
        Chunk::Restart,
        Chunk::Text("right".into()),
        Chunk::Finish(FinishReason::Stop),
    ];
    assert_eq!(chunks, expected);
}

#[tokio::test(start_paused = true)]
async fn attempts_are_bounded() {
    let model = Retrying::new(ScriptedModel::new([
        fail(ModelErrorKind::Server, "down"),
        fail(ModelErrorKind::Connection, "down"),
        fail(ModelErrorKind::Timeout, "down"),
        fail(ModelErrorKind::Protocol, "still down"),
    ]));
    let before = Instant::now();
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.to_string(), "still down; gave up after 4 attempts");
    assert_eq!(error.kind(), ModelErrorKind::Protocol);
    // 0.5, 1 and 2 seconds, each at least by half.
    let waited = before.elapsed();
    let expected = Duration::from_millis(1750)..=Duration::from_millis(3510);
    assert!(expected.contains(&waited), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn waiting_is_bounded() {
    let model = Retrying::new(ScriptedModel::new([
        fail(ModelErrorKind::Server, "down"),
        fail(ModelErrorKind::Server, "down"),
    ]))
    .with_waits(Duration::from_secs(10), Duration::from_secs(60))
    .with_max_attempts(100)
    .with_wait_budget(Duration::from_secs(11));
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert!(
        error.to_string().contains("gave up after 2 attempts"),
        "{error}"
    );
}

#[tokio::test]
async fn what_cannot_succeed_is_not_asked_again() {
    for kind in [
        ModelErrorKind::Authentication,
        ModelErrorKind::NotFound,
        ModelErrorKind::ContextLength,
        ModelErrorKind::ContentFilter,
        ModelErrorKind::InvalidRequest,
    ] {
        let model = Retrying::new(ScriptedModel::new([fail(kind, "no")]));
        let error = model.complete(ask("hi")).await.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, "no"));
    }
}

#[tokio::test]
async fn a_first_success_costs_nothing() {
    let model = Retrying::new(ScriptedModel::new([say("hi")]));
    assert_eq!(model.complete(ask("hi")).await.unwrap().attempts, 1);
    assert_eq!(model.name(), "scripted");
}

#[tokio::test]
async fn one_attempt_means_no_retry() {
    let steps = [fail(ModelErrorKind::Server, "down")];
    let model = Retrying::new(ScriptedModel::new(steps)).with_max_attempts(1);
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.to_string(), "down");
}
