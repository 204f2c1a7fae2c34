//! The test server as a client sees it, byte by byte.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use enact_test_server::{Gate, TestServer, Turn};
use serde_json::json;

fn connect(server: &TestServer) -> TcpStream {
    let address = server.base_url();
    let address = address.strip_prefix("http://").unwrap();
    TcpStream::connect(address.strip_suffix("/v1").unwrap()).unwrap()
}

fn post(socket: &mut TcpStream, body: &str) {
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: test\r\nX-Kind: a\r\n";
    let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    socket.write_all(request.as_bytes()).unwrap();
}

/// Reads until the text so far ends with this.
fn read_until(socket: &mut TcpStream, end: &str) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(end.as_bytes()) {
        assert_eq!(socket.read(&mut byte).unwrap(), 1, "the connection ended");
        bytes.push(byte[0]);
    }
    String::from_utf8(bytes).unwrap()
}

fn read_body(socket: &mut TcpStream) -> (String, serde_json::Value) {
    let head = read_until(socket, "\r\n\r\n");
    let length = head.split("content-length: ").nth(1).unwrap();
    let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    socket.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

#[test]
fn one_connection_serves_several_requests() {
    let server = TestServer::start_blocking([
        Turn::text("hi").usage(7, 2).cached_tokens(5),
        Turn::calls([("add", json!({"a": 1})), ("add", json!({"a": 2}))]),
    ]);
    let mut socket = connect(&server);

    post(&mut socket, "{}");
    let (_, first) = read_body(&mut socket);
    assert_eq!(first["choices"][0]["message"]["content"], "hi");
    assert_eq!(first["choices"][0]["finish_reason"], "stop");
    assert_eq!(first["usage"]["prompt_tokens_details"]["cached_tokens"], 5);

    post(&mut socket, "{\"n\":2}");
    let (_, second) = read_body(&mut socket);
    let message = &second["choices"][0]["message"];
    assert_eq!(message["tool_calls"][1]["id"], "call_2");
    assert_eq!(message["content"], json!(null));

    server.assert_complete();
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].header("x-kind"), Some("a"));
    assert_eq!(requests[1].json(), json!({"n": 2}));
    assert_eq!((requests[0].connection, requests[1].connection), (1, 1));
}

#[test]
fn a_stream_is_chunked_events() {
    let server = TestServer::start_blocking([Turn::text("abc").in_pieces(2)]);
    let mut socket = connect(&server);
    post(&mut socket, "{\"stream\":true}");
    let answer = read_until(&mut socket, "0\r\n\r\n");
    assert!(answer.contains("content-type: text/event-stream"));
    assert!(
        answer.contains("\"delta\":{\"content\":\"ab\"}"),
        "{answer}"
    );
    assert!(answer.contains("\"delta\":{\"content\":\"c\"}"), "{answer}");
    assert!(answer.contains("data: [DONE]"));
}

#[test]
fn raw_chunks_are_written_as_they_are() {
    let server = TestServer::start_blocking([Turn::raw_chunks(["da", "ta: x\n\n"])]);
    let mut socket = connect(&server);
    post(&mut socket, "{}");
    let answer = read_until(&mut socket, "0\r\n\r\n");
    assert!(
        answer.ends_with("\r\n\r\n2\r\nda\r\n7\r\nta: x\n\n\r\n0\r\n\r\n"),
        "{answer}"
    );
}

#[test]
fn a_cut_ends_the_connection_in_the_middle() {
    let server = TestServer::start_blocking([Turn::text("abc").then_cut()]);
    let mut socket = connect(&server);
    post(&mut socket, "{\"stream\":true}");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("abc"));
    assert!(!answer.contains("[DONE]"));
    assert!(!answer.ends_with("0\r\n\r\n"));
}

#[test]
fn a_status_comes_with_its_headers_and_body() {
    let turn = Turn::status(429)
        .header("retry-after", "1")
        .body("{\"error\":{}}");
    let server = TestServer::start_blocking([turn]);
    let mut socket = connect(&server);
    post(&mut socket, "{}");
    let (head, body) = read_body(&mut socket);
    assert!(head.starts_with("HTTP/1.1 429 "));
    assert!(head.contains("retry-after: 1\r\n"));
    assert_eq!(body, json!({"error": {}}));
}

#[test]
#[should_panic(expected = "0 turn(s) left over, 1 request(s) too many")]
fn a_request_past_the_end_is_answered_and_told() {
    let server = TestServer::start_blocking([]);
    let mut socket = connect(&server);
    post(&mut socket, "{}");
    let (head, body) = read_body(&mut socket);
    assert!(head.starts_with("HTTP/1.1 500 "));
    let message = body["error"]["message"].as_str().unwrap();
    assert_eq!(message, "the script has no turn left for request 1");
    server.assert_complete();
}

#[test]
#[should_panic(expected = "1 turn(s) left over")]
fn turns_left_over_are_told() {
    TestServer::start_blocking([Turn::text("hi")]).assert_complete();
}

#[test]
fn another_address_costs_no_turn() {
    let server = TestServer::start_blocking([]);
    let mut socket = connect(&server);
    socket.write_all(b"GET /v2 HTTP/1.1\r\n\r\n").unwrap();
    let (head, _) = read_body(&mut socket);
    assert!(head.starts_with("HTTP/1.1 404 "));
    server.assert_complete();
}

#[test]
fn a_function_answers_by_what_is_asked() {
    let server = TestServer::answering_blocking(|received| match received.json()["n"].as_u64() {
        Some(1) => Turn::call("add", json!({})),
        _ => Turn::text(received.text()),
    });
    let mut socket = connect(&server);
    for (body, content, call) in [
        ("{\"n\":1}", json!(null), json!("call_1")),
        ("{\"n\":2}", json!("{\"n\":2}"), json!(null)),
        ("{\"n\":1}", json!(null), json!("call_2")),
    ] {
        post(&mut socket, body);
        let (_, answer) = read_body(&mut socket);
        let message = &answer["choices"][0]["message"];
        assert_eq!(message["content"], content);
        assert_eq!(message["tool_calls"][0]["id"], call);
    }
    let asked: Vec<_> = server.requests().iter().map(|one| one.text()).collect();
    assert_eq!(asked, ["{\"n\":1}", "{\"n\":2}", "{\"n\":1}"]);
    server.assert_complete();
}

#[test]
#[should_panic(expected = "it has no script")]
fn a_function_takes_no_further_turns() {
    TestServer::answering_blocking(|_| Turn::text("hi")).push(Turn::text("never"));
}

#[test]
fn a_turn_behind_a_gate_waits_until_it_is_opened() {
    let gate = Gate::closed();
    let server = TestServer::start_blocking([Turn::text("late").behind(&gate), Turn::text("soon")]);
    let mut first = connect(&server);
    post(&mut first, "{}");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(server.wait_for_requests(1));
    // Others are served meanwhile.
    let mut second = connect(&server);
    post(&mut second, "{}");
    let (_, answer) = read_body(&mut second);
    assert_eq!(answer["choices"][0]["message"]["content"], "soon");
    first.set_nonblocking(true).unwrap();
    let unread = first.read(&mut [0]).unwrap_err();
    assert_eq!(unread.kind(), std::io::ErrorKind::WouldBlock);
    first.set_nonblocking(false).unwrap();
    gate.open();
    let (_, answer) = read_body(&mut first);
    assert_eq!(answer["choices"][0]["message"]["content"], "late");
}
