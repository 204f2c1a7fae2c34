//! Checks of the user's own that wait for something.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use enact::model::call;
use enact::run::Observation;
use enact::{CancellationToken, ErrorKind, Tools, Verdict, values};
use serde_json::json;

use super::{Counted, agent, effectful_search};

fn searching(script: [enact::model::ScriptStep; 2]) -> super::Played {
    agent(
        "question -> answer",
        Tools::new().with(effectful_search()),
        script,
    )
}

#[tokio::test]
async fn hooks_may_wait_and_are_told_where_a_call_stands() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (before, after) = (seen.clone(), seen.clone());
    let played = searching([
        call("search", json!({"query": "x"})),
        call("submit", json!({"answer": "a"})),
    ])
    .map(|agent| {
        agent
            .before_call_async(move |asked| {
                let before = before.clone();
                async move {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    let told = (asked.call.name.clone(), asked.step, asked.run_id);
                    before.lock().unwrap().push(told);
                    match asked.call.name.as_str() {
                        "search" => Verdict::Change(values! { query: "y" }),
                        _ => Verdict::Allow,
                    }
                }
            })
            .after_call_async(move |asked, observation| {
                let after = after.clone();
                async move {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    let told = (observation.text(), asked.step, asked.run_id);
                    after.lock().unwrap().push(told);
                    Observation::value("seen")
                }
            })
    });
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.trajectory().steps()[0].observation, "seen");
    let id = done.run().id().to_owned();
    let told = |what: &str, step| (what.to_owned(), step, id.clone());
    assert_eq!(
        *seen.lock().unwrap(),
        [told("search", 1), told("about y", 1), told("submit", 2)]
    );
}

#[tokio::test]
async fn a_condition_that_cannot_be_checked_stops_the_run_until_it_is_resumed() {
    let is_broken = Arc::new(Mutex::new(true));
    let broken = is_broken.clone();
    let played = searching([
        call("search", json!({"query": "x"})),
        call("submit", json!({"answer": "a"})),
    ])
    .map(|agent| {
        agent.ending_when_async(move |asked| {
            let is_broken = *broken.lock().unwrap();
            async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                assert_eq!(asked.step.iteration, 1);
                match is_broken {
                    true => Err("out of order"),
                    false => Ok(false),
                }
            }
        })
    });
    let call = played.agent.call(values! { question: "q" });
    let error = call.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Hook);
    assert!(error.to_string().contains("out of order"), "{error}");
    let run = error.into_run().unwrap();
    assert_eq!(run.termination(), None);

    *is_broken.lock().unwrap() = false;
    let done = played.agent.resume(run).await.unwrap().finished().unwrap();
    assert_eq!(done.outputs["answer"], "a");
}

#[tokio::test]
async fn cancelling_a_run_does_not_wait_for_a_hook() {
    let count = Arc::default();
    let tools = Tools::new().with(Counted::new(effectful_search(), Arc::clone(&count)));
    let script = [call("search", json!({"query": "x"}))];
    let token = CancellationToken::new();
    let stop = token.clone();
    let played = agent("question -> answer", tools, script).map(|agent| {
        agent.before_call_async(move |_| {
            stop.cancel();
            std::future::pending()
        })
    });
    let call = played.agent.call(values! { question: "q" });
    let error = call.cancel_with(token).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!(count.load(Ordering::SeqCst), 0);
}
