//! A bad reply never ends a run by itself.

use enact::model::{Capabilities, ModelErrorKind, ScriptedModel, call, fail, say};
use enact::{ErrorKind, ReAct, TerminationReason, Tools, values};
use serde_json::json;

use super::{agent, failing, search, search_and_add};

#[tokio::test]
async fn dspy_unknown_tool_observation_can_continue() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("serch", json!({"query": "x"})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let step = &done.trajectory().steps()[0].clone();
    assert!(step.is_error);
    let text = step.observation.as_str().unwrap();
    assert!(
        text.contains("Unknown tool `serch`") && text.contains("`search`"),
        "{text}"
    );
}

#[tokio::test]
async fn lesson_unknown_tool_message_is_bounded() {
    let mut tools = Tools::new();
    for index in 0..200 {
        tools = tools.with(enact::FnTool::from_spec(
            enact::tool::ToolSpec::new(
                format!("tool_{index}"),
                "x".repeat(1000),
                json!({"type": "object", "properties": {}}),
            ),
            |_, _| async { Ok::<_, enact::ToolError>(1) },
        ));
    }
    let played = agent(
        "question -> answer",
        tools,
        [
            call("zzz".repeat(1000), json!({})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let text = done.trajectory().steps()[0]
        .observation
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.len() < 400, "{} bytes: {text}", text.len());
}

#[tokio::test]
async fn lesson_one_repair_budget_for_all_invented_tools() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("nope_one", json!({})),
            call("nope_two", json!({})),
            call("nope_three", json!({})),
            call("nope_four", json!({})),
            say(r#"{"reasoning": "r", "answer": "gave up"}"#),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.termination, TerminationReason::Failure);
    assert!(!done.success());
    assert_eq!(done.outputs["answer"], "gave up");
}

#[tokio::test]
async fn a_good_step_refills_the_repair_budget() {
    let bad = || call("nope", json!({}));
    let good = || call("search", json!({"query": "x"}));
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            bad(),
            bad(),
            bad(),
            good(),
            bad(),
            bad(),
            bad(),
            call("submit", json!({"answer": "a"})),
        ],
    );
    assert!(played.call(values! { question: "q" }).await.success());
}

#[tokio::test]
async fn an_empty_reply_is_a_bad_one_and_never_an_answer() {
    for signature in ["question -> answer", "question -> answer: int"] {
        let played = agent(
            signature,
            search_and_add(),
            [
                say(""),
                say("  \n"),
                say(""),
                say(""),
                say(r#"{"reasoning": "r", "answer": 0}"#),
            ],
        );
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.termination, TerminationReason::Failure);
        assert!(!done.success());
        let requests = played.model.requests();
        let told = requests[1].prompt.iter().last().unwrap().text();
        assert!(
            told.starts_with("Your reply is empty. If the task is done, call `submit`"),
            "{told}"
        );
    }
}

#[tokio::test]
async fn lesson_empty_arguments_mean_no_arguments() {
    let played = agent(
        "question -> answer",
        Tools::new().with(failing()),
        [
            call("failing_tool", json!("")),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(
        done.trajectory().steps()[0].observation,
        "Error executing failing_tool: tool error"
    );
}

#[tokio::test]
async fn dspy_repairs_a_trailing_comma_in_arguments_and_records_it() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!(r#"{"query": "cats",}"#)).with_ids(["abc"]),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.trajectory().steps()[0].tool_args["query"], "cats");
    let step = &done.run().steps()[0];
    assert_eq!(step.calls[0].call.id, "abc");
    assert!(!step.replied.repairs.is_empty());
    let planned = &step.replied.stepped().unwrap().calls[0];
    let written = planned.written.as_ref().unwrap();
    assert_eq!(written.arguments, r#"{"query": "cats",}"#);
}

#[tokio::test]
async fn lesson_one_broken_argument_string_does_not_fail_the_reply() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            enact::model::calls([
                ("search", json!("this is no json at all")),
                ("search", json!({"query": "y"})),
            ]),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let trajectory = done.trajectory();
    let steps = trajectory.steps();
    assert!(steps[0].is_error);
    let text = steps[0].observation.as_str().unwrap();
    assert!(
        text.contains("Invalid arguments for `search`") && text.contains("query"),
        "{text}"
    );
    assert_eq!(steps[1].observation, "about y");
    // The raw text stays in the record, for the reader.
    let history = serde_json::to_string(&done.history).unwrap();
    assert!(history.contains("this is no json at all"));
}

#[tokio::test]
async fn lesson_all_argument_problems_in_one_message() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("add", json!({"a": "x"})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let text = done.trajectory().steps()[0]
        .observation
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.contains("`a`") || text.contains("a:"), "{text}");
    assert!(text.contains('b'), "{text}");
}

#[tokio::test]
async fn udspy_unreadable_replies_are_retried_and_the_error_is_fed_back() {
    let model = std::sync::Arc::new(
        ScriptedModel::new([
            say("{\"next_thought\": "),
            say(r#"{"next_thought": "t", "next_tool_name": "submit", "next_tool_args": {"answer": "a"}}"#),
        ])
        .with_capabilities(Capabilities::TEXT.with_response_schema(true)),
    );
    let agent = ReAct::builder("question -> answer")
        .tools(Tools::new().with(search()))
        .model(model.clone())
        .build()
        .unwrap();
    let done = agent
        .call(values! { question: "q" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.outputs["answer"], "a");
    let requests = model.requests();
    let messages: Vec<_> = requests[1].prompt.iter().collect();
    // The reply and what was wrong with it stand at the end of the next request.
    assert!(messages[messages.len() - 2].text().contains("next_thought"));
    assert!(
        done.run()
            .events()
            .any(|event| event.reply().is_some_and(|reply| reply.problem().is_some()))
    );
}

#[tokio::test]
async fn udspy_repairs_stop_after_the_budget_and_the_run_is_in_the_error() {
    let broken = || say("{\"next_thought\": ");
    let model = ScriptedModel::new([
        broken(),
        broken(),
        broken(),
        broken(),
        say("{"),
        say("{"),
        say("{"),
        say("{"),
    ])
    .with_capabilities(Capabilities::TEXT.with_response_schema(true));
    let agent = ReAct::builder("question -> answer: int")
        .tools(search_and_add())
        .model(model)
        .build()
        .unwrap();
    let error = agent.call(values! { question: "q" }).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoAnswer);
    let run = error.run().expect("the run is kept");
    assert_eq!(run.termination(), Some(TerminationReason::Failure));
    assert_eq!(run.usage().requests, 8);
}

#[tokio::test]
async fn lesson_provider_errors_are_not_retried_as_parse_errors() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "x"})),
            fail(ModelErrorKind::Authentication, "the key was refused"),
        ],
    );
    let error = played
        .agent
        .call(values! { question: "q" })
        .await
        .unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Model(ModelErrorKind::Authentication)
    );
    assert!(std::error::Error::source(&error).is_some());
    // Nothing that the run learned is lost, and it can go on from there.
    let run = error.into_run().unwrap();
    assert_eq!(run.trajectory().steps()[0].observation, "about x");
    played.model.push(call("submit", json!({"answer": "a"})));
    let done = played.agent.resume(run).await.unwrap().finished().unwrap();
    assert_eq!(done.outputs["answer"], "a");
    assert_eq!(done.usage.requests, 2);
}

#[tokio::test]
async fn a_reply_cut_off_by_its_length_is_not_taken_for_whole() {
    let model = ScriptedModel::new([
        say(r#"{"next_thought": "t", "next_tool_name": "submit", "next_tool_args": {"answer": "a"#).cut_off(),
        say(r#"{"next_thought": "t", "next_tool_name": "submit", "next_tool_args": {"answer": "abc"}}"#),
    ])
    .with_capabilities(Capabilities::TEXT.with_response_schema(true));
    let agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .model(model)
        .build()
        .unwrap();
    let done = agent
        .call(values! { question: "q" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.outputs["answer"], "abc");
}

#[tokio::test]
async fn a_call_written_as_text_is_recognised_and_recorded() {
    for text in [
        "Let me look.\n```json\n{\"name\": \"search\", \"arguments\": {\"query\": \"x\"}}\n```",
        "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"x\"}}\n</tool_call>",
    ] {
        let played = agent(
            "question -> answer",
            search_and_add(),
            [say(text), call("submit", json!({"answer": "a"}))],
        );
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.trajectory().steps()[0].observation, "about x");
        let step = &done.run().steps()[0].replied;
        assert!(
            step.repairs
                .iter()
                .any(|repair| repair.kind == enact::adapter::RepairKind::CallInText),
            "{:?}",
            step.repairs
        );
    }
}

#[tokio::test]
async fn of_a_reply_that_was_cut_off_the_model_sees_the_beginning() {
    let round = "and so on ".repeat(500);
    let played = agent(
        "question -> answer",
        search_and_add(),
        [say(round).cut_off(), call("submit", json!({"answer": "a"}))],
    );
    played.call(values! { question: "q" }).await;
    let shown = played.model.requests()[1].prompt.bytes();
    let before = played.model.requests()[0].prompt.bytes();
    assert!(shown - before < 600, "{} bytes more", shown - before);
}
