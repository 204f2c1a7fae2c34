//! Servers that end when they should not, and servers that are ended.

use std::time::Duration;

use serde_json::json;

use crate::{call, gone, is_alive, server, unruly};

#[tokio::test]
async fn a_server_that_ends_is_started_again_once() {
    let server = server().await;
    let first = call(&server, "pid").await.unwrap();

    let died = call(&server, "crash").await.unwrap_err();
    assert!(
        died.contains("`unruly` ended while it was at work on this call"),
        "{died}"
    );
    assert!(
        died.contains("exit status: 3; it said: the disk is on fire"),
        "{died}"
    );
    assert!(
        died.contains("whether the call had an effect is not known"),
        "{died}"
    );

    let second = call(&server, "pid").await.unwrap();
    assert_ne!(first, second);

    call(&server, "crash").await.unwrap_err();
    for _ in 0..2 {
        let lost = call(&server, "pid").await.unwrap_err();
        assert!(lost.contains("`unruly` ended a second time"), "{lost}");
        assert!(lost.contains("the disk is on fire"), "{lost}");
        assert!(lost.contains("cannot be used any more"), "{lost}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn shutting_down_ends_the_server_and_what_it_left_behind() {
    let server = server().await;
    let pid = call(&server, "pid").await.unwrap();
    let left = call(&server, "leave").await.unwrap();
    assert!(is_alive(&pid) && is_alive(&left));
    server.shutdown().await;
    assert!(!is_alive(&pid));
    gone(&left).await;
    let closed = call(&server, "pid").await.unwrap_err();
    assert_eq!(closed, "the MCP server `unruly` was shut down");
}

#[tokio::test]
async fn dropping_the_server_ends_it_and_what_it_left_behind() {
    let server = server().await;
    let pid = call(&server, "pid").await.unwrap();
    let left = call(&server, "leave").await.unwrap();
    drop(server);
    gone(&pid).await;
    gone(&left).await;
}

#[tokio::test]
async fn a_crash_leaves_nothing_behind() {
    let server = server().await;
    let left = call(&server, "leave").await.unwrap();
    call(&server, "crash").await.unwrap_err();
    gone(&left).await;
    server.shutdown().await;
}

#[test]
fn the_end_of_the_runtime_leaves_nothing_behind() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let first = runtime();
    let (pid, left) = first.block_on(async {
        let server = server().await;
        let pids = (
            call(&server, "pid").await.unwrap(),
            call(&server, "leave").await.unwrap(),
        );
        // Nobody waits for it.
        std::mem::drop(server);
        pids
    });
    drop(first);
    runtime().block_on(async {
        gone(&pid).await;
        gone(&left).await;
    });
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled_at_the_server_and_the_server_lives_on() {
    use enact::model::{ScriptedModel, call as step};
    let server = unruly("")
        .timeout(Duration::from_millis(300))
        .connect()
        .await
        .unwrap();
    let model = ScriptedModel::new([
        step("hang", json!({})),
        step("cancelled", json!({})),
        step("submit", json!({"report": "done"})),
    ]);
    let agent = enact::ReAct::builder("task -> report")
        .tools(server.tools())
        .model(model)
        .build()
        .unwrap();
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let ears = std::sync::Arc::clone(&heard);
    let running = agent
        .call(enact::values! { task: "Do it." })
        .on_update(move |update| {
            if let enact::Update::Progress { message, .. } = update {
                ears.lock().unwrap().push((*message).to_owned());
            }
        });
    let done = running.await.unwrap().finished().unwrap();
    let trajectory = done.trajectory();
    let seen = trajectory.steps();
    assert_eq!(
        seen[0].observation,
        "Error executing hang: no result within 300ms"
    );
    // One request was cancelled; what its number is, is the client's business.
    let cancelled = seen[1].observation.as_str().unwrap();
    let cancelled: Vec<u64> = serde_json::from_str(cancelled).unwrap();
    assert_eq!(cancelled.len(), 1);
    assert_eq!(*heard.lock().unwrap(), ["half way (1 of 2)"]);
    server.shutdown().await;
}
