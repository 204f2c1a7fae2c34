//! Servers that refuse tools or response formats are taken at their word.

use enact::adapter::{AdapterChoice, Json, Native};
use enact::model::{
    Capabilities, ModelErrorKind as Kind, ResponseFormat, ScriptStep, call, fail, say,
};
use enact::run::Event;
use enact::{ErrorKind, Predict, ReAct, Run, TerminationReason, values};
use serde_json::json;

use crate::{agent, search_and_add};

fn step(name: &str, args: serde_json::Value) -> ScriptStep {
    let step = json!({"next_thought": "t", "next_tool_name": name, "next_tool_args": args});
    say(step.to_string())
}

fn changes(run: &Run) -> Vec<(String, Capabilities)> {
    let events = run.events();
    events
        .filter_map(|event| match event {
            Event::AdapterChanged {
                adapter,
                capabilities,
                ..
            } => Some((adapter.clone(), *capabilities)),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn truth_auto_goes_on_when_tools_are_refused() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            fail(Kind::ToolsRefused, "this model does not support tools"),
            step("search", json!({"query": "x"})),
            step("submit", json!({"answer": "found"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], "found");
    let expected = Capabilities::FULL.with_tools(false);
    assert_eq!(changes(done.run()), [("json".to_owned(), expected)]);
    let requests = played.model.requests();
    assert!(!requests[0].tools.is_empty());
    assert!(requests[1].tools.is_empty());
    assert!(matches!(
        requests[1].response_format,
        ResponseFormat::Schema { .. }
    ));
}

#[tokio::test]
async fn truth_auto_goes_down_to_plain_text() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            fail(Kind::ToolsRefused, "no tools"),
            fail(Kind::FormatRefused, "no response_format"),
            say(
                "[[ ## next_thought ## ]]\nt\n\n[[ ## next_tool_name ## ]]\nsubmit\n\n[[ ## next_tool_args ## ]]\n{\"answer\": \"a\"}\n\n[[ ## completed ## ]]",
            ),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], "a");
    let names: Vec<String> = changes(done.run())
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["json", "chat"]);
    assert_eq!(
        played.model.requests()[2].response_format,
        ResponseFormat::Text
    );
}

#[tokio::test]
async fn truth_a_fixed_adapter_that_is_refused_says_so() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [fail(
            Kind::ToolsRefused,
            "takes no tools: use `--adapter json`",
        )],
    )
    .map(|agent| agent.adapter(Native));
    let error = played.agent.call(values! { question: "q" }).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model(Kind::ToolsRefused));
    assert!(error.to_string().contains("--adapter"), "{error}");
    // The run is not over: with another adapter it goes on.
    assert_eq!(error.run().unwrap().termination(), None);
}

#[tokio::test]
async fn truth_a_fixed_adapter_does_without_a_schema() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            fail(Kind::FormatRefused, "response_format is not supported"),
            step("submit", json!({"answer": "a"})),
        ],
    )
    .map(|agent| agent.adapter(Json));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], "a");
    assert_eq!(changes(done.run())[0].0, "json");
    let format = |n: usize| played.model.requests()[n].response_format.clone();
    assert!(matches!(format(0), ResponseFormat::Schema { .. }));
    assert_eq!(format(1), ResponseFormat::Text);
}

#[tokio::test]
async fn truth_a_refused_format_at_the_very_end_costs_no_answer() {
    for kind in [Kind::FormatRefused, Kind::InvalidRequest] {
        let played = agent(
            "question -> answer, n: int",
            search_and_add(),
            [
                call("search", json!({"query": "x"})),
                call("search", json!({"query": "y"})),
                fail(kind, "response_format is not supported"),
                say(r#"{"reasoning": "r", "answer": "a", "n": 3}"#),
            ],
        )
        .map(|agent| agent.max_iterations(1));
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.outputs["n"], 3, "{kind:?}");
        assert_eq!(done.termination, TerminationReason::MaxIterations);
        let last = &played.model.requests()[3];
        assert_eq!(last.response_format, ResponseFormat::Text);
    }
}

#[tokio::test]
async fn truth_a_server_that_fails_at_the_demand_costs_no_answer() {
    for kind in [Kind::Server, Kind::Protocol] {
        let played = agent(
            "question -> answer, n: int",
            search_and_add(),
            [
                call("search", json!({"query": "x"})),
                // Each has been tried again by then.
                fail(kind, "500 for a named `tool_choice`"),
                fail(kind, "500 for a schema"),
                say(r#"{"reasoning": "r", "answer": "a", "n": 3}"#),
            ],
        )
        .map(|agent| agent.max_iterations(1));
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.outputs["n"], 3, "{kind:?}");
        assert_eq!(done.termination, TerminationReason::MaxIterations);
        let last = &played.model.requests()[3];
        assert_eq!(last.response_format, ResponseFormat::Text);
    }
}

#[tokio::test]
async fn truth_a_server_that_always_fails_leaves_a_run_that_can_be_resumed() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "x"})),
            fail(Kind::Server, "down"),
            fail(Kind::Server, "down"),
            fail(Kind::Server, "down"),
        ],
    )
    .map(|agent| agent.max_iterations(1));
    let error = played
        .agent
        .call(values! { question: "q" })
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model(Kind::Server));
    let again = agent("question -> answer", search_and_add(), [say("late")]);
    let call = again.agent.resume(error.into_run().unwrap());
    let done = call.await.unwrap().finished().unwrap();
    assert_eq!(done.outputs["answer"], "late");
}

#[tokio::test]
async fn truth_a_prediction_does_without_a_schema() {
    let model = std::sync::Arc::new(enact::model::ScriptedModel::new([
        fail(Kind::FormatRefused, "response_format is not supported"),
        say(r#"{"a": 1, "b": 2}"#),
    ]));
    for adapter in [AdapterChoice::Auto] {
        let module = Predict::builder("question -> a: int, b: int")
            .model(model.clone())
            .adapter(adapter)
            .build()
            .unwrap();
        let done = module.call(values! { question: "q" }).await.unwrap();
        assert_eq!(done.finished().unwrap().outputs["b"], 2);
    }
}

#[tokio::test]
async fn truth_a_refusal_survives_a_crash() {
    let script = || {
        vec![
            fail(Kind::ToolsRefused, "no tools"),
            step("search", json!({"query": "x"})),
            step("submit", json!({"answer": "found"})),
        ]
    };
    let played = agent("question -> answer", search_and_add(), script());
    let done = played.call(values! { question: "q" }).await;
    let records = done.run().records().to_vec();
    for cut in 1..records.len() {
        let asked = records[..cut].iter().filter(|record| {
            record.event.is_step() || matches!(record.event, Event::ModelFailed { .. })
        });
        let rest: Vec<ScriptStep> = script().into_iter().skip(asked.count()).collect();
        let again = agent("question -> answer", search_and_add(), rest);
        let run = Run::try_from(records[..cut].to_vec()).unwrap();
        let again = again.agent.resume(run).await.unwrap().finished().unwrap();
        assert_eq!(again.outputs["answer"], "found", "cut at {cut}");
        assert_eq!(changes(again.run()).len(), 1, "cut at {cut}");
    }
}

#[tokio::test]
async fn truth_other_refusals_are_the_callers() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [fail(Kind::InvalidRequest, "temperature is too high")],
    );
    let error = played.agent.call(values! { question: "q" }).await;
    let kind = error.unwrap_err().kind();
    assert_eq!(kind, ErrorKind::Model(Kind::InvalidRequest));
    let _: Option<ReAct> = None;
}
