//! Replies that would have no end.

use std::time::Duration;

use enact::model::openai::Timeouts;
use enact::model::{
    Chunk, Delivery, FinishReason, LanguageModel as _, MAX_CALLS, ModelErrorKind, OpenAi, Reply,
    ReplyBuilder, Request, cut_endless, max_reply_bytes, whole_reply,
};
use enact::{ReAct, Values, values};
use enact_test_server::{TestServer, Turn};
use futures_util::{StreamExt as _, stream};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{ask, client};

/// What comes of a reply that never ends by itself.
async fn endless(turn: Turn) -> Reply {
    let server = TestServer::start([turn.in_pieces(7).then_stall()]).await;
    let reply = client(&server).complete(ask("hi")).await.unwrap();
    // The server has somebody else to answer.
    server.wait_for_hangups(1).await;
    reply
}

/// What comes of a reply that ends.
async fn ending(turn: Turn) -> Reply {
    let server = TestServer::start([turn]).await;
    client(&server).complete(ask("hi")).await.unwrap()
}

#[tokio::test]
async fn truth_a_reply_that_repeats_itself_is_cut_off() {
    let unit = "I will now use the tool to find it out. ";
    let reply = endless(Turn::text(format!("Well. {}", unit.repeat(300)))).await;
    assert_eq!(reply.finish, FinishReason::Length);
    assert!(reply.repeats);
    assert!(reply.text.starts_with("Well. I will now use"), "{reply:?}");
    assert!(reply.text.len() < 4_000, "{}", reply.text.len());
    // Nobody told what it cost, and it was not free.
    assert!(reply.usage.output_tokens > 500, "{:?}", reply.usage);
    assert!(reply.usage.input_tokens > 0, "{:?}", reply.usage);

    for unit in ["\n", "ha", "naïve ☃ ", &"0123456789abcdef…".repeat(17)] {
        let reply = endless(Turn::text(unit.repeat(9_000 / unit.len() + 1))).await;
        assert!(reply.repeats, "{unit}");
    }
    let reply = endless(Turn::text("").reasoning("wait, no. ".repeat(900))).await;
    assert!(reply.repeats);
    let same_call = (0..400).map(|_| ("search", json!({"query": "heron"})));
    let reply = endless(Turn::calls(same_call)).await;
    assert!(reply.repeats);
    let arguments = Turn::call(
        "write",
        format!("{{\"text\":\"{}", " -".repeat(4_000)).into(),
    );
    assert!(endless(arguments).await.repeats);
}

#[tokio::test]
async fn truth_a_long_text_over_and_over_is_cut_off_as_well() {
    let sentence = |number: usize| format!("{number}: I look at it, and see nothing new. ");
    for length in [400, 900, 2_000] {
        let unit: String = (0..).map(sentence).take(100).collect();
        let step = json!({"next_thought": &unit[..length - 60], "next_tool_name": "look"});
        let text = format!("{step}\n").repeat(40_000 / length);
        let reply = endless(Turn::text(&text)).await;
        assert!(reply.repeats, "{length}");
        assert!(reply.text.len() < 20_000, "{length}: {}", reply.text.len());
    }
    // Five times may be what was asked for.
    let poem: String = (0..50).map(sentence).collect();
    let text = poem.repeat(5);
    assert_eq!(ending(Turn::text(&text).in_pieces(11)).await.text, text);
}

#[tokio::test]
async fn truth_repetition_that_is_meant_is_left_alone() {
    let row = "| a | b | c |\n";
    let numbers = json!({"row": vec![0; 900]}).to_string();
    let digits: String = (0..4_000).map(|number| format!("{number}: 0\n")).collect();
    for text in [
        "-".repeat(2_500),
        row.repeat(200),
        numbers,
        digits,
        // It ends by itself, in one piece.
        "AAAA".repeat(5_000),
    ] {
        let reply = ending(Turn::text(&text)).await;
        assert_eq!((reply.text, reply.repeats), (text, false));
    }
    let mixed = format!("{}and so on{}", "=".repeat(2_900), "=".repeat(2_900));
    let reply = ending(Turn::text(&mixed).in_pieces(11)).await;
    assert_eq!((reply.finish, reply.text), (FinishReason::Stop, mixed));
}

#[tokio::test]
async fn truth_a_whole_reply_that_repeats_itself_up_to_its_limit_is_marked() {
    let server = TestServer::start([
        Turn::text("no ".repeat(3_000)).finish_reason("length"),
        Turn::text("long but good").finish_reason("length"),
    ])
    .await;
    let model = client(&server);
    let whole = || ask("hi").with_delivery(Delivery::Whole);
    assert!(model.complete(whole()).await.unwrap().repeats);
    assert!(!model.complete(whole()).await.unwrap().repeats);
}

#[tokio::test]
async fn truth_a_model_that_repeats_itself_is_told_so() {
    let server = TestServer::start([
        Turn::text("I am sure. ".repeat(1_000))
            .in_pieces(5)
            .then_stall(),
        Turn::call("submit", json!({"answer": "Because."})),
    ])
    .await;
    let agent = ReAct::builder("question -> answer")
        .model(client(&server).with_replies_streamed())
        .build()
        .unwrap();
    let done = agent.call(values! { question: "Why?" });
    let done = done.await.unwrap().finished().unwrap();
    assert_eq!(done.outputs["answer"], "Because.");
    let told = server.requests()[1].json();
    let told = told["messages"].as_array().unwrap().last().unwrap().clone();
    let told = told["content"].as_str().unwrap();
    assert!(told.contains("the same text over and over"), "{told}");
}

#[tokio::test]
async fn truth_replies_are_bounded_where_nobody_bounds_them() {
    let server = TestServer::start([]).await;
    let sent = async |model: OpenAi, request: Request| -> Value {
        server.push(Turn::text("ok"));
        model.complete(request).await.unwrap();
        server.requests().last().unwrap().json()
    };
    let model = || client(&server);
    assert_eq!(sent(model(), ask("hi")).await["max_tokens"], 8192);
    let mut request = ask("hi");
    request.options.max_tokens = Some(20_000);
    assert_eq!(sent(model(), request.clone()).await["max_tokens"], 20_000);
    // Under another name it is a bound, too.
    let mut request = ask("hi");
    let extra = &mut request.options.extra;
    extra.insert("max_completion_tokens".into(), 100.into());
    assert_eq!(sent(model(), request).await["max_tokens"], Value::Null);
    let longer = model().with_default_max_tokens(32_768);
    assert_eq!(sent(longer, ask("hi")).await["max_tokens"], 32_768);
    let unbounded = model().with_default_max_tokens(None);
    assert_eq!(sent(unbounded, ask("hi")).await["max_tokens"], Value::Null);
}

/// What servers say that refuse a bound.
const REFUSALS: [&str; 3] = [
    "This model's maximum context length is 8192 tokens. However, you requested 8300 tokens (108 in \
     the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
    "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length \
     is 4096 tokens and your request has 20 input tokens",
    "Unsupported parameter: 'max_tokens' is not supported with this model.",
];

#[tokio::test]
async fn truth_a_server_that_refuses_a_bound_that_nobody_asked_for_is_asked_without_it() {
    for refusal in REFUSALS {
        let body = json!({"error": {"message": refusal, "type": "invalid_request_error"}});
        let server =
            TestServer::start([Turn::status(400).body(body.to_string()), Turn::text("ok")]).await;
        let reply = client(&server).complete(ask("hi")).await.unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.attempts),
            ("ok", 1),
            "{refusal}"
        );
        let requests = server.requests();
        assert_eq!(requests[0].json()["max_tokens"], 8192);
        assert_eq!(requests[1].json()["max_tokens"], Value::Null);
    }
    // A bound that was asked for is a wish. What is left of the context is less than it.
    let body = json!({"error": {"message": REFUSALS[0]}}).to_string();
    let server = TestServer::start([Turn::status(400).body(body), Turn::text("ok")]).await;
    let mut request = ask("hi");
    request.options.max_tokens = Some(8192);
    client(&server).complete(request).await.unwrap();
    server.assert_complete();
    let body = json!({"error": {"message": REFUSALS[2]}}).to_string();
    let server = TestServer::start([Turn::status(400).body(body)]).await;
    let mut request = ask("hi");
    request.options.max_tokens = Some(20_000);
    let error = client(&server).complete(request).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::InvalidRequest);
    // A prompt that is too long is too long without a bound.
    let body = json!({"error": {"message": "the prompt is too long"}}).to_string();
    let server = TestServer::start([Turn::status(400).body(body)]).await;
    let error = client(&server).complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::ContextLength);
    server.assert_complete();
}

#[tokio::test]
async fn truth_replies_can_be_streamed_where_nobody_reads_along() {
    let server = TestServer::start([Turn::text("ok"), Turn::text("ok")]).await;
    let whole = || ask("hi").with_delivery(Delivery::Whole);
    client(&server).complete(whole()).await.unwrap();
    let streaming = client(&server).with_replies_streamed();
    streaming.complete(whole()).await.unwrap();
    let streams: Vec<Value> = server
        .requests()
        .iter()
        .map(|sent| sent.json()["stream"].clone())
        .collect();
    assert_eq!(streams, [Value::Null, Value::Bool(true)]);
}

/// Events of one delta each.
fn deltas(deltas: impl IntoIterator<Item = Value>) -> Turn {
    let event = |delta| json!({"choices": [{"index": 0, "delta": delta}]});
    let events = deltas.into_iter().map(event);
    Turn::raw_chunks(events.map(|event| format!("data: {event}\n\n"))).then_stall()
}

#[tokio::test]
async fn truth_a_reply_that_calls_without_end_is_cut_off() {
    let call = |index: usize| {
        let arguments = json!({"query": format!("{index} {}", index * 7919)}).to_string();
        let function = json!({"name": "search", "arguments": arguments});
        json!({"tool_calls": [{"index": index, "id": format!("c{index}"), "function": function}]})
    };
    let reply = ending(deltas((0..2_000).map(call))).await;
    // What is cut off is no reply: none of its calls is made.
    assert_eq!((reply.finish, reply.calls.len()), (FinishReason::Length, 0));
    assert!(reply.repeats);
    assert!(reply.usage.output_tokens > 500, "{:?}", reply.usage);

    let many = |count: usize| {
        let calls = (0..count).map(|index| ("search", json!({"query": index * 7919})));
        Turn::calls(calls)
    };
    for delivery in [Delivery::Streamed, Delivery::Whole] {
        let server = TestServer::start([many(MAX_CALLS), many(3_000)]).await;
        let asked = || ask("hi").with_delivery(delivery);
        let most = client(&server).complete(asked()).await.unwrap();
        assert_eq!((most.calls.len(), most.repeats), (MAX_CALLS, false));
        let more = client(&server).complete(asked()).await.unwrap();
        assert_eq!((more.calls.len(), more.repeats), (0, true));
    }
}

#[tokio::test]
async fn truth_a_reply_has_a_bound_of_bytes() {
    let most = max_reply_bytes(Some(8192));
    let long: String = (0..most / 4).map(|number| format!("{number} ")).collect();
    let pieces = long.as_bytes().chunks(10_000);
    let pieces = pieces.map(|piece| json!({"content": String::from_utf8_lossy(piece)}));
    let reply = ending(deltas(pieces)).await;
    assert_eq!(
        (reply.text.len(), reply.finish),
        (most, FinishReason::Length)
    );
    assert!(long.starts_with(&reply.text) && !reply.repeats);
    assert!(reply.usage.output_tokens > 1_000, "{:?}", reply.usage);

    // In one piece, too, in a stream and without.
    for delivery in [Delivery::Streamed, Delivery::Whole] {
        let server = TestServer::start([Turn::text(&*long)]).await;
        let asked = ask("hi").with_delivery(delivery);
        let reply = client(&server).complete(asked).await.unwrap();
        assert_eq!(
            (reply.text.len(), reply.finish),
            (most, FinishReason::Length)
        );
    }
    let server = TestServer::start([Turn::text(&*long)]).await;
    let roomy = client(&server).with_max_reply_bytes(64 * 1024 * 1024);
    assert_eq!(roomy.complete(ask("hi")).await.unwrap().text, long);
}

#[tokio::test]
async fn truth_what_is_far_too_long_is_not_even_read() {
    let huge = "0123456789".repeat(900_000);
    let body = json!({"choices": [{"message": {"content": huge}, "finish_reason": "stop"}]});
    let whole = Turn::status(200).body(body.to_string());
    let event = Turn::events([json!({"choices": [{"delta": {"content": huge}}]})]);
    // No end, and no reply in it.
    let spaces = Turn::raw_chunks((0..200).map(|_| " ".repeat(10_000))).then_stall();
    for turn in [whole, event, spaces] {
        let server = TestServer::start([turn]).await;
        let reply = client(&server).complete(ask("hi")).await.unwrap();
        assert_eq!((&*reply.text, reply.finish), ("", FinishReason::Length));
        assert!(reply.usage.output_tokens > 1_000, "{:?}", reply.usage);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn truth_a_reply_that_is_always_ready_holds_nobody_up() {
    let ready = stream::repeat_with(|| Ok(Chunk::Text(String::new())));
    let mut reply = cut_endless(Box::pin(ready), 0, 1_000);
    let all = async { while reply.next().await.is_some() {} };
    let limit = Duration::from_millis(50);
    assert!(tokio::time::timeout(limit, all).await.is_err());
}

fn chunk() -> impl Strategy<Value = Chunk> {
    let text = (0..3usize, 1..2_000usize).prop_map(|(unit, times)| {
        ["a", "over and over. ", "one two three"][unit].repeat(times.min(400))
    });
    let call = |(index, arguments): (usize, String)| Chunk::Call {
        index,
        id: Some(format!("c{index}")),
        name: Some("f".to_owned()),
        arguments,
    };
    prop_oneof![
        4 => text.clone().prop_map(Chunk::Text),
        1 => text.clone().prop_map(Chunk::Reasoning),
        2 => (prop_oneof![0..4usize, 126..130usize], text).prop_map(call),
        1 => Just(Chunk::Opaque(Values::new())),
    ]
}

proptest! {
    #[test]
    fn a_reply_in_one_piece_is_cut_off_as_a_stream_is(
        mut chunks in proptest::collection::vec(chunk(), 0..6),
        is_too_long: bool,
        max_bytes in prop_oneof![10..4_000usize, Just(100_000)],
    ) {
        let finish = if is_too_long { FinishReason::Length } else { FinishReason::Stop };
        chunks.push(Chunk::Finish(finish));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (whole, streamed) = runtime.block_on(async {
            let pieces = chunks.clone().into_iter().map(Ok);
            let mut stream = cut_endless(Box::pin(stream::iter(pieces)), 7, max_bytes);
            let mut builder = ReplyBuilder::default();
            while let Some(chunk) = stream.next().await {
                builder.push(chunk.unwrap());
            }
            (whole_reply(chunks.into(), 7, max_bytes).await, builder.finish())
        });
        prop_assert_eq!(whole.unwrap(), streamed.unwrap());
    }
}

/// A server that sends the same bytes for as long as somebody reads them.
async fn babbling(first: &'static [u8], again: &'static [u8]) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.read(&mut [0; 65_536]).await;
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            let _ = socket.write_all(head).await;
            let _ = socket.write_all(first).await;
            while socket.write_all(again).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    });
    format!("http://{address}/v1")
}

const EMPTY: &[u8] = b"data: {\"choices\":[{\"index\":0,\"delta\":{}}]}\n\n";

#[tokio::test(start_paused = true)]
async fn truth_signs_of_life_are_no_reply() {
    let timeouts = Timeouts {
        first_byte: Duration::from_millis(300),
        idle: Duration::from_millis(300),
        ..Timeouts::default()
    };
    for (again, limit) in [(&b": ping\n\n"[..], "first_byte"), (EMPTY, "idle")] {
        let model = OpenAi::new("m").with_base_url(babbling(b"", again).await);
        let model = model.unwrap().with_timeouts(timeouts);
        let error = model.complete(ask("hi")).await.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Timeout);
        assert!(error.to_string().contains(limit), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn truth_a_finished_reply_is_taken_soon_whatever_follows() {
    let done =
        b"data: {\"choices\":[{\"delta\":{\"content\":\"42\"},\"finish_reason\":\"stop\"}]}\n\n";
    let model = OpenAi::new("m").with_base_url(babbling(done, EMPTY).await);
    let reply = tokio::time::timeout(Duration::from_secs(20), async {
        model.unwrap().complete(ask("hi")).await.unwrap()
    });
    assert_eq!(reply.await.unwrap().text, "42");
}
