//! Agents that go round in circles, repeat failures, ask for what they know, or run out of steps: the
//! model is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::{ScriptStep, Usage, call, calls, say};
use enact::run::{Event, Notice};
use enact::{
    Builder, FnTool, Prediction, ReAct, TerminationReason, ToolContext, ToolError, Tools, Values,
    values,
};
use serde_json::json;

use super::{Counted, agent, search};

fn searching() -> Tools {
    Tools::new().with(search())
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Anything {
    query: String,
}

fn notices(done: &Prediction<Values>) -> Vec<(Notice, String)> {
    let events = done.run().events();
    events
        .filter_map(|event| match event {
            Event::Noticed { about, text } => Some((*about, text.clone())),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn lesson_a_stall_is_warned_of_and_a_change_of_course_is_progress() {
    let same = || call("search", json!({"query": "x"}));
    let played = agent(
        "question -> answer",
        searching(),
        [
            same(),
            same(),
            same(),
            same(),
            call("search", json!({"query": "something else"})),
            same(),
            same(),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert!(done.success());
    let stalls = notices(&done);
    let stalls: Vec<_> = stalls
        .iter()
        .filter(|(about, _)| *about == Notice::Stall)
        .collect();
    assert_eq!(stalls.len(), 1, "{stalls:?}");
    // The model has read the warning.
    let requests = played.model.requests();
    let last = requests[4].prompt.iter().last().unwrap().text();
    assert!(
        last.contains("The last 3 steps brought nothing new"),
        "{last}"
    );
}

#[tokio::test]
async fn a_call_that_succeeds_at_the_third_try_is_no_stall() {
    let tries = Arc::new(AtomicUsize::new(0));
    let busy = FnTool::new("search", "Is busy at first.", {
        move |_: Anything, _: ToolContext| {
            let is_busy = tries.fetch_add(1, Ordering::Relaxed) < 2;
            async move {
                match is_busy {
                    true => Err(ToolError::new("busy: try again")),
                    false => Ok("found"),
                }
            }
        }
    });
    let same = || call("search", json!({"query": "x"}));
    let played = agent(
        "question -> answer",
        Tools::new().with(busy),
        [
            same(),
            same(),
            same(),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let told = notices(&done);
    assert!(
        told.iter().all(|(about, _)| *about != Notice::Stall),
        "{told:?}"
    );
}

#[tokio::test]
async fn what_changes_the_world_stalls_only_when_it_is_the_very_same() {
    let write = |n: i64| {
        call(
            "search",
            json!({"query": format!("line of a long text no {}", "x".repeat(n as usize))}),
        )
    };
    let tool = || {
        Tools::new().with(FnTool::new(
            "search",
            "Appends.",
            |_: Anything, _: ToolContext| async { Ok::<_, ToolError>("appended") },
        ))
    };
    let played = agent(
        "question -> answer",
        tool(),
        (1..6)
            .map(write)
            .chain([call("submit", json!({"answer": "a"}))]),
    );
    assert!(played.call(values! { question: "q" }).await.success());
    let played = agent(
        "question -> answer",
        tool(),
        (0..5)
            .map(|_| write(1))
            .chain([say(r#"{"reasoning": "r", "answer": "a"}"#)]),
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.termination, TerminationReason::Stalled);
}

#[tokio::test]
async fn the_same_failure_again_is_told() {
    let played = agent(
        "question -> answer",
        Tools::new().with(super::failing()),
        [
            call("failing_tool", json!({})),
            call("failing_tool", json!({})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let told = notices(&done);
    assert_eq!(told[0].0, Notice::RepeatedFailure);
    assert!(
        told[0].1.contains("`failing_tool` failed again"),
        "{told:?}"
    );
}

#[tokio::test]
async fn calls_of_one_step_are_not_held_against_each_other() {
    let twice = calls([("failing_tool", json!({})), ("failing_tool", json!({}))]);
    let played = agent(
        "question -> answer",
        Tools::new().with(super::failing()),
        [twice, call("submit", json!({"answer": "a"}))],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(notices(&done), []);
}

#[tokio::test]
async fn reads_that_go_on_failing_are_warned_of_and_end_whatever_they_ask() {
    let tools = || {
        let lookup = FnTool::new("lookup", "Looks up.", |args: Anything, _: ToolContext| {
            let problem = format!("`{}` is not in the table", args.query);
            std::future::ready(Err::<String, _>(ToolError::new(problem)))
        });
        Tools::new().with(lookup.read_only()).with(search())
    };
    let look = |key: &str| call("lookup", json!({"query": key}));
    let play = |script: Vec<ScriptStep>| async move {
        let played = agent("question -> answer", tools(), script);
        played.call(values! { question: "q" }).await
    };
    let submit = || call("submit", json!({"answer": "unknown"}));
    let three = vec![look("oak"), look("elm"), look("ash"), submit()];
    let done = play(three).await;
    assert!(done.success());
    let told = notices(&done);
    assert_eq!(told[0].0, Notice::RepeatedFailure);
    let text = "The last 3 steps failed: `lookup` cannot help here.";
    assert!(told[0].1.contains(text), "{told:?}");
    // What works between begins the row anew.
    let works = call("search", json!({"query": "x"}));
    let mixed = vec![look("oak"), look("elm"), works, look("ash"), submit()];
    assert_eq!(notices(&play(mixed).await), []);
    let six = ["oak", "elm", "ash", "fir", "yew", "bay"].map(look);
    let guess = say(r#"{"reasoning": "r", "answer": "unknown"}"#);
    let done = play(six.into_iter().chain([guess]).collect()).await;
    assert_eq!(done.termination, TerminationReason::Stalled);
    let told: Vec<Notice> = notices(&done).into_iter().map(|(about, _)| about).collect();
    assert_eq!(
        told,
        [Notice::RepeatedFailure, Notice::Stall, Notice::SubmitNow]
    );
}

#[tokio::test]
async fn steps_that_take_turns_are_a_circle_too() {
    let look = |key: &str| call("search", json!({"query": key}));
    let turns = ["x", "y", "x", "y", "x", "y"].map(look);
    let guess = say(r#"{"reasoning": "r", "answer": "a"}"#);
    let played = agent(
        "question -> answer",
        Tools::new().with(search()),
        turns.into_iter().chain([guess]),
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.termination, TerminationReason::Stalled);
    let told: Vec<Notice> = notices(&done).into_iter().map(|(about, _)| about).collect();
    assert_eq!(
        told,
        [
            Notice::RepeatedCall,
            Notice::RepeatedCall,
            Notice::Stall,
            Notice::SubmitNow
        ]
    );
}

#[tokio::test]
async fn a_read_whose_answer_is_known_is_answered_from_the_record() {
    let run = |change: fn(Builder<ReAct>) -> Builder<ReAct>,
               tool: fn(FnTool) -> FnTool,
               between: bool| async move {
        let count = Arc::new(AtomicUsize::new(0));
        let tools = Tools::new()
            .with(Counted::new(tool(search()), count.clone()))
            .with(FnTool::new(
                "write",
                "Writes.",
                |_: Anything, _: ToolContext| async { Ok::<_, ToolError>("written") },
            ));
        let mut script = vec![call("search", json!({"query": "x"}))];
        if between {
            script.push(call("write", json!({"query": "y"})));
        }
        script.push(call("search", json!({"query": "x"})));
        script.push(call("submit", json!({"answer": "a"})));
        let played = agent("question -> answer", tools, script).map(change);
        let done = played.call(values! { question: "q" }).await;
        (count.load(Ordering::SeqCst), done)
    };
    let (count, done) = run(|agent| agent, |tool| tool, false).await;
    assert_eq!(count, 1);
    let trace = done.run().trace();
    assert!(trace.steps[1].actions[0].from_record);
    assert_eq!(
        trace.steps[1].actions[0]
            .observation
            .as_ref()
            .unwrap()
            .text(),
        "about x"
    );
    assert_eq!(notices(&done)[0].0, Notice::RepeatedCall);
    // Not after something may have changed, not for answers that change by themselves, not if one
    // does not want it.
    assert_eq!(run(|agent| agent, |tool| tool, true).await.0, 2);
    assert_eq!(run(|agent| agent, FnTool::volatile, false).await.0, 2);
    let again = |agent: Builder<ReAct>| agent.rules(|rules| rules.reads_again = true);
    assert_eq!(run(again, |tool| tool, false).await.0, 2);
}

#[tokio::test]
async fn lesson_the_model_is_told_when_a_limit_is_near() {
    let steps = (0..9).map(|n| call("search", json!({"query": format!("q {n}")})));
    let played = agent(
        "question -> answer",
        searching(),
        steps.chain([call("submit", json!({"answer": "a"}))]),
    );
    let done = played.call(values! { question: "q" }).await;
    let told = notices(&done);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].0, Notice::FewSteps);
    assert!(told[0].1.contains("at most 2 steps left"), "{told:?}");
}

#[tokio::test]
async fn the_model_is_told_of_each_limit_once() {
    let steps = (0..8).map(|n| {
        let written = if n == 0 { 3_000 } else { 50 };
        call("search", json!({"query": format!("q {n}")})).costing(Usage::of_request(600, written))
    });
    let played = agent(
        "question -> answer",
        searching(),
        steps.chain([call("submit", json!({"answer": "a"}))]),
    )
    .map(|agent| {
        agent.limits(|limits| {
            limits.max_tool_calls = Some(9);
            limits.token_budget = Some(10_800);
        })
    });
    let done = played.call(values! { question: "q" }).await;
    assert!(done.success());
    let about: Vec<Notice> = notices(&done).into_iter().map(|(about, _)| about).collect();
    // Of nine calls one is left when the last two steps are, and the tokens ran low before.
    assert_eq!(
        about,
        [Notice::FewTokens, Notice::FewSteps, Notice::FewToolCalls]
    );
}
