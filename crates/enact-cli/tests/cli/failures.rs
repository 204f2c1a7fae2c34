//! What a provider does wrong, and what a person interrupts.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{KEY, Said, run};

#[test]
fn a_provider_error_keeps_what_the_run_learned() {
    let body = json!({"error": {"message": format!("bad key {KEY}\nsecond line")}}).to_string();
    let server = TestServer::start_blocking([
        Turn::call("calculator", json!({"expression": "1 + 1"})).usage(10, 2),
        Turn::status(401).body(body),
    ]);
    let args = [
        "question -> answer: int",
        "question=?",
        "--tools=calculator",
        "--json",
    ];
    let said = run(&server, args).said();
    assert_eq!(said.code, 1);
    let object = said.json();
    assert_eq!(object["status"], "failed");
    assert_eq!(object["termination_reason"], Value::Null);
    assert_eq!(object["error"]["kind"], "authentication");
    assert_eq!(object["error"]["message"], said.error_line());
    assert_eq!(object["trajectory"][0]["observation"], 2);
    assert_eq!(object["usage"]["requests"], 1);
    assert!(object["run_id"].is_string());
}

#[test]
fn a_provider_error_in_plain_words() {
    let server = TestServer::start_blocking([Turn::status(404).body("{}")]);
    let said = run(&server, ["question -> answer", "question=?"]).said();
    assert_eq!(said.code, 1);
    assert!(said.error_line().contains("test-model"), "{said:?}");
    assert!(said.stderr.contains("failed · 0 steps"), "{said:?}");
    let told = said.stderr.matches("has no model `test-model`");
    assert_eq!(told.count(), 1, "told twice: {said:?}");
    assert_eq!(said.stdout, "");
}

#[test]
fn a_run_at_its_limit_tells_each_problem_once() {
    let server = TestServer::answering_anywhere(|_| Turn::text("nothing of use"));
    let said = run(
        &server,
        [
            "question -> answer: int",
            "question=?",
            "--max-iterations=1",
        ],
    )
    .said();
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:?}");
    let told = said.stderr.matches("out of steps; answering").count();
    assert_eq!(told, 1, "{said:?}");
    // The last one is the error, and is not asked again.
    assert!(said.error_line().contains("the last problem: "), "{said:?}");
    let again = said.stderr.matches("asking again").count();
    assert_eq!(server.requests().len(), 1 + again + 1, "{said:?}");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let said = crate::command::enact([
        "run",
        "q -> a",
        "q=1",
        "--model=m",
        "--base-url=http://127.0.0.1:1/v1",
        "--json",
    ])
    .said();
    assert_eq!(said.code, 1);
    assert_eq!(said.json()["error"]["kind"], "connection");
    assert!(said.error_line().contains("http://127.0.0.1:1/v1"));
}

#[cfg(unix)]
#[test]
fn an_interrupt_cancels_the_run() {
    let server = TestServer::start_blocking([Turn::text("thinking").then_stall()]);
    let child = run(&server, ["question -> answer", "question=?", "--json"]).spawn();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(server.wait_for_requests(1));
    let id = child.id().to_string();
    let killed = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status()
        .unwrap();
    assert!(killed.success());
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, 1);
    let object = said.json();
    assert_eq!(object["status"], "cancelled");
    assert_eq!(object["termination_reason"], "cancelled");
    assert_eq!(object["error"]["kind"], "cancelled");
    assert_eq!(said.error_line(), "the run was cancelled");
}
