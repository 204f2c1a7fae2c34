//! How a run comes to its outputs: submit, finish and extract, plain text.

use enact::adapter::AdapterChoice;
use enact::model::{call, calls, say};
use enact::{Completion, ReAct, TerminationReason, Tools, values};
use serde_json::json;

use super::{agent, search, search_and_add};

#[tokio::test]
async fn submit_commits_the_declared_outputs_without_a_further_request() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "Paris"})).thinking("I look it up."),
            call("submit", json!({"answer": "Paris"})).thinking("Found."),
        ],
    );
    let done = played
        .call(values! { question: "Capital of France?" })
        .await;
    assert_eq!(done.outputs["answer"], "Paris");
    assert!(done.success());
    assert_eq!(done.termination, TerminationReason::Success);
    assert_eq!(done.usage.requests, 2);
    played.model.assert_complete();
}

#[tokio::test]
async fn dspy_tool_calling_trajectory_ends_with_completed() {
    let played = agent(
        "question -> answer: int",
        search_and_add(),
        [
            call("add", json!({"a": "1", "b": 2.0})).thinking("Add."),
            call("submit", json!({"answer": "3"})).thinking("Done."),
        ],
    );
    let done = played.call(values! { question: "1 + 2?" }).await;
    // The observation keeps its type, the output is coerced to the declared one.
    assert_eq!(done.outputs["answer"], 3);
    assert_eq!(
        serde_json::Value::Object(done.trajectory().flat()),
        json!({
            "thought_0": "Add.", "tool_name_0": "add", "tool_args_0": {"a": 1, "b": 2}, "observation_0": 3,
            "thought_1": "Done.", "tool_name_1": "submit", "tool_args_1": {"answer": 3}, "observation_1": "Completed.",
        })
    );
    assert_eq!(done.trajectory().flat_reasoning()["reasoning_0"], "Add.");
    assert_eq!(
        done.trajectory().to_string(),
        "1. thought: Add.\n1. call: add {\"a\":1,\"b\":2}\n1. observation: 3\n\
         2. thought: Done.\n2. call: submit {\"answer\":3}\n2. observation: Completed."
    );
}

#[tokio::test]
async fn dspy_react_v2_first_call_id_and_result_match() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "x"})),
            call("submit", json!({"answer": "y"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let history = serde_json::to_value(&done.history).unwrap();
    assert_eq!(history[1]["calls"][0]["id"], "call_0_0");
    assert_eq!(history[2]["results"][0]["call_id"], "call_0_0");
    // The inputs are said exactly once.
    let inputs = history
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["type"] == "inputs");
    assert_eq!(inputs.count(), 1);
    assert_eq!(history[3]["type"], "outputs");
}

#[tokio::test]
async fn finish_ends_the_loop_and_extract_gives_the_outputs() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "x"})),
            call("finish", json!({})).thinking("Enough."),
            say(r#"{"reasoning": "It says so.", "answer": "about x"}"#),
        ],
    )
    .map(|agent| agent.completion(Completion::Finish));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], "about x");
    assert_eq!(done.reasoning(), Some("It says so."));
    assert!(done.success());
    let steps = done.trajectory();
    assert_eq!(steps.steps()[1].tool_name, "finish");
    assert_eq!(steps.steps()[1].observation, "Completed.");
    // The extraction saw the inputs and the trajectory.
    let request = &played.model.requests()[2];
    let prompt: String = request
        .prompt
        .iter()
        .map(|message| message.text())
        .collect();
    assert!(
        prompt.contains("about x") && prompt.contains("search"),
        "{prompt}"
    );
}

#[tokio::test]
async fn submit_beside_other_calls_is_asked_for_alone() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            calls([
                ("submit", json!({"answer": "too early"})),
                ("search", json!({"query": "x"})),
            ]),
            call("submit", json!({"answer": "about x"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], "about x");
    let trajectory = done.trajectory();
    let steps = trajectory.steps();
    assert!(steps[0].is_error && steps[0].observation.as_str().unwrap().contains("alone"));
    assert_eq!(steps[1].observation, "about x");
}

#[tokio::test]
async fn the_first_valid_submit_wins() {
    let played = agent(
        "question -> answer: int",
        search_and_add(),
        [calls([
            ("submit", json!({"answer": "not a number"})),
            ("submit", json!({"answer": 2})),
            ("submit", json!({"answer": 3})),
        ])],
    );
    assert_eq!(
        played.call(values! { question: "q" }).await.outputs["answer"],
        2
    );
}

#[tokio::test]
async fn invalid_outputs_are_named_all_at_once_and_asked_for_again() {
    let played = agent(
        "question -> answer: int, sources: list[str]",
        search_and_add(),
        [
            call("submit", json!({"answer": "many"})),
            call("submit", json!({"answer": 4, "sources": ["a"]})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["sources"], json!(["a"]));
    let said = done.trajectory().steps()[0]
        .observation
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        said.contains("answer") && said.contains("sources"),
        "{said}"
    );
}

#[tokio::test]
async fn optional_and_defaulted_outputs_may_be_left_out() {
    let played = agent(
        "question -> answer: str, note: Optional[str], k: int = 7",
        Tools::new(),
        [call("submit", json!({"answer": "a"}))],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(
        serde_json::Value::Object(done.outputs.clone()),
        json!({"answer": "a", "note": null, "k": 7})
    );
}

#[tokio::test]
async fn lesson_a_plain_text_answer_is_taken_for_a_single_string_output() {
    let played = agent("question -> answer", search_and_add(), [say("Paris.")]);
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], "Paris.");
    assert_eq!(done.usage.requests, 1);
    assert!(done.success());
}

#[tokio::test]
async fn plain_words_before_any_call_get_one_reminder_where_a_form_was_asked_for() {
    for adapter in ["json", "chat", "xml", "tagged"] {
        let played = agent(
            "question -> answer",
            search_and_add(),
            [say("Rome."), say("Paris.")],
        )
        .map(|agent| agent.adapter(adapter.parse::<AdapterChoice>().unwrap()));
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.outputs["answer"], "Paris.", "{adapter}");
        assert!(done.success());
        let requests = played.model.requests();
        let told = requests[1].prompt.iter().last().unwrap().text();
        assert!(told.contains("You called no tool."), "{adapter}: {told}");
    }
}

#[tokio::test]
async fn dspy_forced_submit_on_empty_tool_calls_one_nudge_then_extract() {
    let played = agent(
        "question -> answer: int",
        search_and_add(),
        [
            say("The answer is 42."),
            say("As I said: 42."),
            say(r#"{"reasoning": "said so", "answer": 42}"#),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], 42);
    assert_eq!(done.usage.requests, 3);
    let requests = played.model.requests();
    // The nudge names the way out, and the extraction sees what was said.
    let nudge = requests[1].prompt.iter().last().unwrap().text();
    assert!(
        nudge.contains("submit") && nudge.contains("answer"),
        "{nudge}"
    );
    let seen: String = requests[2]
        .prompt
        .iter()
        .map(|message| message.text())
        .collect();
    assert!(
        seen.contains("The answer is 42.") && seen.contains("As I said: 42."),
        "{seen}"
    );
}

#[tokio::test]
async fn extract_after_a_limit_leaves_the_same_final_shape_in_the_history() {
    let played = agent(
        "question -> answer",
        Tools::new().with(search()),
        [
            call("search", json!({"query": "x"})),
            say(r#"{"reasoning": "r", "answer": "best guess"}"#),
        ],
    )
    .map(|agent| agent.max_iterations(1));
    let done = played.call(values! { question: "q" }).await;
    let last = serde_json::to_value(done.history.entries().last().unwrap()).unwrap();
    assert_eq!(last["values"], json!({"answer": "best guess"}));
    assert_eq!(last["thought"], "r");
    assert!(!done.success());
    assert_eq!(done.termination, TerminationReason::MaxIterations);
}

#[test]
fn udspy_react_forward_sync() {
    let model = enact::model::ScriptedModel::new([call("submit", json!({"answer": "a"}))]);
    let agent = ReAct::builder("question -> answer")
        .model(model)
        .build()
        .unwrap();
    let done = agent
        .call(values! { question: "q" })
        .blocking()
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.outputs["answer"], "a");
}

#[tokio::test]
async fn udspy_sync_in_async_is_a_clear_error() {
    let model = enact::model::ScriptedModel::new([]);
    let agent = ReAct::builder("question -> answer")
        .model(model)
        .build()
        .unwrap();
    let error = agent
        .call(values! { question: "q" })
        .blocking()
        .unwrap_err();
    assert_eq!(error.kind(), enact::ErrorKind::Misuse);
    assert!(error.to_string().contains("await"), "{error}");
}
