//! Agents that go round in circles are ended; agents that search are not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::{ScriptStep, call, say};
use enact::run::{Event, Notice};
use enact::tool::builtin;
use enact::{FnTool, Prediction, TerminationReason, ToolError, Tools, Values, values};
use serde_json::json;

use crate::{agent, search};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Anything {
    #[expect(dead_code, reason = "the answer is always the same")]
    query: String,
}

fn empty() -> FnTool {
    FnTool::new("search", "Finds nothing.", |_: Anything, _| async {
        Ok::<_, ToolError>("no results")
    })
    .read_only()
}

fn look(what: &str) -> ScriptStep {
    call("search", json!({"query": what}))
}

fn submit() -> ScriptStep {
    call("submit", json!({"answer": "a"}))
}

async fn play(tools: Tools, threshold: u32, script: Vec<ScriptStep>) -> Prediction<Values> {
    let played = agent("question -> answer", tools, script).map(|agent| {
        agent
            .max_iterations(40)
            .limits(|limits| limits.stall_threshold = threshold)
    });
    played.call(values! { question: "q" }).await
}

fn notices(done: &Prediction<Values>) -> Vec<Notice> {
    let events = done.run().events();
    events
        .filter_map(|event| match event {
            Event::Noticed { about, .. } => Some(*about),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn truth_different_questions_with_the_same_empty_answer_are_a_search() {
    let words = [
        "oak", "elm", "ash", "fir", "yew", "bay", "box", "may", "nut",
    ];
    for count in [4, 6, 8] {
        let script = words[..count]
            .iter()
            .map(|word| look(word))
            .chain([submit()]);
        let done = play(Tools::new().with(empty()), 3, script.collect()).await;
        assert!(done.success(), "{count}");
        let told = notices(&done);
        assert_eq!(told[0], Notice::SameAnswer, "{count}: {told:?}");
    }
}

#[tokio::test]
async fn truth_a_search_that_finds_nothing_ends_at_a_multiple() {
    let words = (0..40).map(|n| look(&"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrs"[n..n + 3]));
    // Ten different questions: the first is new, nine were given its answer again.
    let script = words.take(10).chain([submit()]).collect();
    let done = play(Tools::new().with(empty()), 3, script).await;
    assert_eq!(done.termination, TerminationReason::Stalled);
}

#[tokio::test]
async fn truth_a_new_call_is_no_repeat() {
    // With a threshold of 1, the first repeat is warned of, and the next one ends the task.
    let script = vec![look("oak"), look("elm"), look("ash"), submit()];
    let done = play(Tools::new().with(search()), 1, script).await;
    assert!(done.success());
    assert_eq!(notices(&done), []);
    let script = vec![look("oak"), look("oak"), submit()];
    let done = play(Tools::new().with(search()), 1, script).await;
    assert!(done.success());
    assert_eq!(notices(&done), [Notice::Stall]);
    let script = vec![look("oak"), look("oak"), look("oak"), submit()];
    let done = play(Tools::new().with(search()), 1, script).await;
    assert_eq!(done.termination, TerminationReason::Stalled);
}

#[tokio::test]
async fn truth_the_first_step_of_a_row_does_not_count() {
    let same = |n: usize| (0..n).map(|_| look("oak"));
    let done = play(
        Tools::new().with(search()),
        3,
        same(3).chain([submit()]).collect(),
    )
    .await;
    assert!(!notices(&done).contains(&Notice::Stall));
    let done = play(
        Tools::new().with(search()),
        3,
        same(4).chain([submit()]).collect(),
    )
    .await;
    assert!(done.success());
    assert_eq!(notices(&done).last(), Some(&Notice::Stall));
    let done = play(
        Tools::new().with(search()),
        3,
        same(5).chain([submit()]).collect(),
    )
    .await;
    assert_eq!(done.termination, TerminationReason::Stalled);
}

#[tokio::test]
async fn truth_a_note_over_and_over_is_a_stall() {
    let note = || call("note", json!({"text": "the same"}));
    let tools = Tools::new().with(builtin::note()).with(search());
    let script = (0..8).map(|_| note()).take(5);
    let script = script.chain([say(r#"{"answer": "a"}"#)]).collect();
    let done = play(tools, 3, script).await;
    assert_eq!(done.termination, TerminationReason::Stalled);
    // Different notes are not.
    let tools = Tools::new().with(builtin::note()).with(search());
    let script = (0..8)
        .map(|n| call("note", json!({"text": format!("number {n}")})))
        .chain([submit()]);
    let done = play(tools, 3, script.collect()).await;
    assert!(done.success());
    assert_eq!(notices(&done), []);
}

#[tokio::test]
async fn truth_waiting_for_a_job_is_no_stall() {
    let polls = Arc::new(AtomicUsize::new(0));
    let job = FnTool::new("search", "How far is it?", {
        move |_: Anything, _| {
            let percent = polls.fetch_add(1, Ordering::Relaxed);
            async move { Ok::<_, ToolError>(format!("{percent} % done")) }
        }
    })
    .read_only()
    .volatile();
    let script = (0..12).map(|_| look("job")).chain([submit()]);
    let done = play(Tools::new().with(job), 3, script.collect()).await;
    assert!(done.success());
    assert_eq!(notices(&done), []);
}
