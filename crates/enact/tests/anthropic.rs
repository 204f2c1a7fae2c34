//! The client for Anthropic's messages against a server that decides every byte.
#![cfg(feature = "providers")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use enact::model::anthropic::Anthropic;
use enact::model::{Message, Request};
use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

mod anthropic {
    mod failures;
    mod replies;
    mod requests;
}

fn client(server: &TestServer) -> Anthropic {
    Anthropic::new("claude-test")
        .with_base_url(server.base_url())
        .unwrap()
}

fn ask(text: &str) -> Request {
    Request::new([Message::user(text)].into_iter().collect())
}

/// Server-sent events as Anthropic writes them, each in a chunk of its own.
fn events(list: impl IntoIterator<Item = Value>) -> Turn {
    Turn::raw_chunks(list.into_iter().map(|event| {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        format!("event: {kind}\ndata: {event}\n\n")
    }))
}

fn message_start() -> Value {
    json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "content": [],
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 20,
                  "cache_read_input_tokens": 70, "output_tokens": 1},
    }})
}

fn block_start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn text_delta(index: u64, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

fn json_delta(index: u64, piece: &str) -> Value {
    delta(
        index,
        json!({"type": "input_json_delta", "partial_json": piece}),
    )
}

fn tool_use(index: u64, id: &str, name: &str) -> Value {
    let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    block_start(index, block)
}

fn block_stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn stop(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason},
               "usage": {"output_tokens": 42}}),
        json!({"type": "message_stop"}),
    ]
}

/// A reply of text alone.
fn says(text: &str) -> Turn {
    let mut list = vec![
        message_start(),
        block_start(0, json!({"type": "text", "text": ""})),
        json!({"type": "ping"}),
        text_delta(0, text),
        block_stop(0),
    ];
    list.extend(stop("end_turn"));
    events(list)
}
