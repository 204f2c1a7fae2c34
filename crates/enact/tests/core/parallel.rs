//! Several calls in one turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use enact::model::{Message, call, calls};
use enact::{FnTool, ToolError, Tools, values};
use serde_json::json;

use super::{agent, search};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Wait {
    millis: u64,
}

fn wait(busy: Arc<AtomicUsize>, most: Arc<AtomicUsize>) -> FnTool {
    FnTool::new("wait", "Waits.", move |args: Wait, _| {
        let (busy, most) = (busy.clone(), most.clone());
        async move {
            most.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(args.millis)).await;
            busy.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, ToolError>(args.millis)
        }
    })
}

#[tokio::test(start_paused = true)]
async fn lesson_parallel_calls_run_side_by_side_and_answer_in_call_order() {
    let (busy, most) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
    let played = agent(
        "question -> answer",
        Tools::new().with(wait(busy, most.clone())),
        [
            calls([
                ("wait", json!({"millis": 300})),
                ("wait", json!({"millis": 100})),
                ("wait", json!({"millis": 200})),
            ])
            .with_ids(["a", "b", "c"]),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let before = tokio::time::Instant::now();
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(before.elapsed(), Duration::from_millis(300));
    assert_eq!(most.load(Ordering::SeqCst), 3);
    let observations: Vec<_> = done
        .trajectory()
        .steps()
        .iter()
        .take(3)
        .map(|step| step.observation.clone())
        .collect();
    assert_eq!(observations, [json!(300), json!(100), json!(200)]);
    // The next request answers them in call order too, each with the provider's id.
    let request = played.model.requests()[1].clone();
    let ids: Vec<String> = request
        .prompt
        .iter()
        .filter_map(|message| match message {
            Message::Tool { call_id, .. } => Some(call_id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_serial_tool_runs_one_call_at_a_time() {
    let (busy, most) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
    let played = agent(
        "question -> answer",
        Tools::new().with(wait(busy, most.clone()).serial()),
        [
            calls([
                ("wait", json!({"millis": 50})),
                ("wait", json!({"millis": 50})),
            ]),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let before = tokio::time::Instant::now();
    let _ = played.call(values! { question: "q" }).await;
    assert_eq!(before.elapsed(), Duration::from_millis(100));
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn dspy_native_tool_loop_replays_tool_result_with_provider_id() {
    let played = agent(
        "question -> answer",
        Tools::new().with(search()),
        [
            call("search", json!({"query": "x"}))
                .with_ids(["toolu_17"])
                .thinking("Look."),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let _ = played.call(values! { question: "q" }).await;
    let request = played.model.requests()[1].clone();
    let messages: Vec<Message> = request.prompt.iter().cloned().collect();
    assert!(
        matches!(&messages[2], Message::Assistant { text, calls, .. }
        if text == "Look." && calls[0].id.as_deref() == Some("toolu_17"))
    );
    assert!(matches!(&messages[3], Message::Tool { call_id, name, .. }
        if call_id == "toolu_17" && name == "search"));
}

#[tokio::test]
async fn repeated_provider_ids_are_told_apart() {
    let played = agent(
        "question -> answer",
        Tools::new().with(search()),
        [
            calls([
                ("search", json!({"query": "x"})),
                ("search", json!({"query": "y"})),
            ])
            .with_ids(["same", "same"]),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.trajectory().steps()[0].observation, "about x");
    assert_eq!(done.trajectory().steps()[1].observation, "about y");
}
