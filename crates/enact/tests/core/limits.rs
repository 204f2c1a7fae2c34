//! Limits end in an answer, and say so.

use enact::model::{call, say};
use enact::{CancellationToken, ErrorKind, TerminationReason, Tools, values};
use serde_json::json;

use super::{agent, failing, search, search_and_add};

pub(super) fn extracted(answer: &str) -> enact::model::ScriptStep {
    say(json!({"reasoning": "r", "answer": answer}).to_string())
}

#[tokio::test]
async fn dspy_error_retry_both_failures_are_recorded_and_extract_runs() {
    let played = agent(
        "question -> answer",
        Tools::new().with(failing()),
        [
            call("failing_tool", json!({})),
            call("failing_tool", json!({})),
            extracted("none"),
        ],
    )
    .map(|agent| agent.max_iterations(2));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.trajectory().steps().len(), 2);
    for step in done.trajectory().steps() {
        assert!(step.is_error);
        assert!(step.observation.as_str().unwrap().contains("tool error"));
    }
    assert_eq!(done.termination, TerminationReason::MaxIterations);
    assert_eq!(done.outputs["answer"], "none");
    assert!(!done.success());
}

#[tokio::test]
async fn the_default_limit_is_ten_steps() {
    let script = (0..10)
        .map(|n| call("search", json!({"query": format!("x {n}")})))
        .chain([extracted("a")]);
    let played = agent("question -> answer", search_and_add(), script);
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.trajectory().steps().len(), 10);
    assert_eq!(done.termination, TerminationReason::MaxIterations);
}

#[tokio::test]
async fn dspy_per_call_max_iterations_wins() {
    let script = [call("search", json!({"query": "x"})), extracted("a")];
    let played = agent("question -> answer", search_and_add(), script);
    let outcome = played
        .agent
        .call(values! { question: "q" })
        .max_iterations(1)
        .await
        .unwrap();
    let done = outcome.finished().unwrap();
    assert_eq!(done.termination, TerminationReason::MaxIterations);
    assert_eq!(done.run().started().limits.max_iterations, 1);
}

#[tokio::test]
async fn no_steps_allowed_means_extract_at_once() {
    let played = agent("question -> answer", search_and_add(), [extracted("a")]);
    let outcome = played
        .agent
        .call(values! { question: "q" })
        .max_iterations(0)
        .await
        .unwrap();
    assert_eq!(outcome.finished().unwrap().outputs["answer"], "a");
}

#[tokio::test]
async fn udspy_cancellation_ends_the_run_and_reaches_the_tool() {
    let token = CancellationToken::new();
    let cancel = token.clone();
    let noticed = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = noticed.clone();
    let slow = enact::FnTool::from_spec(
        enact::tool::ToolSpec::new(
            "slow",
            "Waits.",
            json!({"type": "object", "properties": {}}),
        ),
        move |_, context: enact::ToolContext| {
            let (cancel, seen) = (cancel.clone(), seen.clone());
            async move {
                cancel.cancel();
                seen.store(context.is_cancelled(), std::sync::atomic::Ordering::SeqCst);
                std::future::pending::<()>().await;
                Ok::<_, enact::ToolError>(())
            }
        },
    );
    let played = agent(
        "question -> answer",
        Tools::new().with(slow),
        [call("slow", json!({}))],
    );
    let error = played
        .agent
        .call(values! { question: "q" })
        .cancel_with(token)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(noticed.load(std::sync::atomic::Ordering::SeqCst));
    let run = error.run().unwrap();
    assert_eq!(run.termination(), Some(TerminationReason::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn dspy_ex_a_tool_over_its_timeout_shows_as_an_error_observation() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}
    let stuck = enact::FnTool::new("stuck", "Never ends.", |_: Nothing, _| async {
        std::future::pending::<()>().await;
        Ok::<_, enact::ToolError>(())
    });
    let played = agent(
        "question -> answer",
        Tools::new().with(stuck).with(search()),
        [
            call("stuck", json!({})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let before = tokio::time::Instant::now();
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(before.elapsed(), std::time::Duration::from_secs(30));
    let step = &done.trajectory().steps()[0].clone();
    assert!(step.is_error);
    assert_eq!(
        step.observation,
        "Error executing stuck: no result within 30s"
    );
}

#[tokio::test]
async fn an_interruption_lets_calls_finish_and_leaves_the_run_open() {
    let token = CancellationToken::new();
    let stop = token.clone();
    let slow = enact::FnTool::from_spec(
        enact::tool::ToolSpec::new(
            "slow",
            "Waits.",
            json!({"type": "object", "properties": {}}),
        ),
        move |_, _| {
            let stop = stop.clone();
            async move {
                stop.cancel();
                tokio::task::yield_now().await;
                Ok::<_, enact::ToolError>("finished all the same")
            }
        },
    );
    let played = agent(
        "question -> answer",
        Tools::new().with(slow),
        [
            call("slow", json!({})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let call = played
        .agent
        .call(values! { question: "q" })
        .interrupt_with(token);
    let error = call.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    let run = error.into_run().unwrap();
    assert_eq!(run.termination(), None);
    assert_eq!(
        run.trajectory().steps()[0].observation,
        "finished all the same"
    );
    let done = played.agent.resume(run).await.unwrap().finished().unwrap();
    assert_eq!(done.outputs["answer"], "a");
}
