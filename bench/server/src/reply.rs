//! Replies on the wire: whole, or as events in one piece, so that no contender waits for bytes.

use std::io::Write as _;

use serde_json::json;

use crate::script::Said;

const EVENTS: &str = "content-type: text/event-stream\r\ntransfer-encoding: chunked";

/// Whether a request asks for events. Python writes a space behind the colon.
pub(crate) fn wants_stream(body: &[u8]) -> bool {
    let has = |needle: &[u8]| memchr::memmem::find(body, needle).is_some();
    has(br#""stream":true"#) || has(br#""stream": true"#)
}

pub(crate) fn write_json(out: &mut Vec<u8>, body: &[u8]) {
    write_status(out, "200 OK", body);
}

pub(crate) fn write_error(out: &mut Vec<u8>, message: &str) {
    let body = json!({"error": {"message": message, "type": "invalid_request_error"}});
    write_status(out, "400 Bad Request", body.to_string().as_bytes());
}

fn write_status(out: &mut Vec<u8>, status: &str, body: &[u8]) {
    out.clear();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(body);
}

pub(crate) fn write_whole(out: &mut Vec<u8>, number: usize, said: &Said) {
    let (message, reason) = match said {
        Said::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Said::Call {
            thought,
            tool,
            arguments,
        } => (
            json!({"role": "assistant", "content": thought, "tool_calls": [{
                "id": format!("call_{number}"),
                "type": "function",
                "function": {"name": tool, "arguments": arguments},
            }]}),
            "tool_calls",
        ),
    };
    let body = json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": "bench",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    });
    write_json(out, body.to_string().as_bytes());
}

pub(crate) fn write_stream(out: &mut Vec<u8>, number: usize, said: &Said) {
    let mut events = Vec::with_capacity(1024);
    let mut delta = |delta: serde_json::Value, reason: Option<&str>| {
        let choice = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        write_event(&mut events, choice, json!(null));
    };
    match said {
        Said::Text(text) => {
            delta(json!({"role": "assistant", "content": text}), None);
            delta(json!({}), Some("stop"));
        }
        Said::Call {
            thought,
            tool,
            arguments,
        } => {
            delta(json!({"role": "assistant", "content": thought}), None);
            let call = json!({
                "index": 0,
                "id": format!("call_{number}"),
                "type": "function",
                "function": {"name": tool, "arguments": arguments},
            });
            delta(json!({"tool_calls": [call]}), None);
            delta(json!({}), Some("tool_calls"));
        }
    }
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120});
    write_event(&mut events, json!([]), usage);
    events.extend_from_slice(b"data: [DONE]\n\n");
    out.clear();
    let head = format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\n\r\n{:x}\r\n", events.len());
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(&events);
    out.extend_from_slice(b"\r\n0\r\n\r\n");
}

fn write_event(events: &mut Vec<u8>, choices: serde_json::Value, usage: serde_json::Value) {
    let chunk = json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_750_000_000,
        "model": "bench",
        "choices": choices,
        "usage": usage,
    });
    // Writing into a vector cannot fail.
    let _ = write!(events, "data: {chunk}\n\n");
}
