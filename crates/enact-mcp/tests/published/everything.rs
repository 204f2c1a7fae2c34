//! The server that exists to test clients, over standard input and output and over HTTP.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use enact::model::call;
use enact::{Outcome, Update};
use enact_mcp::{Environment, ErrorKind, Mcp, Server};
use serde_json::{Value, json};

use crate::place::program;
use crate::{agent, observations, task};

async fn server() -> Server {
    let plan = Mcp::stdio(program("mcp-server-everything"), ["stdio"]);
    plan.connect().await.expect("it starts")
}

#[tokio::test]
async fn values_pictures_links_and_progress_keep_their_types() {
    let server = server().await;
    let agent = agent(
        server.tools(),
        [
            call("get-sum", json!({"a": 2, "b": 3})),
            call("get-structured-content", json!({"location": "Chicago"})),
            call("get-tiny-image", json!({})),
            call("get-resource-links", json!({"count": 1})),
            call(
                "trigger-long-running-operation",
                json!({"duration": 0.2, "steps": 2}),
            ),
            call("get-sum", json!({"a": "two"})),
        ],
    );
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    let running = agent.call(task()).on_update(move |update| {
        if let Update::Progress { message, .. } = update {
            ears.lock().unwrap().push((*message).to_owned());
        }
    });
    let outcome = running.await.unwrap();
    let Outcome::Finished(prediction) = &outcome else {
        panic!("it asks nothing")
    };
    let pictures = serde_json::to_string(prediction.run()).unwrap();
    assert!(pictures.contains("image/png"), "the picture is in the log");
    let seen = observations(outcome);
    assert_eq!(seen[0], "The sum of 2 and 3 is 5.");
    assert_eq!(seen[1]["conditions"], "Light rain / drizzle", "{}", seen[1]);
    assert!(seen[2].to_string().contains("image"), "{}", seen[2]);
    let links = seen[3].as_array().expect("several parts");
    assert!(
        links.iter().any(|part| part["type"] == "resource_link"),
        "{links:?}"
    );
    assert!(seen[4].to_string().contains("completed"), "{}", seen[4]);
    assert!(
        seen[5].to_string().contains("expected a number"),
        "{}",
        seen[5]
    );
    let heard = heard.lock().unwrap().clone();
    assert!(heard.contains(&"1 of 2".to_owned()), "{heard:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_form_of_the_server_is_a_question_for_the_person() {
    let server = server().await;
    let ask = "trigger-elicitation-request";
    let agent = agent(server.tools(), [call(ask, json!({}))]);
    let Outcome::Paused(paused) = agent.call(task()).await.unwrap() else {
        panic!("the server asks")
    };
    let question = paused.questions()[0].question.clone();
    assert!(question.contains("`name`"), "{question}");
    // In another process, the call would be made anew in the same way.
    let answer = json!({"name": "Ada Lovelace", "check": true}).to_string();
    let seen = observations(agent.resume(paused).respond(answer).await.unwrap());
    assert!(seen[0].to_string().contains("Ada Lovelace"), "{}", seen[0]);
    server.shutdown().await;
}

#[tokio::test]
async fn a_server_sees_only_what_it_may_see() {
    let plan = Mcp::stdio(program("mcp-server-everything"), ["stdio"])
        .environment(Environment::new().allowing(["CARGO_MANIFEST_DIR"]))
        .variable("GIVEN", "yes");
    let server = plan.connect().await.unwrap();
    let agent = agent(server.tools(), [call("get-env", json!({}))]);
    let seen = observations(agent.call(task()).await.unwrap());
    let seen: Value = serde_json::from_str(seen[0].as_str().unwrap()).unwrap();
    let names: Vec<&String> = seen.as_object().unwrap().keys().collect();
    assert_eq!(seen["GIVEN"], "yes");
    assert!(seen["PATH"].is_string());
    assert!(seen["CARGO_MANIFEST_DIR"].is_string());
    let others = names
        .iter()
        .filter(|name| name.starts_with("CARGO_"))
        .count();
    assert_eq!(others, 1, "{names:?}");
    server.shutdown().await;
}

/// Ends a process when the test is over.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn the_same_server_over_http_gives_the_same() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let server = Command::new(program("mcp-server-everything"))
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _server = Ended(server);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    let server = loop {
        match Mcp::http(&url).header("X-Test", "1").connect().await {
            Ok(server) => break server,
            // It is not listening yet.
            Err(error) if error.kind() == ErrorKind::Start => {
                assert!(tokio::time::Instant::now() < deadline, "{error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Err(error) => panic!("{error}"),
        }
    };
    let agent = agent(
        server.tools(),
        [
            call("echo", json!({"message": "hello"})),
            call("get-structured-content", json!({"location": "Chicago"})),
        ],
    );
    let seen = observations(agent.call(task()).await.unwrap());
    assert_eq!(seen[0], "Echo: hello");
    assert_eq!(seen[1]["conditions"], "Light rain / drizzle");
    server.shutdown().await;
}
