//! How many requests go out at a time, and a minute.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use enact::model::{
    Capabilities, Chunk, FinishReason, LanguageModel, Limited, ModelInfo, ReplyStream, Request,
    ScriptedModel, say,
};
use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use tokio::time::Instant;

use crate::ask;

/// A model that takes a second, and knows how many asked it at once.
#[derive(Debug, Default, Clone)]
struct Slow {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl LanguageModel for Slow {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("slow", Capabilities::TEXT)
    }

    fn stream(&self, _: Request) -> ReplyStream<'_> {
        let answer = async {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.now.fetch_sub(1, Ordering::SeqCst);
            Ok(Chunk::Finish(FinishReason::Stop))
        };
        Box::pin(stream::once(answer))
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_than_so_many_at_a_time() {
    let slow = Slow::default();
    let model = Limited::new(slow.clone()).with_concurrency(2);
    let before = Instant::now();
    let replies = join_all((0..6).map(|_| model.complete(ask("hi")))).await;
    assert!(replies.iter().all(Result::is_ok));
    assert_eq!(slow.most.load(Ordering::SeqCst), 2);
    assert_eq!(before.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn clones_share_a_limit() {
    let slow = Slow::default();
    let model = Limited::new(slow.clone()).with_concurrency(1);
    let other = model.clone();
    let both = futures_util::future::join(model.complete(ask("a")), other.complete(ask("b")));
    let (one, two) = both.await;
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(slow.most.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_reply_gives_its_place_back() {
    let model = Limited::new(Slow::default()).with_concurrency(1);
    let mut abandoned = model.stream(ask("hi"));
    let waiting = tokio::time::timeout(Duration::from_millis(500), abandoned.next());
    assert!(waiting.await.is_err());
    drop(abandoned);
    let next = tokio::time::timeout(Duration::from_secs(2), model.complete(ask("hi")));
    assert!(next.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn no_more_than_so_often_a_minute() {
    let model =
        Limited::new(ScriptedModel::new((0..7).map(|_| say("hi")))).with_requests_per_minute(3);
    let before = Instant::now();
    let mut times = Vec::new();
    for _ in 0..7 {
        model.complete(ask("hi")).await.unwrap();
        times.push(before.elapsed().as_secs());
    }
    assert_eq!(times, [0, 0, 0, 60, 60, 60, 120]);
}

#[tokio::test(start_paused = true)]
async fn whoever_gives_up_waiting_does_not_count() {
    let model = Limited::new(ScriptedModel::new([say("a"), say("b")])).with_requests_per_minute(1);
    model.complete(ask("hi")).await.unwrap();
    let before = Instant::now();
    let impatient = tokio::time::timeout(Duration::from_secs(5), model.complete(ask("hi")));
    assert!(impatient.await.is_err());
    assert_eq!(model.complete(ask("hi")).await.unwrap().text, "b");
    assert_eq!(before.elapsed().as_secs(), 60);
}

#[tokio::test]
async fn without_a_limit_nothing_waits() {
    let model = Limited::new(ScriptedModel::new([say("hi")]));
    assert_eq!(model.complete(ask("hi")).await.unwrap().text, "hi");
    assert_eq!(model.name(), "scripted");
}
