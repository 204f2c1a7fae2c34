//! Watching a run while it happens.

use std::sync::{Arc, Mutex};

use enact::model::call;
use enact::run::Event;
use enact::{FnTool, ToolContext, ToolError, Tools, Update, values};
use serde_json::json;

use super::{agent, search_and_add};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn updates_come_in_order_and_progress_reaches_the_listener_only() {
    let slow = FnTool::new(
        "slow",
        "Takes long.",
        |_: Nothing, context: ToolContext| async move {
            context.progress("half way");
            Ok::<_, ToolError>(context.idempotency_key.clone())
        },
    );
    let played = agent(
        "question -> answer",
        Tools::new().with(slow),
        [
            call("slow", json!({})).with_ids(["x"]),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = seen.clone();
    let outcome = played
        .agent
        .call(values! { question: "q" })
        .run_id("run-1")
        .on_update(move |update| {
            told.lock().unwrap().push(match update {
                Update::Recorded { record } => match &record.event {
                    Event::Started(_) => "started".to_owned(),
                    event if event.is_step() => "stepped".to_owned(),
                    Event::ToolStarted { call_id } => format!("tool {call_id}"),
                    Event::ToolFinished(finished) => format!("done {}", finished.call_id),
                    Event::Finished { .. } => "finished".to_owned(),
                    other => format!("{other:?}"),
                },
                Update::Asking { predictor } => format!("asking {}", predictor.as_str()),
                Update::Progress { call_id, message } => format!("{call_id}: {message}"),
                Update::Writing { text, .. } => format!("writing {text}"),
                Update::Written { .. } => "written".to_owned(),
                Update::StepFinished { step } => format!("step {}", step.iteration),
                other => format!("{other:?}"),
            });
        })
        .await
        .unwrap();
    let done = outcome.finished().unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [
            "started",
            "asking step",
            "stepped",
            "tool x",
            "x: half way",
            "done x",
            "step 1",
            "asking step",
            "writing a",
            "written",
            "stepped",
            "step 2",
            "finished"
        ]
    );
    assert_eq!(done.run().id(), "run-1");
    assert!(
        !serde_json::to_string(done.run())
            .unwrap()
            .contains("half way")
    );
    // The key is the run and the position of the effect in it.
    assert_eq!(done.trajectory().steps()[0].observation, "run-1:1:0");
}

#[tokio::test]
async fn dspy_ex_a_panicking_listener_does_not_break_the_run() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "x"})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = played
        .agent
        .call(values! { question: "q" })
        .on_update(|_| panic!("my own fault"))
        .await;
    let _ = std::panic::take_hook();
    assert!(outcome.unwrap().finished().unwrap().success());
}
