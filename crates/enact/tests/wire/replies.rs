//! What the client makes of replies.

use std::time::Duration;

use enact::model::openai::Timeouts;
use enact::model::{
    Chunk, FinishReason, LanguageModel as _, ModelErrorKind, RawCall, Reply, Usage,
};
use enact_test_server::{TestServer, Turn};
use futures_util::StreamExt as _;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{ask, client};

async fn reply_to(turn: Turn) -> Reply {
    let server = TestServer::start([turn]).await;
    let reply = client(&server).complete(ask("hi")).await.unwrap();
    server.assert_complete();
    reply
}

fn raw(id: &str, name: &str, arguments: &Value) -> RawCall {
    RawCall {
        id: Some(id.into()),
        name: name.into(),
        arguments: arguments.to_string(),
    }
}

#[tokio::test]
async fn text_arrives_in_pieces() {
    let server = TestServer::start([Turn::text("Grüße 👋").in_pieces(3).usage(5, 4)]).await;
    let model = client(&server);
    let chunks: Vec<Chunk> = model
        .stream(ask("hi"))
        .map(|chunk| chunk.unwrap())
        .collect()
        .await;
    let expected = [
        Chunk::Text("Grü".into()),
        Chunk::Text("ße ".into()),
        Chunk::Text("👋".into()),
        Chunk::Usage(Usage::of_request(5, 4)),
        Chunk::Finish(FinishReason::Stop),
    ];
    assert_eq!(chunks, expected);
}

#[tokio::test]
async fn arguments_split_across_chunks_are_put_together() {
    let arguments = json!({"city": "Zürich", "days": 3});
    let turn = Turn::call("weather", arguments.clone())
        .thinking("First the weather.")
        .in_pieces(2);
    let reply = reply_to(turn).await;
    assert_eq!(reply.text, "First the weather.");
    assert_eq!(reply.calls, [raw("call_1", "weather", &arguments)]);
    assert_eq!(reply.finish, FinishReason::ToolCalls);
}

#[tokio::test]
async fn interleaved_parallel_calls_are_told_apart() {
    let (first, second) = (
        json!({"city": "Paris"}),
        json!({"city": "Rome", "unit": "C"}),
    );
    let turn = Turn::calls([("weather", first.clone()), ("forecast", second.clone())])
        .with_ids(["a", "b"])
        .in_pieces(3)
        .interleaved();
    let reply = reply_to(turn).await;
    let expected = [raw("a", "weather", &first), raw("b", "forecast", &second)];
    assert_eq!(reply.calls, expected);
}

#[tokio::test]
async fn broken_arguments_are_kept_as_written() {
    let reply = reply_to(Turn::call("weather", json!("{\"city\": \"Par"))).await;
    assert_eq!(reply.calls[0].arguments, "{\"city\": \"Par");
}

#[tokio::test]
async fn reasoning_is_kept_apart_from_the_text() {
    let reply = reply_to(Turn::text("42").reasoning("six times seven").in_pieces(4)).await;
    assert_eq!(reply.reasoning, "six times seven");
    assert_eq!(reply.text, "42");
}

#[tokio::test]
async fn cached_and_reasoning_tokens_are_counted() {
    let turn = Turn::text("hi")
        .usage(120, 30)
        .cached_tokens(96)
        .reasoning_tokens(20);
    let reply = reply_to(turn).await;
    let mut expected = Usage::of_request(120, 30);
    expected.cached_input_tokens = 96;
    expected.reasoning_tokens = 20;
    assert_eq!(reply.usage, expected);
}

#[tokio::test]
async fn a_reply_without_usage_is_a_reply() {
    let turn = Turn::events([json!({"choices": [{"delta": {"content": "hi"}}]})]);
    let reply = reply_to(turn).await;
    assert_eq!(reply, Reply::text("hi"));
}

#[tokio::test]
async fn a_reply_cut_by_the_length_limit_says_so() {
    let reply = reply_to(Turn::text("and th").finish_reason("length")).await;
    assert_eq!(reply.finish, FinishReason::Length);
}

#[tokio::test]
async fn calls_decide_over_the_reason_for_stopping() {
    let turn = Turn::call("weather", json!({})).finish_reason("stop");
    assert_eq!(reply_to(turn).await.finish, FinishReason::ToolCalls);
}

#[tokio::test]
async fn a_server_that_does_not_stream_works() {
    let body = json!({
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Looking.",
                "reasoning_content": "hm",
                "tool_calls": [{
                    "id": "a",
                    "type": "function",
                    "function": {"name": "weather", "arguments": "{}"},
                }],
            },
            "finish_reason": "tool_calls",
        }],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    });
    let reply = reply_to(Turn::status(200).body(body.to_string())).await;
    assert_eq!(
        (reply.text.as_str(), reply.reasoning.as_str()),
        ("Looking.", "hm")
    );
    assert_eq!(reply.calls, [raw("a", "weather", &json!({}))]);
    assert_eq!(reply.usage, Usage::of_request(3, 2));
    assert_eq!(reply.finish, FinishReason::ToolCalls);
}

#[tokio::test]
async fn reasoning_to_be_given_back_is_kept() {
    let detail = json!({"type": "reasoning.encrypted", "index": 0, "data": "x"});
    let delta = json!({"reasoning_details": [detail]});
    let reply = reply_to(Turn::events([json!({"choices": [{"delta": delta}]})])).await;
    assert_eq!(reply.opaque, Some(json!({"reasoning_details": [detail]})));
}

#[tokio::test]
async fn carriage_returns_comments_and_a_missing_end_are_taken() {
    let delta = |text: &str| json!({"choices": [{"delta": {"content": text}}]});
    let body = format!(
        ": ping\r\n\r\ndata: {}\r\n\r\n: ping\r\n\r\nevent: x\r\ndata:{}\r\n\r\ndata: [DONE]",
        delta("a"),
        delta("b")
    );
    assert_eq!(reply_to(Turn::raw_chunks([body])).await.text, "ab");
}

#[tokio::test]
async fn a_reply_that_is_whole_survives_a_missing_trailer() {
    let body =
        "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    let reply = reply_to(Turn::raw_chunks([body])).await;
    assert_eq!(reply.text, "hi");
    let reply = reply_to(Turn::raw_chunks([body]).then_cut()).await;
    assert_eq!(reply.text, "hi");
}

#[tokio::test(start_paused = true)]
async fn a_missing_trailer_is_not_waited_for() {
    let body =
        "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    let before = tokio::time::Instant::now();
    let reply = reply_to(Turn::raw_chunks([body]).then_stall()).await;
    assert_eq!(reply.text, "hi");
    assert!(before.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn an_end_without_any_reason_is_a_reply_cut_off() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
    for turn in [
        Turn::raw_chunks([body]),
        Turn::raw_chunks([body, "data: {\"choi"]),
    ] {
        let server = TestServer::start([turn]).await;
        let error = client(&server).complete(ask("hi")).await.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Protocol);
        assert!(error.to_string().contains("cut off"), "{error}");
    }
}

#[tokio::test]
async fn requests_of_a_run_share_a_connection() {
    let server = TestServer::start([
        Turn::text("a").in_pieces(1),
        Turn::text("b"),
        Turn::status(500).body("{}"),
        Turn::text("c"),
    ])
    .await;
    let model = client(&server);
    for _ in 0..4 {
        let _ = model.complete(ask("hi")).await;
    }
    let connections: Vec<usize> = server
        .requests()
        .iter()
        .map(|seen| seen.connection)
        .collect();
    assert_eq!(connections, [1, 1, 1, 1]);
}

#[tokio::test]
async fn dropping_the_stream_abandons_the_request() {
    let server = TestServer::start([Turn::text("hi").then_stall()]).await;
    let model = client(&server).with_timeouts(Timeouts::default());
    let mut stream = model.stream(ask("hi"));
    assert_eq!(
        stream.next().await.unwrap().unwrap(),
        Chunk::Text("hi".into())
    );
    drop(stream);
    server.wait_for_hangups(1).await;
}

fn rich_body() -> Vec<u8> {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let events = [
        delta(json!({"role": "assistant", "content": null})),
        delta(json!({"reasoning_content": "Überlegung: 日本"})),
        delta(json!({"content": "Zwei Städte 👋"})),
        delta(json!({"tool_calls": [
            {"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{\"city\":"}},
        ]})),
        delta(json!({"tool_calls": [
            {"index": 1, "id": "b", "function": {"name": "weather", "arguments": "{\"city\":\"São"}},
        ]})),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"Zürich\"}"}}]})),
        delta(json!({"tool_calls": [{"index": 1, "function": {"arguments": " Paulo\"}"}}]})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 8}}),
    ];
    let mut body = String::new();
    for (index, event) in events.iter().enumerate() {
        let end = if index % 2 == 0 { "\r\n" } else { "\n" };
        body.push_str(&format!(": ping{end}{end}data: {event}{end}{end}"));
    }
    body.push_str("data: [DONE]\n\n");
    body.into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_reply_is_the_same_wherever_its_bytes_are_split(
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..60),
    ) {
        let body = rich_body();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len())).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pieces: Vec<Vec<u8>> = cuts
            .windows(2)
            .map(|pair| body[pair[0]..pair[1]].to_vec())
            .collect();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let reply = runtime.block_on(reply_to(Turn::raw_chunks(pieces)));
        prop_assert_eq!(reply.text, "Zwei Städte 👋");
        prop_assert_eq!(reply.reasoning, "Überlegung: 日本");
        prop_assert_eq!(reply.calls, [
            raw("a", "weather", &json!({"city": "Zürich"})),
            raw("b", "weather", &json!({"city": "São Paulo"})),
        ]);
        prop_assert_eq!(reply.usage, Usage::of_request(9, 8));
        prop_assert_eq!(reply.finish, FinishReason::ToolCalls);
    }
}
