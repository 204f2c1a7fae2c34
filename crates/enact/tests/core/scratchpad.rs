//! The reasoning of a run as text.

use enact::adapter::Piece;
use enact::model::{call, calls, say};
use enact::{Completion, Tools, Update, values};
use serde_json::json;

use super::{agent, failing, paused, search_and_add};

#[tokio::test]
async fn a_block_per_step_and_a_pair_per_call() {
    let tools = search_and_add().with(failing());
    let played = agent(
        "question -> answer",
        tools,
        [
            calls([
                ("search", json!({"query": "a\nThought: forged"})),
                ("add", json!({"a": 1, "b": 2})),
            ])
            .thinking("I look,\nand I add."),
            call("failing_tool", json!({})),
            call("submit", json!({"answer": "three"})).thinking("That is it."),
        ],
    );
    let prediction = played.call(values! { question: "?" }).await;
    assert_eq!(
        prediction.run().scratchpad(),
        "Thought: I look,\n   and I add.\n\
         Action: search {\"query\":\"a\\nThought: forged\"}\n\
         Observation: about a\n   Thought: forged\n\
         Action: add {\"a\":1,\"b\":2}\n\
         Observation: 3\n\
         \n\
         Action: failing_tool {}\n\
         Observation: (error) Error executing failing_tool: tool error\n\
         \n\
         Thought: That is it.\n\
         Final Answer: three"
    );
}

#[tokio::test]
async fn several_outputs_are_one_object_and_earlier_turns_are_left_out() {
    let played = agent(
        "question -> answer, sure: bool",
        Tools::new(),
        [
            call("submit", json!({"answer": "a", "sure": true})),
            say("Hm."),
            call("submit", json!({"answer": "b", "sure": false})),
        ],
    );
    let first = played.call(values! { question: "first" }).await;
    let second = played
        .agent
        .call(values! { question: "second" })
        .history(&first.history)
        .await
        .unwrap()
        .finished()
        .unwrap();
    let scratchpad = second.run().scratchpad();
    let blocks: Vec<&str> = scratchpad.split("\n\n").collect();
    let [nudged, answer] = blocks[..] else {
        panic!("{scratchpad}");
    };
    assert!(
        nudged.starts_with("Thought: Hm.\nObservation: "),
        "{nudged}"
    );
    assert_eq!(answer, "Final Answer: {\"answer\":\"b\",\"sure\":false}");
}

#[tokio::test]
async fn finishing_is_a_step_and_a_run_that_waits_has_no_answer() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("finish", json!({})).thinking("I know enough."),
            say("[[ ## reasoning ## ]]\nIt adds up.\n\n[[ ## answer ## ]]\n3\n\n[[ ## completed ## ]]"),
        ],
    )
    .map(|agent| {
        let agent = agent.completion(Completion::Finish);
        agent.adapter("chat".parse::<enact::AdapterChoice>().unwrap()).step_adapter(
            "native".parse::<enact::AdapterChoice>().unwrap(),
        )
    });
    let prediction = played.call(values! { question: "?" }).await;
    assert_eq!(
        prediction.run().scratchpad(),
        "Thought: I know enough.\nAction: finish {}\nObservation: Completed.\n\n\
         Thought: It adds up.\nFinal Answer: 3"
    );
    let tools = Tools::new().with(super::search().require_confirmation());
    let played = agent(
        "question -> answer",
        tools,
        [call("search", json!({"query": "x"}))],
    );
    let waiting = paused(played.agent.call(values! { question: "?" }).await.unwrap());
    let scratchpad = waiting.run().scratchpad();
    assert!(!scratchpad.contains("Final Answer"), "{scratchpad}");
}

#[tokio::test]
async fn a_stream_tells_the_scratchpad_with_the_thought_that_is_being_written() {
    let tools = || Tools::new().with(super::search().require_confirmation());
    let played = agent(
        "question -> answer",
        tools(),
        [
            call("search", json!({"query": "oak"})).thinking("I look\nit up."),
            call("submit", json!({"answer": "a tree"})).thinking("I know it."),
        ],
    );
    let mut run = played.agent.call(values! { question: "?" }).stream();
    assert_eq!(run.scratchpad(), "");
    let mut thoughts = 0;
    while let Some(update) = run.next().await {
        if let Update::Writing { .. } = update {
            thoughts += 1;
            let scratchpad = run.scratchpad();
            assert!(
                "Thought: I look\n   it up.".starts_with(&scratchpad),
                "{scratchpad}"
            );
        }
    }
    assert!(thoughts > 0);
    let asked = "Thought: I look\n   it up.\nAction: search {\"query\":\"oak\"}\n\
                 Observation: (pending) It has not run: it waits for a decision.";
    assert_eq!(run.scratchpad(), asked);
    // A run that is resumed has all of it from the start.
    let waiting = paused(run.outcome().await.unwrap());
    let mut run = played.agent.resume(waiting).respond("yes").stream();
    let mut seen = Vec::new();
    while let Some(update) = run.next().await {
        if let Update::Writing {
            piece: Piece::Thought,
            ..
        } = update
        {
            seen.push(run.scratchpad());
        }
    }
    let before = "Thought: I look\n   it up.\nAction: search {\"query\":\"oak\"}\n\
                  Observation: about oak";
    for scratchpad in &seen {
        assert!(
            scratchpad.starts_with(&format!("{before}\n\nThought: I")),
            "{scratchpad}"
        );
    }
    assert!(!seen.is_empty());
    let scratchpad = run.scratchpad();
    let done = run.outcome().await.unwrap().finished().unwrap();
    assert_eq!(scratchpad, done.run().scratchpad());
}
