//! A transcript that no longer fits is summarised for the prompt; the record keeps everything.

use enact::model::{Message, ModelErrorKind, call, fail, say};
use enact::run::Reading;
use enact::{ErrorKind, TerminationReason, values};
use serde_json::json;

use super::{agent, search_and_add};

fn overflow() -> enact::model::ScriptStep {
    fail(ModelErrorKind::ContextLength, "the prompt is too long")
}

fn search(query: &str) -> enact::model::ScriptStep {
    call("search", json!({"query": query}))
}

fn prompt_text(request: &enact::model::Request) -> String {
    request
        .prompt
        .iter()
        .map(|message| match message {
            Message::Assistant { text, calls, .. } => format!("{text} {calls:?}\n"),
            other => other.text() + "\n",
        })
        .collect()
}

#[tokio::test]
async fn dspy_trajectory_truncation_compacts_the_view_and_keeps_the_record() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            search("one"),
            search("two"),
            search("three"),
            overflow(),
            say("Learned about one."),
            call("submit", json!({"answer": "a"})),
        ],
    )
    .map(|agent| agent.instructions("Answer briefly, in the house style."));
    let done = played.call(values! { question: "the question" }).await;
    assert!(done.success());
    // The record keeps every step.
    assert_eq!(done.trajectory().steps().len(), 4);
    let requests = played.model.requests();
    let summarise = prompt_text(&requests[4]);
    assert!(
        summarise.contains("about one") && !summarise.contains("about three"),
        "{summarise}"
    );
    assert!(
        summarise.contains("house style"),
        "the user's instructions are in every prompt"
    );
    let after = prompt_text(&requests[5]);
    assert!(after.contains("the question"), "the task stays: {after}");
    assert!(
        after.contains("Learned about one.") && after.contains("about three"),
        "{after}"
    );
    assert!(
        !after.contains("about one\n"),
        "the oldest step is gone from the view: {after}"
    );
    // Compaction is an event like any other.
    assert!(
        done.run()
            .events()
            .filter_map(|event| event.reply())
            .any(|replied| matches!(replied.read, Reading::Summary { .. }))
    );
    assert_eq!(done.usage.requests, 5);
}

#[tokio::test]
async fn a_follow_up_goes_on_from_the_compacted_view() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            search("one"),
            search("two"),
            search("three"),
            overflow(),
            say("Learned about one."),
            call("submit", json!({"answer": "first answer"})),
            call("submit", json!({"answer": "second answer"})),
        ],
    );
    let first = played.call(values! { question: "first" }).await;
    let second = played
        .agent
        .call(values! { question: "second" })
        .history(&first.history)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(second.outputs["answer"], "second answer");
    let seen = prompt_text(&played.model.requests()[6]);
    assert!(
        seen.contains("Learned about one.") && seen.contains("first answer"),
        "{seen}"
    );
    assert!(!seen.contains("about one\n"), "{seen}");
    assert!(
        serde_json::to_string(&second.history)
            .unwrap()
            .contains("about one")
    );
}

#[tokio::test]
async fn dspy_context_window_exceeded_after_retries_extracts_once_from_the_inputs() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            overflow(),
            say(r#"{"reasoning": "r", "answer": "from the inputs"}"#),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert!(done.trajectory().steps().is_empty());
    assert_eq!(done.outputs["answer"], "from the inputs");
    assert_eq!(done.termination, TerminationReason::TokenBudget);
    assert!(!done.success());
}

#[tokio::test]
async fn dspy_truncation_exhausted_raises_with_the_cause_and_the_run() {
    let mut script = vec![search("one"), search("two")];
    for _ in 0..2 {
        script.extend([overflow(), say("shorter")]);
    }
    // The steps fit no better, and neither does the extraction.
    script.extend([overflow(), overflow()]);
    let played = agent("question -> answer", search_and_add(), script);
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
    assert!(error.to_string().contains("even after"), "{error}");
    let cause = std::error::Error::source(&error).expect("the cause is preserved");
    assert!(cause.to_string().contains("too long"));
    // Not an empty trajectory: nothing is lost.
    assert_eq!(error.run().unwrap().trajectory().steps().len(), 2);
}

#[tokio::test]
async fn an_overflow_while_extracting_is_compacted_too() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            search("one"),
            search("two"),
            search("instead of submitting"),
            overflow(),
            say("Learned about one and two."),
            say(r#"{"reasoning": "r", "answer": "a"}"#),
        ],
    )
    .map(|agent| agent.max_iterations(2));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], "a");
    assert_eq!(done.termination, TerminationReason::MaxIterations);
    let seen = prompt_text(&played.model.requests()[5]);
    assert!(seen.contains("Learned about one and two."), "{seen}");
}
