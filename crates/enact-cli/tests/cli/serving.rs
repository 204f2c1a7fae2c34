//! `enact mcp`: an agent as a tool of a client, whose person is asked; and servers that hang.

use std::time::Duration;

use enact::ToolContext;
use enact_mcp::{Environment, Mcp, Server};
use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{asking, run};
use crate::place::Place;

/// `enact mcp` over a folder, as a client sees it.
async fn serving(models: &TestServer, place: &Place) -> Server {
    let files = place.files.path().to_str().unwrap();
    let url = models.base_url();
    let args = [
        "mcp",
        "task -> answer",
        "--name",
        "writer",
        "--files",
        files,
    ];
    let args = args
        .into_iter()
        .chain(["--model", "m", "--no-probe", "--base-url", url]);
    let store = place.store();
    Mcp::stdio(env!("CARGO_BIN_EXE_enact"), args.chain(["--store", &store]))
        .environment(Environment::new())
        .timeout(Duration::from_secs(20))
        .connect()
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_s_person_is_asked_before_the_agent_writes() {
    let place = Place::new();
    let write = || Turn::call("write_file", json!({"path": "a.txt", "content": "hello"}));
    // The call that asks is given up, and made again with the answer.
    let models = TestServer::start([
        write(),
        write(),
        Turn::call("submit", json!({"answer": "done"})),
    ])
    .await;
    let server = serving(&models, &place).await;
    let tools = server.tools();
    let tool = tools.get("writer").unwrap();
    let args = || match json!({"task": "Write it."}) {
        Value::Object(args) => args,
        _ => panic!("an object"),
    };
    let context = ToolContext::detached("c");
    let asked = tool.call(args(), context.clone()).await.unwrap_err();
    let question = asked.into_question().expect("a question");
    assert!(
        question.contains("Confirm execution of write_file"),
        "{question}"
    );
    assert_eq!(place.written("a.txt"), None);
    assert!(
        question.contains("`decision` (one of \"approve\", \"always\", \"reject\")"),
        "{question}"
    );
    let context = context.with_answer(&question, "approve");
    let output = tool.call(args(), context).await.unwrap();
    assert_eq!(output.value, json!({"answer": "done"}));
    assert_eq!(place.written("a.txt").as_deref(), Some("hello"));
    server.shutdown().await;
    models.assert_complete();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_s_person_sees_what_a_write_would_change() {
    let place = Place::new();
    std::fs::write(place.files.path().join("a.txt"), "one\ntwo\n").unwrap();
    let edit = json!({"path": "a.txt", "old_text": "two", "new_text": "TWO"});
    let models = TestServer::start([Turn::call("edit_file", edit)]).await;
    let server = serving(&models, &place).await;
    let tools = server.tools();
    let args = enact::values! { task: "Edit it." };
    let context = ToolContext::detached("c");
    let asked = tools.get("writer").unwrap().call(args, context).await;
    let question = asked.unwrap_err().into_question().expect("a question");
    for part in ["a.txt (1 line added, 1 removed)", "-two", "+TWO"] {
        assert!(question.contains(part), "{part}: {question}");
    }
    server.shutdown().await;
}

#[test]
fn serving_ends_well_when_the_client_hangs_up_and_says_what_is_wrong_otherwise() {
    let models = TestServer::start_blocking([]);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"}}});
    let said = asking(&models, ["mcp", "task -> answer", "--model", "m"])
        .stdin(format!("{hello}\n"))
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(answer["result"]["serverInfo"]["name"], "enact");
    let said = asking(&models, ["mcp", "task answer"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stderr.contains("the signature is wrong"), "{said:?}");
    assert_eq!(said.stdout, "");
}

#[test]
fn a_served_agent_has_a_title_and_says_what_it_may_destroy() {
    let place = Place::new();
    let models = TestServer::start_blocking([]);
    let files = place.files.path().to_string_lossy().into_owned();
    let listed = |flags: &[&str]| -> Value {
        let request = |id: u32, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                           "clientInfo": {"name": "c", "version": "1"}});
        let lines = [
            request(1, "initialize", hello),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            request(2, "tools/list", json!({})),
        ];
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let args = ["mcp", "task -> answer", "--model=m", "--name=book_keeper"];
        let said = asking(&models, args.into_iter().chain(flags.iter().copied()))
            .stdin(lines)
            .said();
        let answer = said.stdout.lines().last().unwrap().to_owned();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["result"]["tools"][0].clone()
    };
    let tool = listed(&["--tools=calculator"]);
    assert_eq!(tool["title"], "Book keeper");
    assert_eq!(tool["annotations"]["readOnlyHint"], false);
    assert_eq!(tool["annotations"]["destructiveHint"], false);
    let tool = listed(&["--files", &files]);
    assert_eq!(tool["annotations"]["destructiveHint"], true);
}

#[test]
fn a_server_that_hangs_is_given_up_with_what_it_said_and_the_flag_that_helps() {
    let models = TestServer::start_blocking([]);
    let said = run(&models, ["task -> answer", "task=Do it."])
        .args(["--mcp", "sh -c 'echo waiting for a disk >&2; sleep 60'"])
        .args(["--mcp-start-timeout", "1500ms"])
        .said();
    assert_eq!(said.code, 1, "{said:?}");
    for words in [
        "was not ready within 1.5s",
        "it said: waiting for a disk",
        "sleep 60",
        "--mcp-start-timeout 3m",
    ] {
        assert!(said.error_line().contains(words), "{words}: {said:?}");
    }
}
