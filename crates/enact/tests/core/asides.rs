//! Requests beside the steps: a model that says whether the task is done, and one that summarises
//! large observations.

use std::sync::Arc;

use enact::adapter::{AdapterChoice, Completion};
use enact::model::{ModelErrorKind, ScriptStep, ScriptedModel, Usage, call, fail, say};
use enact::run::{PredictorName, Reading, Standing};
use enact::{
    FnTool, Module, Prediction, ReAct, TerminationReason, ToolError, Tools, Values, values,
};
use serde_json::json;

use super::limits::extracted;
use super::{agent, search};

fn judged(standing: &str, why: &str) -> ScriptStep {
    say(json!({"why": why, "standing": standing}).to_string()).costing(Usage::of_request(40, 4))
}

fn look(query: &str) -> ScriptStep {
    call("search", json!({"query": query})).costing(Usage::of_request(100, 10))
}

async fn judging(script: impl IntoIterator<Item = ScriptStep>) -> Prediction<Values> {
    let played = agent("question -> answer", Tools::new().with(search()), script)
        .map(|agent| agent.rules(|rules| rules.judges = true));
    played.call(values! { question: "q" }).await
}

fn standings(done: &Prediction<Values>) -> Vec<Option<Standing>> {
    let trace = done.run().trace();
    trace.steps.iter().map(|step| step.standing).collect()
}

#[tokio::test]
async fn a_model_can_say_that_the_task_is_done() {
    let done = judging([
        look("one"),
        judged("open", "The second is missing."),
        look("two"),
        judged("done", "Both are there."),
        extracted("one and two"),
    ])
    .await;
    assert!(done.success());
    assert_eq!(done.outputs["answer"], "one and two");
    assert_eq!(
        standings(&done),
        [Some(Standing::Open), Some(Standing::Done)]
    );
    // What it took counts, for the step that was judged.
    let trace = done.run().trace();
    assert_eq!(trace.steps[0].token_usage.input_tokens, 140);
    assert_eq!(done.run().usage().requests, 5);
}

#[tokio::test]
async fn a_model_can_say_that_the_task_cannot_be_done() {
    let done = judging([
        look("one"),
        judged("impossible", "There is no such thing."),
        extracted("none"),
    ])
    .await;
    assert!(!done.success());
    assert_eq!(done.termination, TerminationReason::Failure);
    assert_eq!(done.outputs["answer"], "none");
}

#[tokio::test]
async fn a_judgement_comes_before_the_last_limit() {
    let script = [
        look("one"),
        judged("done", "It is there."),
        extracted("one"),
    ];
    let played = agent("question -> answer", Tools::new().with(search()), script)
        .map(|agent| agent.rules(|rules| rules.judges = true).max_iterations(1));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.termination, TerminationReason::Success);
}

#[tokio::test]
async fn a_judgement_that_cannot_be_had_is_done_without() {
    let done = judging([
        look("one"),
        say("Who knows."),
        look("two"),
        fail(ModelErrorKind::ContextLength, "too long"),
        call("submit", json!({"answer": "a"})),
    ])
    .await;
    assert!(done.success());
    assert_eq!(standings(&done), [None, None, None]);
}

#[tokio::test]
async fn nothing_is_judged_where_nothing_ran() {
    let done = judging([
        call("nosuch", json!({})),
        call("submit", json!({"answer": "a"})),
    ])
    .await;
    assert!(done.success());
    assert_eq!(standings(&done), [None, None]);
}

fn lists() -> FnTool {
    let parameters = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let spec = enact::tool::ToolSpec::new("list", "Lists.", parameters);
    FnTool::from_spec(spec, |args: Values, _| async move {
        let n = args["n"].as_u64().unwrap_or_default() as usize;
        Ok::<_, ToolError>("row ".repeat(n))
    })
}

fn list(n: usize) -> ScriptStep {
    call("list", json!({ "n": n })).thinking("I want the rows.")
}

/// The agent with its requests, as text.
async fn condensing(
    adapter: &str,
    script: impl IntoIterator<Item = ScriptStep>,
) -> (Prediction<Values>, Vec<(String, String)>) {
    let model = Arc::new(ScriptedModel::new(script));
    let tools = Tools::new()
        .with(lists())
        .with(enact::tool::builtin::read_observation());
    let agent = ReAct::builder("question -> answer")
        .tools(tools)
        .model(model.clone())
        .adapter(adapter.parse::<AdapterChoice>().unwrap())
        .limits(|limits| limits.max_observation_tokens = 20)
        .rules(|rules| rules.condenses = true)
        .build()
        .unwrap();
    let outcome = agent.call(values! { question: "q" }).await.unwrap();
    let asked = model.requests().into_iter().map(|request| {
        let texts: Vec<String> = request
            .prompt
            .iter()
            .map(|message| message.text())
            .collect();
        (texts[0].clone(), texts[texts.len() - 1].clone())
    });
    (outcome.finished().unwrap(), asked.collect())
}

#[tokio::test]
async fn a_large_observation_is_summarised_and_can_still_be_read() {
    let summary = || say("500 rows, all alike");
    let (done, asked) = condensing(
        "native",
        [
            list(500),
            summary(),
            list(2),
            call("submit", json!({"answer": "a"})),
        ],
    )
    .await;
    assert!(asked[1].0.contains("too long to be shown"), "{asked:?}");
    assert!(asked[1].1.contains("I want the rows."), "{asked:?}");
    assert!(asked[1].1.contains("row row row"), "{asked:?}");
    let shown = &asked[2].1;
    assert!(
        shown.starts_with("500 rows, all alike\n[This is a summary of 2000 characters"),
        "{shown}"
    );
    assert!(shown.contains("read_observation with call_id"), "{shown}");
    // What is small is shown as it is, and no model is asked about it.
    assert_eq!(asked[3].1, "row row ");
    // The record keeps all of it.
    let trajectory = done.trajectory();
    let whole = &trajectory.steps()[0].observation;
    assert_eq!(whole.as_str().unwrap().len(), 2_000);
    // So does a conversation that goes on from here, with the summary.
    let history = serde_json::to_string(&done.history).unwrap();
    assert!(history.contains("500 rows, all alike"));
    assert!(history.contains(&"row ".repeat(500)));
}

#[tokio::test]
async fn every_adapter_can_have_a_summary() {
    for (adapter, step, summary, submit) in [
        (
            "json",
            json!({"next_thought": "t", "next_tool_name": "list", "next_tool_args": {"n": 500}})
                .to_string(),
            r#"{"summary": "many rows"}"#.to_owned(),
            json!({"next_thought": "t", "next_tool_name": "submit", "next_tool_args": {"answer": "a"}})
                .to_string(),
        ),
        (
            "chat",
            "[[ ## next_thought ## ]]\nt\n[[ ## next_tool_name ## ]]\nlist\n\
             [[ ## next_tool_args ## ]]\n{\"n\": 500}"
                .to_owned(),
            "[[ ## summary ## ]]\nmany rows".to_owned(),
            "[[ ## next_thought ## ]]\nt\n[[ ## next_tool_name ## ]]\nsubmit\n\
             [[ ## next_tool_args ## ]]\n{\"answer\": \"a\"}"
                .to_owned(),
        ),
    ] {
        let script = [say(&step), say(&summary), say(&submit)];
        let (done, asked) = condensing(adapter, script).await;
        assert!(done.success(), "{adapter}");
        assert!(asked[2].1.contains("many rows"), "{adapter}: {asked:?}");
    }
}

#[tokio::test]
async fn without_a_summary_head_and_tail_are_shown() {
    for failure in [say(" "), fail(ModelErrorKind::ContextLength, "too long")] {
        let script = [list(500), failure, call("submit", json!({"answer": "a"}))];
        let (done, asked) = condensing("native", script).await;
        assert!(done.success());
        assert!(asked[2].1.contains("characters left out"), "{asked:?}");
    }
}

#[tokio::test]
async fn each_aside_can_have_a_model_of_its_own() {
    let steps = ScriptedModel::new([list(500), call("submit", json!({"answer": "a"}))]);
    let small = Arc::new(ScriptedModel::new([
        say(json!({"summary": "rows"}).to_string()),
        judged("open", "Not yet."),
    ]));
    let mut agent = ReAct::builder("question -> answer")
        .tools(Tools::new().with(lists()))
        .model(steps)
        .completion(Completion::Submit)
        .rules(|rules| {
            rules.condenses = true;
            rules.judges = true;
        })
        .limits(|limits| limits.max_observation_tokens = 20)
        .build()
        .unwrap();
    for name in [PredictorName::Condense, PredictorName::Judge] {
        let predictor = agent.predictor_mut(name.as_str()).unwrap();
        predictor.set_model(small.clone());
    }
    let done = agent.call(values! { question: "q" }).await.unwrap();
    let done = done.finished().unwrap();
    assert_eq!(small.requests().len(), 2);
    let order: Vec<&str> = done
        .run()
        .events()
        .filter_map(|event| match &event.reply()?.read {
            Reading::Condensed { .. } => Some("condensed"),
            Reading::Judged { .. } => Some("judged"),
            Reading::Step(_) => Some("stepped"),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["stepped", "condensed", "judged", "stepped"]);
}
