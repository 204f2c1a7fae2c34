//! `--json`: one object, whatever happens.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{KEY, run};

#[test]
fn a_finished_run() {
    let server = TestServer::start_blocking([
        Turn::call("calculator", json!({"expression": "6 * 7"}))
            .thinking("I multiply.")
            .usage(100, 10)
            .cached_tokens(40),
        Turn::call("submit", json!({"answer": 42})).usage(150, 5),
    ]);
    let said = run(
        &server,
        [
            "question -> answer: int",
            "question=6 * 7?",
            "--tools",
            "calculator",
            "--json",
        ],
    )
    .said();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let mut object = said.json();
    assert!(object["run_id"].as_str().unwrap().len() > 10);
    assert!(object["execution_time"].as_f64().unwrap() >= 0.0);
    object["run_id"] = Value::Null;
    object["execution_time"] = Value::Null;
    let trace = object["trace"].take();
    assert_eq!(trace["total_iterations"], 2);
    assert_eq!(trace["steps"][0]["thought"], "I multiply.");
    assert_eq!(trace["steps"][0]["actions"][0]["kind"], "tool_call");
    assert_eq!(trace["steps"][1]["actions"][0]["kind"], "final_answer");
    assert_eq!(trace["total_tokens"]["input_tokens"], 250);
    assert_eq!(
        object,
        json!({
            "run_id": null,
            "status": "finished",
            "success": true,
            "termination_reason": "success",
            "inputs": {"question": "6 * 7?"},
            "outputs": {"answer": 42},
            "trajectory": [
                {
                    "thought": "I multiply.",
                    "tool_name": "calculator",
                    "tool_args": {"expression": "6 * 7"},
                    "observation": 42,
                    "is_error": false,
                },
                {
                    "thought": "",
                    "tool_name": "submit",
                    "tool_args": {"answer": 42},
                    "observation": "Completed.",
                    "is_error": false,
                },
            ],
            "history": [
                {"type": "inputs", "values": {"question": "6 * 7?"}},
                {
                    "type": "assistant",
                    "text": "I multiply.",
                    "calls": [
                        {"id": "call_1", "name": "calculator", "args": {"expression": "6 * 7"}}
                    ],
                },
                {
                    "type": "results",
                    "results": [{"call_id": "call_1", "name": "calculator", "value": 42}],
                },
                {"type": "outputs", "values": {"answer": 42}, "call_id": "call_2"},
            ],
            "usage": {
                "requests": 2,
                "input_tokens": 250,
                "output_tokens": 15,
                "cached_input_tokens": 40,
            },
            "trace": null,
            "execution_time": null,
            "pending": [],
            "error": null,
        })
    );
    let request = &server.requests()[0];
    assert_eq!(
        request.header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(request.json()["model"], "test-model");
    server.assert_complete();
}

#[test]
fn a_run_that_ran_out_of_steps_answers_and_says_so() {
    let server = TestServer::start_blocking([
        Turn::call("calculator", json!({"expression": "1 + 1"})),
        Turn::text(r#"{"reasoning": "It was 2.", "answer": 2}"#),
    ]);
    let said = run(
        &server,
        [
            "question -> answer: int",
            "question=?",
            "--tools=calculator",
            "--max-iterations=1",
            "--json",
        ],
    )
    .said();
    assert_eq!((said.code, said.stderr.as_str()), (4, ""));
    let object = said.json();
    assert_eq!(object["status"], "finished");
    assert_eq!(object["success"], false);
    assert_eq!(object["termination_reason"], "max_iterations");
    assert_eq!(object["outputs"], json!({"answer": 2}));
    server.assert_complete();
}

#[test]
fn a_run_that_needs_a_person_pauses() {
    let folder = tempfile::tempdir().unwrap();
    let args = json!({"path": "new.txt", "content": "hello"});
    let server = TestServer::start_blocking([Turn::call("write_file", args.clone())]);
    let files = folder.path().to_str().unwrap();
    let said = run(
        &server,
        [
            "task -> done: bool",
            "task=write",
            "--files",
            files,
            "--json",
        ],
    )
    .said();
    assert_eq!((said.code, said.stderr.as_str()), (3, ""));
    let object = said.json();
    assert_eq!(object["status"], "paused");
    assert_eq!(object["success"], false);
    assert_eq!(object["termination_reason"], Value::Null);
    assert_eq!(object["outputs"], json!({}));
    let pending = &object["pending"];
    assert_eq!(pending.as_array().unwrap().len(), 1);
    assert_eq!(
        pending[0]["tool_call"],
        json!({"name": "write_file", "args": args, "call_id": "call_1"})
    );
    assert!(!pending[0]["confirmation_id"].as_str().unwrap().is_empty());
    assert!(
        pending[0]["question"]
            .as_str()
            .unwrap()
            .contains("write_file")
    );
    assert!(!folder.path().join("new.txt").exists());
    server.assert_complete();
}

#[test]
fn completion_temperature_and_adapter_reach_the_model() {
    let server = TestServer::start_blocking([
        Turn::text(r#"{"next_thought": "t", "next_tool_name": "finish", "next_tool_args": {}}"#),
        Turn::text(r#"{"reasoning": "r", "answer": "a"}"#),
    ]);
    let said = run(
        &server,
        [
            "question -> answer",
            "question=?",
            "--completion=finish",
            "--temperature=0.5",
            "--adapter=json",
            "--instructions=Answer in Latin.",
            "--model=other",
            "--json",
        ],
    )
    .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["outputs"], json!({"answer": "a"}));
    let request = server.requests()[0].json();
    assert_eq!(request["temperature"], 0.5);
    assert_eq!(request["model"], "other");
    assert!(request.get("tools").is_none());
    let system = request["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("Answer in Latin."), "{system}");
}
