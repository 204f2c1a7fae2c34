//! Traces and logs: only when the environment asks for them, and never in the way.

use std::time::{Duration, Instant};

use enact_test_server::{Collector, TestServer, Turn};
use serde_json::json;

use crate::command::{Enact, KEY, run};
use crate::place::{Place, pending};

const CAPTURE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

fn server() -> TestServer {
    TestServer::start_blocking([
        Turn::call("calculator", json!({"expression": "6 * 7"}))
            .thinking("I multiply.")
            .usage(100, 10),
        Turn::call("submit", json!({"answer": 42})).usage(150, 5),
    ])
}

fn calculate(server: &TestServer) -> Enact {
    let arrow = "question -> answer: int";
    run(
        server,
        [arrow, "question=6 * 7?", "--tools", "calculator", "--json"],
    )
}

fn exporting(enact: Enact, endpoint: &str) -> Enact {
    enact.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
}

#[test]
fn a_run_is_one_tree_at_the_collector() {
    let (collector, server) = (Collector::start(), server());
    let said = exporting(calculate(&server), collector.endpoint())
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=blue")
        .env("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
        .said();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    // All was sent before the process ended.
    let spans = collector.spans();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    let (chat, tool) = ("chat test-model", "execute_tool calculator");
    assert_eq!(names, ["run", "invoke_agent", chat, tool, chat]);
    assert!(spans[0].parent.is_empty());
    assert!(spans[1].is_below(&spans[0]));
    assert!(spans[2..].iter().all(|span| span.is_below(&spans[1])));
    let object = said.json();
    let agent = &spans[1].attributes;
    assert_eq!(agent["gen_ai.conversation.id"], object["run_id"]);
    assert_eq!(agent["gen_ai.usage.input_tokens"], 250);
    assert_eq!(agent["gen_ai.usage.output_tokens"], 15);
    assert_eq!(object["usage"]["input_tokens"], 250);
    assert_eq!(spans[0].resource["service.name"], "enact");
    assert_eq!(spans[0].resource["deployment.environment"], "test");
    let requests = collector.requests();
    assert_eq!(requests[0].header("x-team"), Some("blue"));
    // Neither what was said nor the key.
    let told = format!("{spans:?}");
    for word in ["6 * 7", "I multiply", KEY] {
        assert!(!told.contains(word), "{word}: {told}");
    }
}

#[test]
fn content_is_sent_when_asked_for_and_the_key_never() {
    let (collector, server) = (Collector::start(), server());
    let said = exporting(calculate(&server), collector.endpoint())
        .env(CAPTURE, "true")
        .env("OTEL_SERVICE_NAME", "sums")
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let spans = collector.spans();
    assert_eq!(spans[0].resource["service.name"], "sums");
    let told = format!("{spans:?}");
    for word in ["6 * 7?", "I multiply."] {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert!(!told.contains(KEY), "{told}");
}

#[test]
fn a_resumed_run_is_a_new_trace_of_the_same_conversation() {
    let (collector, place) = (Collector::start(), Place::new());
    let server = TestServer::start_blocking([
        Turn::call("write_file", json!({"path": "a.txt", "content": "hello"})),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let said = exporting(place.run(&server), collector.endpoint()).said();
    assert_eq!((said.code, said.stderr.as_str()), (3, ""));
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap();
    let resume = place.enact([
        "resume",
        run_id,
        "--approve",
        &pending(&object)[0],
        "--json",
    ]);
    let said = exporting(resume, collector.endpoint()).said();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let spans = collector.spans();
    let agents: Vec<_> = spans
        .iter()
        .filter(|span| span.name == "invoke_agent")
        .collect();
    assert_eq!(agents.len(), 2);
    assert_ne!(agents[0].trace, agents[1].trace);
    for (agent, ending) in agents.iter().zip(["paused", "success"]) {
        assert_eq!(agent.attributes["gen_ai.conversation.id"], run_id);
        assert_eq!(agent.attributes["enact.run.ending"], ending);
    }
}

#[test]
fn a_dead_collector_costs_one_line_and_little_time() {
    // The one refuses, the other takes connections and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (silent_at, dead_at) = (silent.local_addr().unwrap(), dead.local_addr().unwrap());
    drop(dead);
    for address in [dead_at, silent_at] {
        let server = server();
        let began = Instant::now();
        let said = exporting(calculate(&server), &format!("http://{address}")).said();
        let took = began.elapsed();
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(said.json()["outputs"]["answer"], 42);
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
        assert!(
            said.stderr
                .starts_with("warning: traces could not be sent to http://127.0.0.1:")
        );
        // Two seconds for what is left, and the rest for a busy machine.
        assert!(took < Duration::from_secs(8), "{took:?}");
    }
}

#[test]
fn settings_that_cannot_work_are_named_and_stop_nothing() {
    for (name, value, word) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf"),
        ("ENACT_LOG", "=,=loud", "ENACT_LOG"),
    ] {
        let (collector, server) = (Collector::start(), server());
        let said = exporting(calculate(&server), collector.endpoint())
            .env(name, value)
            .said();
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
        assert!(said.stderr.contains(word), "{}", said.stderr);
    }
}

#[test]
fn nothing_is_sent_where_that_is_forbidden() {
    for (name, value) in [
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_TRACES_EXPORTER", "none"),
    ] {
        let (collector, server) = (Collector::start(), server());
        let said = exporting(calculate(&server), collector.endpoint())
            .env(name, value)
            .said();
        assert_eq!((said.code, said.stderr.as_str()), (0, ""));
        assert_eq!(collector.requests().len(), 0);
    }
}

#[test]
fn the_log_tells_what_was_done_and_not_what_was_said() {
    for name in ["ENACT_LOG", "RUST_LOG"] {
        let server = server();
        let said = calculate(&server)
            .env(name, "trace")
            .env(CAPTURE, "true")
            .said();
        assert_eq!(said.code, 0, "{said:?}");
        said.json();
        // Two requests, one tool, the agent and the run.
        let lines: Vec<&str> = said.stderr.lines().collect();
        assert_eq!(lines.len(), 5, "{}", said.stderr);
        assert!(
            said.stderr.contains("gen_ai.tool.name=\"calculator\""),
            "{}",
            said.stderr
        );
        assert!(
            said.stderr.contains("gen_ai.usage.input_tokens=100"),
            "{}",
            said.stderr
        );
        for word in ["6 * 7", "I multiply", "hyper", "sqlx"] {
            assert!(!said.stderr.contains(word), "{word}: {}", said.stderr);
        }
    }
    let server = server();
    let said = calculate(&server)
        .env("ENACT_LOG", "off")
        .env("RUST_LOG", "info")
        .said();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
}
