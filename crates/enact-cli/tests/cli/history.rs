//! Conversations that go on.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::run;

fn follow_up(history: &Value) -> (Value, Value) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("last.json");
    std::fs::write(&path, history.to_string()).unwrap();
    let server = TestServer::start_blocking([Turn::call("submit", json!({"answer": "b"}))]);
    let path = path.to_str().unwrap();
    let args = [
        "question -> answer",
        "question=and then?",
        "--history",
        path,
        "--json",
    ];
    let said = run(&server, args).said();
    assert_eq!(said.code, 0, "{said:?}");
    (said.json(), server.requests()[0].json()["messages"].clone())
}

#[test]
fn what_json_printed_is_a_history() {
    let server = TestServer::start_blocking([
        Turn::call("calculator", json!({"expression": "1 / 0"})).thinking("I try."),
        Turn::call("submit", json!({"answer": "none"})),
    ]);
    let args = [
        "question -> answer",
        "question=1/0?",
        "--tools=calculator",
        "--json",
    ];
    let first = run(&server, args).said().json();

    let (second, messages) = follow_up(&first);
    let before = first["history"].as_array().unwrap();
    let after = second["history"].as_array().unwrap();
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(
        after[before.len()],
        json!({"type": "inputs", "values": {"question": "and then?"}})
    );
    let text = messages.to_string();
    assert!(
        text.contains("1/0?") && text.contains("division by zero"),
        "{text}"
    );
    // Only the new run is told in the trajectory.
    assert_eq!(second["trajectory"].as_array().unwrap().len(), 1);

    let (of_list, messages_of_list) = follow_up(&first["history"]);
    assert_eq!(of_list["history"], second["history"]);
    assert_eq!(messages_of_list, messages);
}

#[test]
fn chat_messages_and_flat_trajectories_are_histories() {
    let (_, messages) = follow_up(&json!([
        {"role": "user", "content": "earlier question"},
        {"role": "assistant", "content": "earlier answer"},
    ]));
    let text = messages.to_string();
    assert!(
        text.contains("earlier question") && text.contains("earlier answer"),
        "{text}"
    );

    let (_, messages) = follow_up(&json!({
        "thought_0": "earlier thought",
        "tool_name_0": "search",
        "tool_args_0": {"query": "x"},
        "observation_0": "earlier finding",
    }));
    let text = messages.to_string();
    assert!(
        text.contains("earlier thought") && text.contains("earlier finding"),
        "{text}"
    );
}
