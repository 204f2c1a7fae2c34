//! Checks of the user's own, before and after calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::call;
use enact::run::Observation;
use enact::{Builder, Prediction, ReAct, Tools, Values, Verdict, values};
use serde_json::{Value, json};

use super::{Counted, Played, agent, effectful_search, paused};

fn searching(change: impl FnOnce(Builder<ReAct>) -> Builder<ReAct>) -> (Played, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let tools = Tools::new().with(Counted::new(effectful_search(), count.clone()));
    let script = [
        call("search", json!({"query": "x"})),
        call("submit", json!({"answer": "a"})),
    ];
    (
        agent("question -> answer", tools, script).map(change),
        count,
    )
}

fn first(done: &Prediction<Values>) -> (Value, Value, bool) {
    let step = done.trajectory().steps()[0].clone();
    (
        step.tool_args["query"].clone(),
        step.observation,
        step.is_error,
    )
}

#[tokio::test]
async fn a_check_before_a_call_allows_changes_or_vetoes_it() {
    for (verdict, runs, query, observed, is_error) in [
        (Verdict::Allow, 1, "x", "about x", false),
        (
            Verdict::Change(values! { query: "y" }),
            1,
            "y",
            "about y",
            false,
        ),
        (
            Verdict::Veto("Not on Sundays.".to_owned()),
            0,
            "x",
            "Not on Sundays.",
            true,
        ),
    ] {
        let (played, count) = searching(|agent| {
            agent.before_call(move |call| {
                assert_eq!(call.name, "search");
                verdict.clone()
            })
        });
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(first(&done), (query.into(), observed.into(), is_error));
        assert_eq!(count.load(Ordering::SeqCst), runs);
    }
}

#[tokio::test]
async fn a_check_can_have_a_person_asked_and_what_it_changes_is_checked() {
    let (played, count) = searching(|agent| agent.before_call(|_| Verdict::Ask));
    let waiting = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    assert_eq!(count.load(Ordering::SeqCst), 0);
    let outcome = played.agent.resume(waiting).respond("yes").await.unwrap();
    assert_eq!(first(&outcome.finished().unwrap()).1, "about x");

    let (played, count) =
        searching(|agent| agent.before_call(|_| Verdict::Change(values! { quary: 1 })));
    let done = played.call(values! { question: "q" }).await;
    let (_, observed, is_error) = first(&done);
    assert!(
        is_error && observed.as_str().unwrap().contains("do not fit"),
        "{observed}"
    );
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_check_that_fails_is_an_observation() {
    let (played, count) = searching(|agent| agent.before_call(|_| panic!("at /secret/path")));
    let done = played.call(values! { question: "q" }).await;
    let (_, observed, is_error) = first(&done);
    assert!(is_error);
    assert_eq!(
        observed,
        "This call was not executed: the check before it failed."
    );
    assert_eq!(count.load(Ordering::SeqCst), 0);

    let (played, count) = searching(|agent| agent.after_call(|_, _| panic!("at /secret/path")));
    let done = played.call(values! { question: "q" }).await;
    let (_, observed, is_error) = first(&done);
    assert!(
        is_error && observed.as_str().unwrap().contains("is not shown"),
        "{observed}"
    );
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_check_after_a_call_decides_what_is_seen_and_written_down() {
    let (played, _) = searching(|agent| {
        agent.after_call(|call, observation| {
            Observation::value(format!(
                "{}: {}",
                call.name,
                observation.text().replace('x', "▇")
            ))
        })
    });
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(first(&done).1, "search: about ▇");
    let log = serde_json::to_string(done.run()).unwrap();
    assert!(!log.contains("about x"), "{log}");
}
