//! Agents as tools of other agents.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::{ModelErrorKind, ScriptedModel, Usage, call, fail, say};
use enact::run::Event;
use enact::run::store::{MemoryStore, RunFilter, Store as _};
use enact::{AgentTool, Decision, ReAct, TerminationReason, Tools, values};
use serde_json::json;

use super::{Counted, agent, effectful_search, paused, search};

fn researcher(tools: Tools, script: Vec<enact::model::ScriptStep>) -> ReAct {
    ReAct::dynamic("topic -> summary", tools)
        .unwrap()
        .with_model(ScriptedModel::new(script))
}

fn ask(topic: &str) -> enact::model::ScriptStep {
    call("research", json!({"topic": topic}))
}

fn done() -> enact::model::ScriptStep {
    call("submit", json!({"answer": "done"}))
}

#[tokio::test]
async fn the_inputs_are_the_arguments_and_the_outputs_the_observation() {
    let inner = researcher(
        Tools::new().with(search()),
        vec![
            call("search", json!({"query": "oak"})).costing(Usage::of_request(100, 10)),
            call("submit", json!({"summary": "a tree"})).costing(Usage::of_request(120, 10)),
        ],
    );
    let store = MemoryStore::new();
    let tool = AgentTool::new(inner, "research", "Finds things out.").with_store(store.clone());
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [ask("oak"), done()],
    );
    let outer = played.call(values! { question: "q" }).await;
    assert_eq!(outer.trajectory().steps()[0].observation, "a tree");
    // What the inner one spent counts.
    assert_eq!(outer.usage.input_tokens, 220);
    assert_eq!(outer.run().usage().requests, 4);
    // A run of its own, linked to the call.
    let runs = store.list(&RunFilter::all()).await.unwrap();
    let inner = store.load(&runs[0].run_id).await.unwrap().run;
    let parent = inner.started().parent.clone().unwrap();
    assert_eq!(parent.run_id, outer.run().id());
    assert_eq!(parent.depth, 1);
    let called = outer.run().trace().steps[0].actions[0].call.id.clone();
    assert_eq!(parent.call_id, called);
}

#[tokio::test]
async fn when_the_inner_agent_waits_so_does_the_outer_one() {
    let count = Arc::new(AtomicUsize::new(0));
    let tools = Tools::new().with(Counted::new(
        effectful_search().require_confirmation(),
        count.clone(),
    ));
    let same = || call("search", json!({"query": "oak"}));
    let inner = researcher(
        tools,
        vec![same(), same(), call("submit", json!({"summary": "a tree"}))],
    );
    let tool = AgentTool::new(inner, "research", "Finds things out.");
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [ask("oak"), done()],
    );
    let first = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    let question = &first.questions()[0].question;
    assert!(
        question.starts_with("research asks: Confirm execution of search"),
        "{question}"
    );
    assert_eq!(count.load(Ordering::SeqCst), 0);
    // The yes is for this call; the next one of the same kind asks again.
    let second = played.agent.resume(first).respond("yes").await.unwrap();
    let second = paused(second);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let id = second.questions()[0].confirmation_id.clone();
    let no = Decision::Answer("no".to_owned());
    let outcome = played.agent.resume(second).answer(id, no).await.unwrap();
    let outer = outcome.finished().unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(outer.trajectory().steps()[0].observation, "a tree");
}

#[tokio::test]
async fn after_a_crash_the_inner_run_goes_on_and_nothing_is_done_twice() {
    let count = Arc::new(AtomicUsize::new(0));
    let tools = || Tools::new().with(Counted::new(effectful_search(), count.clone()));
    let store = MemoryStore::new();
    let tool = |script| {
        AgentTool::new(researcher(tools(), script), "research", "Finds things out.")
            .with_store(store.clone())
    };
    let whole = vec![
        call("search", json!({"query": "oak"})),
        call("submit", json!({"summary": "a tree"})),
    ];
    let played = agent(
        "question -> answer",
        Tools::new().with(tool(whole)),
        [ask("oak"), done()],
    );
    let run = played.call(values! { question: "q" }).await.run().clone();
    let mut records: Vec<_> = run.into();
    let started = records
        .iter()
        .position(|record| matches!(record.event, Event::ToolStarted { .. }))
        .unwrap();
    records.truncate(started + 1);
    // The outer process ended before it heard of the inner one's answer.
    let again = agent(
        "question -> answer",
        Tools::new().with(tool(vec![])),
        [done()],
    );
    let outcome = again
        .agent
        .resume(enact::Run::try_from(records).unwrap())
        .await;
    let outer = outcome.unwrap().finished().unwrap();
    assert_eq!(outer.trajectory().steps()[0].observation, "a tree");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_inner_agent_stays_within_what_the_outer_one_has_left() {
    let inner = researcher(
        Tools::new().with(search()),
        vec![
            call("search", json!({"query": "oak"})).costing(Usage::of_request(2_000, 100)),
            say(r#"{"reasoning": "r", "summary": "partial"}"#).costing(Usage::of_request(300, 50)),
        ],
    );
    let tool = AgentTool::new(inner, "research", "Finds things out.");
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [ask("oak"), done()],
    )
    .map(|agent| agent.with_limits(|limits| limits.token_budget = Some(6_000)));
    let outer = played.call(values! { question: "q" }).await;
    assert_eq!(outer.trajectory().steps()[0].observation, "partial");
    let usage = outer.run().usage();
    assert!(usage.input_tokens + usage.output_tokens <= 6_000);
}

#[tokio::test]
async fn agents_that_call_each_other_come_to_an_end() {
    // Nine agents, each the tool of the next.
    let mut tools = Tools::new();
    for _ in 0..9 {
        let script = vec![
            call("research", json!({"topic": "deeper"})),
            call("submit", json!({"summary": "up"})),
        ];
        let script = if tools.is_empty() {
            vec![call("submit", json!({"summary": "bottom"}))]
        } else {
            script
        };
        let model = ScriptedModel::new(script);
        model.abandon();
        let inner = ReAct::dynamic("topic -> summary", tools)
            .unwrap()
            .with_model(model);
        tools = Tools::new().with(AgentTool::new(inner, "research", "Finds things out."));
    }
    let played = agent("question -> answer", tools, [ask("all"), done()]);
    let outer = played.call(values! { question: "q" }).await;
    assert!(outer.success());
    assert_eq!(outer.termination, TerminationReason::Success);
}

#[tokio::test]
async fn a_failure_of_the_inner_agent_is_an_observation() {
    let script = vec![
        call("search", json!({"query": "oak"})).costing(Usage::of_request(100, 10)),
        fail(ModelErrorKind::Authentication, "no key"),
    ];
    let inner = researcher(Tools::new().with(search()), script);
    let tool = AgentTool::new(inner, "research", "Finds things out.");
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [ask("oak"), done()],
    );
    let outer = played.call(values! { question: "q" }).await;
    let step = &outer.trajectory().steps()[0].clone();
    assert!(step.is_error);
    assert!(
        step.observation
            .as_str()
            .unwrap()
            .contains("came to no answer"),
        "{step:?}"
    );
    // What it spent until then counts.
    assert_eq!(outer.usage.input_tokens, 100);
}
