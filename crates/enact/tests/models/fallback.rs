//! When another model is asked, and what is said about it.

use std::sync::Arc;

use enact::model::{
    Capabilities, Chunk, Fallback, FinishReason, LanguageModel as _, ModelErrorKind, Retrying,
    ScriptStep, ScriptedModel, fail, say,
};
use enact::{Predict, values};
use futures_util::StreamExt as _;

use crate::ask;

fn named(name: &str, steps: impl IntoIterator<Item = ScriptStep>) -> ScriptedModel {
    ScriptedModel::new(steps).with_name(name)
}

fn down() -> ScriptStep {
    fail(ModelErrorKind::Server, "down")
}

#[tokio::test]
async fn the_first_model_that_answers_is_named() {
    let model = Fallback::new(named("a", [down(), say("first")]))
        .or(named("b", [down()]))
        .or(named("c", [say("third")]));
    let reply = model.complete(ask("hi")).await.unwrap();
    assert_eq!(reply.text, "third");
    assert_eq!(reply.answered_by.as_deref(), Some("c"));
    assert_eq!(reply.attempts, 3);

    // Every request begins with the first model, which needs no name.
    let reply = model.complete(ask("hi")).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.answered_by), ("first", None));
    assert_eq!(model.name(), "a");
}

#[tokio::test]
async fn what_a_failed_model_said_does_not_count() {
    let model = Fallback::new(named("a", [down()])).or(named("b", [say("right")]));
    let chunks: Vec<Chunk> = model
        .stream(ask("hi"))
        .map(|chunk| chunk.unwrap())
        .filter(|chunk| std::future::ready(!matches!(chunk, Chunk::Usage(_))))
        .collect()
        .await;
    let expected = [
        Chunk::Restart,
        Chunk::AnsweredBy("b".into()),
        Chunk::Text("right".into()),
        Chunk::Finish(FinishReason::Stop),
    ];
    assert_eq!(chunks, expected);
}

#[tokio::test]
async fn every_kind_but_refused_content_leads_on() {
    for kind in [
        ModelErrorKind::Authentication,
        ModelErrorKind::NotFound,
        ModelErrorKind::ContextLength,
        ModelErrorKind::RateLimit,
        ModelErrorKind::Connection,
        ModelErrorKind::Timeout,
        ModelErrorKind::InvalidRequest,
        ModelErrorKind::Protocol,
    ] {
        let model = Fallback::new(named("a", [fail(kind, "no")])).or(named("b", [say("yes")]));
        assert_eq!(model.complete(ask("hi")).await.unwrap().text, "yes");
    }
    let other = named("b", [say("yes")]);
    other.abandon();
    let refused = fail(ModelErrorKind::ContentFilter, "no");
    let model = Fallback::new(named("a", [refused])).or(other);
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::ContentFilter);
}

#[tokio::test]
async fn when_all_fail_each_is_named() {
    let last = fail(ModelErrorKind::Authentication, "no key");
    let model = Fallback::new(named("a", [down()])).or(named("b", [last]));
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Authentication);
    assert_eq!(error.to_string(), "no key; `a` also failed (down)");
}

#[tokio::test]
async fn a_prompt_that_is_too_long_for_one_is_the_error_of_all() {
    let too_long = fail(ModelErrorKind::ContextLength, "too long");
    let model = Fallback::new(named("a", [too_long])).or(named("b", [down()]));
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::ContextLength);
}

#[tokio::test(start_paused = true)]
async fn each_model_is_retried_before_the_next_is_asked() {
    let first = Arc::new(named("a", [down(), down()]));
    let retrying = Retrying::new(Arc::clone(&first)).with_max_attempts(2);
    let model = Fallback::new(retrying).or(named("b", [say("hi")]));
    let reply = model.complete(ask("hi")).await.unwrap();
    assert_eq!(reply.answered_by.as_deref(), Some("b"));
    assert_eq!(first.requests().len(), 2);
    assert_eq!(reply.attempts, 3);
}

#[tokio::test]
async fn it_can_do_what_all_of_them_can() {
    let full = named("a", []);
    let text = named("b", []).with_capabilities(Capabilities::FULL.with_response_schema(false));
    let model = Fallback::new(full).or(text);
    assert!(model.capabilities().tools);
    assert!(!model.capabilities().response_schema);
}

#[tokio::test]
async fn the_log_says_who_answered() {
    let model = Fallback::new(named("a", [down()])).or(named("b", [say(r#"{"answer": "yes"}"#)]));
    let qa = Predict::builder("question -> answer")
        .model(model)
        .build()
        .unwrap();
    let done = qa.call(values! { question: "Is it?" }).await.unwrap();
    let log = serde_json::to_value(done.finished().unwrap().run()).unwrap();
    assert_eq!(log[0]["agent"]["model"], "a");
    assert_eq!(log[1]["reply"]["answered_by"], "b");
}
