//! A step that waits for a person is a step like any other, in every view.

use enact::model::{call, calls};
use enact::run::Entry;
use enact::{Decision, Tools, values};
use serde_json::json;

use crate::{add, agent, effectful_search, paused};

fn asking() -> Tools {
    Tools::new()
        .with(effectful_search().require_confirmation())
        .with(add())
}

#[tokio::test]
async fn truth_a_step_that_waits_is_in_every_view() {
    let played = agent(
        "question -> answer",
        asking(),
        [
            calls([
                ("add", json!({"a": 1, "b": 2})),
                ("search", json!({"query": "x"})),
            ])
            .thinking("I have to look it up."),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let outcome = played.agent.call(values! { question: "q" }).await.unwrap();
    let waiting = paused(outcome);
    let run = waiting.run();

    let trajectory = run.trajectory();
    let [first, second] = trajectory.steps() else {
        panic!("{trajectory:?}");
    };
    assert_eq!(first.thought, "I have to look it up.");
    assert_eq!(
        (first.observation.clone(), first.is_pending),
        (json!(3), false)
    );
    assert_eq!(second.tool_name, "search");
    assert_eq!(second.tool_args, values! { query: "x" });
    assert!(second.is_pending);
    assert_eq!(trajectory.flat()["tool_name_1"], "search");
    assert!(
        trajectory.to_string().contains("2. pending:"),
        "{trajectory}"
    );

    let scratchpad = run.scratchpad();
    assert!(
        scratchpad.contains("Thought: I have to look it up."),
        "{scratchpad}"
    );
    assert!(scratchpad.contains("Action: search"), "{scratchpad}");
    assert!(
        scratchpad.contains("Observation: (pending)"),
        "{scratchpad}"
    );

    let history = run.history();
    let Some(Entry::Results { results }) = history.entries().last() else {
        panic!("{history:?}");
    };
    assert!(!results[0].observation.is_pending && results[1].observation.is_pending);

    assert_eq!(waiting.context().trajectory, trajectory);
    assert_eq!(waiting.questions()[0].thought, "I have to look it up.");
    assert_eq!(run.open_questions()[0].thought, "I have to look it up.");
    // The log does not hold the thought twice.
    let log = serde_json::to_string(run.records()).unwrap();
    assert_eq!(log.matches("I have to look it up.").count(), 1, "{log}");

    // Once it is over, nothing of it is left.
    let id = waiting.questions()[0].confirmation_id.clone();
    let run = enact::Run::from(waiting);
    let done = played.agent.resume(run).answer(id, Decision::Approve).await;
    let done = done.unwrap().finished().unwrap();
    assert!(
        !serde_json::to_string(&done.history)
            .unwrap()
            .contains("pending")
    );
    let steps = done.trajectory();
    assert_eq!(steps.steps()[1].observation, "about x");
    // The next prompt shows the step once.
    let prompt = &played.model.requests()[1].prompt;
    let said = prompt
        .iter()
        .filter(|message| message.text().contains("look it up"));
    assert_eq!(said.count(), 1);
}

#[tokio::test]
async fn truth_a_follow_up_of_a_run_that_waits_is_a_valid_conversation() {
    let played = agent(
        "question -> answer",
        asking(),
        [
            call("search", json!({"query": "x"})).with_ids(["p1"]),
            call("submit", json!({"answer": "b"})),
        ],
    );
    let outcome = played.agent.call(values! { question: "q" }).await.unwrap();
    let history = paused(outcome).run().history();
    let done = played
        .agent
        .call(values! { question: "and?" })
        .history(&history);
    assert!(done.await.unwrap().finished().unwrap().success());
    let wire = serde_json::to_string(&history.to_chat_messages()).unwrap();
    // Each call has its answer.
    assert_eq!(wire.matches("\"p1\"").count(), 2, "{wire}");
}
