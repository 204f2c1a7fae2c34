//! The first program of the README does what the README says.
#![cfg(feature = "providers")]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use enact_test_server::{Received, TestServer, Turn};
use serde_json::{Value, json};

const PROGRAM: &str = include_str!("readme/program.rs");

#[test]
fn the_readme_shows_the_program_that_is_tested() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README");
    let shown = readme
        .split("```rust")
        .nth(1)
        .and_then(|block| block.split_once('\n'))
        .and_then(|(_, block)| block.split_once("```"));
    let (shown, _) = shown.expect("the README shows a program");
    assert_eq!(
        unformatted(shown),
        unformatted(PROGRAM),
        "paste the program into tests/readme/program.rs"
    );
}

/// The page has longer lines than rustfmt allows.
fn unformatted(program: &str) -> String {
    let joined: String = program.split_whitespace().collect();
    joined.replace(",}", "}")
}

/// Replies as Claude would: looks the weather up, then submits.
fn reply(request: &Received) -> Turn {
    let asked = request.json();
    let messages = asked["messages"].as_array().expect("messages");
    let results = messages
        .iter()
        .filter(|message| message.to_string().contains("tool_result"));
    let (name, input) = match (messages.len(), results.count()) {
        (1, 0) => ("weather", json!({"city": "Paris"})),
        (_, 1) => (
            "submit",
            json!({"answer": "It's mild in Paris.", "celsius": 20}),
        ),
        _ => ("submit", json!({"answer": "Yes, by 5 °C.", "celsius": 5})),
    };
    let call = json!({"type": "tool_use", "id": format!("toolu_{}", messages.len()), "name": name, "input": input});
    match asked["stream"] == true {
        true => streamed(&call),
        false => Turn::status(200)
            .header("content-type", "application/json")
            .body(
                json!({
                    "id": "msg_1", "type": "message", "role": "assistant", "content": [call],
                    "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5},
                })
                .to_string(),
            ),
    }
}

fn streamed(call: &Value) -> Turn {
    let mut start = call.clone();
    start["input"] = json!({});
    let input = call["input"].to_string();
    let events = [
        json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "content": [],
            "usage": {"input_tokens": 10, "output_tokens": 1},
        }}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0,
               "delta": {"type": "input_json_delta", "partial_json": input}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
               "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    Turn::raw_chunks(events.map(|event| {
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    }))
}

#[test]
fn the_program_of_the_readme_runs_as_pasted() {
    let this = std::env::current_exe().expect("this test is a program");
    let folder = this.ancestors().nth(2).expect("a folder");
    let program = folder
        .join("examples/readme")
        .with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "`cargo test -p enact` builds the program that this test runs"
    );

    let server = TestServer::answering_anywhere(reply);
    let output = Command::new(program)
        .env("ANTHROPIC_API_KEY", "sk-ant-test")
        .env("ANTHROPIC_BASE_URL", server.base_url())
        .output()
        .expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "It's mild in Paris. (20 °C)\nYes, by 5 °C.\n");

    let requests = server.requests();
    assert_eq!(
        requests.len(),
        3,
        "a call of the tool, an answer, and a follow-up"
    );
    assert_eq!(requests[0].header("x-api-key"), Some("sk-ant-test"));
    assert_eq!(requests[0].json()["model"], "claude-sonnet-4-5");
    let follow_up = requests[2].text();
    assert!(
        follow_up.contains("What's the weather in Paris?"),
        "{follow_up}"
    );
    assert!(follow_up.contains("light wind"), "{follow_up}");
}
