//! What the client makes of replies.

use std::sync::Arc;

use enact::model::{
    Chunk, FinishReason, LanguageModel as _, RawCall, Reply, Request, ResponseFormat, Usage,
};
use enact_test_server::{TestServer, Turn};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::{
    ask, block_start, block_stop, client, delta, events, json_delta, message_start, says, stop,
    text_delta, tool_use,
};

async fn reply_to(turn: Turn) -> Reply {
    reply(turn, ask("hi")).await
}

async fn reply(turn: Turn, request: Request) -> Reply {
    let server = TestServer::start_anywhere([turn]).await;
    let reply = client(&server).complete(request).await.unwrap();
    server.assert_complete();
    reply
}

fn raw(id: &str, name: &str, arguments: &str) -> RawCall {
    RawCall {
        id: Some(id.into()),
        name: name.into(),
        arguments: arguments.into(),
    }
}

fn finished(mut list: Vec<Value>, reason: &str) -> Turn {
    list.extend(stop(reason));
    events(list)
}

#[tokio::test]
async fn text_arrives_in_pieces_with_what_it_cost() {
    let list = vec![
        message_start(),
        block_start(0, json!({"type": "text", "text": ""})),
        text_delta(0, "Grü"),
        text_delta(0, "ße 👋"),
        block_stop(0),
    ];
    let server = TestServer::start_anywhere([finished(list, "end_turn")]).await;
    let model = client(&server);
    let chunks: Vec<Chunk> = model
        .stream(ask("hi"))
        .map(|chunk| chunk.unwrap())
        .collect()
        .await;
    // What the cache gave and took is counted apart on the wire, and belongs to what was read.
    let mut usage = Usage::of_request(100, 42);
    usage.cached_input_tokens = 70;
    let expected = [
        Chunk::Text("Grü".into()),
        Chunk::Text("ße 👋".into()),
        Chunk::Usage(usage),
        Chunk::Finish(FinishReason::Stop),
    ];
    assert_eq!(chunks, expected);
}

#[tokio::test]
async fn arguments_split_across_chunks_are_put_together() {
    let list = vec![
        message_start(),
        block_start(0, json!({"type": "text", "text": ""})),
        text_delta(0, "First the weather."),
        block_stop(0),
        tool_use(1, "toolu_1", "weather"),
        json_delta(1, ""),
        json_delta(1, "{\"ci"),
        json_delta(1, "ty\": \"Zür"),
        json_delta(1, "ich\"}"),
        block_stop(1),
    ];
    let reply = reply_to(finished(list, "tool_use")).await;
    assert_eq!(reply.text, "First the weather.");
    let expected = [raw("toolu_1", "weather", "{\"city\": \"Zürich\"}")];
    assert_eq!(reply.calls, expected);
    assert_eq!(reply.finish, FinishReason::ToolCalls);
}

#[tokio::test]
async fn interleaved_parallel_calls_are_told_apart() {
    let list = vec![
        message_start(),
        tool_use(3, "a", "weather"),
        tool_use(5, "b", "forecast"),
        json_delta(5, "{\"city\":"),
        json_delta(3, "{\"city\":"),
        json_delta(3, "\"Paris\"}"),
        json_delta(5, "\"Rome\"}"),
        block_stop(5),
        block_stop(3),
    ];
    let reply = reply_to(finished(list, "tool_use")).await;
    let expected = [
        raw("a", "weather", "{\"city\":\"Paris\"}"),
        raw("b", "forecast", "{\"city\":\"Rome\"}"),
    ];
    assert_eq!(reply.calls, expected);
}

#[tokio::test]
async fn broken_arguments_are_kept_as_written() {
    let list = vec![
        message_start(),
        tool_use(0, "a", "weather"),
        json_delta(0, "{\"city\": \"Par"),
    ];
    let reply = reply_to(finished(list, "max_tokens")).await;
    assert_eq!(reply.calls, [raw("a", "weather", "{\"city\": \"Par")]);
    assert_eq!(reply.finish, FinishReason::Length);
}

#[tokio::test]
async fn thinking_is_shown_and_kept_with_its_signature() {
    let list = vec![
        message_start(),
        block_start(
            0,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        delta(
            0,
            json!({"type": "thinking_delta", "thinking": "six times "}),
        ),
        delta(0, json!({"type": "thinking_delta", "thinking": "seven"})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        block_stop(0),
        block_start(1, json!({"type": "redacted_thinking", "data": "x"})),
        block_stop(1),
        block_start(2, json!({"type": "text", "text": ""})),
        text_delta(2, "42"),
        block_stop(2),
    ];
    let reply = reply_to(finished(list, "end_turn")).await;
    assert_eq!(
        (reply.reasoning.as_str(), reply.text.as_str()),
        ("six times seven", "42")
    );
    let expected = json!({"anthropic": {"thinking": [
        {"type": "thinking", "thinking": "six times seven", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "x"},
    ]}});
    assert_eq!(reply.opaque, Some(expected));
}

#[tokio::test]
async fn an_answer_in_a_response_format_is_the_text() {
    let format = ResponseFormat::Schema {
        name: "answer".into(),
        schema: Arc::new(json!({"type": "object"})),
    };
    let list = vec![
        message_start(),
        tool_use(0, "a", "answer_as_json"),
        json_delta(0, "{\"n\":"),
        json_delta(0, " 42}"),
        block_stop(0),
    ];
    let request = ask("hi").with_response_format(format);
    let reply = reply(finished(list, "tool_use"), request).await;
    assert_eq!(reply.text, "{\"n\": 42}");
    assert_eq!(reply.calls, []);
    assert_eq!(reply.finish, FinishReason::Stop);
}

#[tokio::test]
async fn a_server_that_does_not_stream_works() {
    let body = json!({
        "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "a", "name": "weather", "input": {"city": "Paris"}},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 2},
    });
    let reply = reply_to(Turn::status(200).body(body.to_string())).await;
    assert_eq!(
        (reply.text.as_str(), reply.reasoning.as_str()),
        ("Looking.", "hm")
    );
    assert_eq!(reply.calls, [raw("a", "weather", "{\"city\":\"Paris\"}")]);
    assert_eq!(reply.usage, Usage::of_request(3, 2));
    assert_eq!(reply.finish, FinishReason::ToolCalls);
}

#[tokio::test]
async fn events_that_are_new_do_no_harm() {
    let list = vec![
        message_start(),
        json!({"type": "something_new", "delta": {"text": "no"}}),
        block_start(
            0,
            json!({"type": "server_tool_use", "id": "s", "name": "web"}),
        ),
        json_delta(0, "{}"),
        block_start(1, json!({"type": "text", "text": "yes"})),
    ];
    let reply = reply_to(finished(list, "end_turn")).await;
    assert_eq!((reply.text.as_str(), reply.calls.len()), ("yes", 0));
}

#[tokio::test]
async fn a_reply_that_is_whole_survives_a_missing_trailer() {
    let mut list = vec![
        message_start(),
        block_start(0, json!({"type": "text", "text": "hi"})),
    ];
    list.push(stop("end_turn")[0].clone());
    assert_eq!(reply_to(events(list.clone())).await.text, "hi");
    assert_eq!(reply_to(events(list).then_cut()).await.text, "hi");
}

#[tokio::test]
async fn dropping_the_stream_abandons_the_request() {
    let list = [
        message_start(),
        block_start(0, json!({"type": "text", "text": "half"})),
    ];
    let server = TestServer::start_anywhere([events(list).then_stall(), says("next")]).await;
    let model = client(&server);
    let mut stream = model.stream(ask("hi"));
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!(first, Chunk::Text("half".into()));
    drop(stream);
    server.wait_for_hangups(1).await;
    assert_eq!(model.complete(ask("hi")).await.unwrap().text, "next");
}
