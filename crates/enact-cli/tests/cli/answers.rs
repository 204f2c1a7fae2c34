//! Answers that must not be lost: at a limit, and with servers that refuse what was asked.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::run;

fn step(name: &str, args: Value) -> Turn {
    let step = json!({"next_thought": "t", "next_tool_name": name, "next_tool_args": args});
    Turn::text(step.to_string())
}

fn refusal() -> Turn {
    let message = "registry.ollama.ai/library/gemma:2b does not support tools";
    Turn::status(400).body(json!({"error": {"message": message, "type": "api_error"}}).to_string())
}

#[test]
fn truth_an_answer_at_a_limit_is_printed() {
    let server = TestServer::start_blocking([
        Turn::call("calculator", json!({"expression": "1 + 1"})),
        Turn::call("calculator", json!({"expression": "2 + 2"})),
        Turn::text(r#"{"answer": "partial"}"#),
    ]);
    let arguments = [
        "question -> answer",
        "question=?",
        "--tools=calculator",
        "--max-iterations=2",
        "--json",
    ];
    let said = run(&server, arguments).said();
    assert_eq!(said.code, 4, "{}", said.stderr);
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(told["outputs"]["answer"], "partial");
    assert_eq!(told["termination_reason"], "max_iterations");
}

#[test]
fn truth_a_server_that_refuses_tools_is_asked_in_other_words() {
    let server = TestServer::start_blocking([
        refusal(),
        step("calculator", json!({"expression": "6 * 7"})),
        step("submit", json!({"answer": "42"})),
    ]);
    let arguments = ["question -> answer", "question=?", "--tools=calculator"];
    let said = run(&server, arguments).said();
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    assert_eq!(said.stdout, "42\n");
    let told = "the server accepts no tools for this model: continuing with the `json` adapter";
    assert!(said.stderr.contains(told), "{}", said.stderr);
    // It is not over, and there is nothing to do.
    for words in ["the model failed", "--adapter"] {
        assert!(!said.stderr.contains(words), "{}", said.stderr);
    }
}

#[test]
fn truth_a_refused_adapter_is_named_with_its_flag() {
    let server = TestServer::start_blocking([refusal()]);
    let arguments = [
        "question -> answer",
        "question=?",
        "--tools=calculator",
        "--adapter=native",
    ];
    let said = run(&server, arguments).said();
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("--adapter json"), "{}", said.stderr);
}
