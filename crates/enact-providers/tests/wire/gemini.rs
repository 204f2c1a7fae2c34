//! Gemini.

use std::sync::Arc;
use std::time::Duration;

use enact_core::model::{
    Chunk, FinishReason, Image, LanguageModel as _, Message, ModelErrorKind, ModelOptions, Part,
    Prompt, Request, ResponseFormat, Retrying, Timeouts, ToolChoice, Usage,
};
use enact_providers::Genai;
use enact_test_server::{TestServer, Turn};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::{ask, call, client, error_of, reply_of, weather};

const MODEL: &str = "gemini::gemini-test";

fn events(list: impl IntoIterator<Item = Value>) -> Turn {
    let chunks = list
        .into_iter()
        .map(|event| format!("data: {event}\r\n\r\n"));
    Turn::raw_chunks(chunks)
}

fn piece(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}}]})
}

fn last(parts: Value, reason: &str) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason}],
        "usageMetadata": {
            "promptTokenCount": 100, "cachedContentTokenCount": 60,
            "candidatesTokenCount": 20, "thoughtsTokenCount": 5, "totalTokenCount": 125,
        },
    })
}

#[tokio::test]
async fn text_arrives_in_pieces_with_what_it_cost() {
    let turn = events([
        piece(json!([{"text": "Grü"}])),
        last(json!([{"text": "ße 👋"}]), "STOP"),
    ]);
    let server = TestServer::start_anywhere([turn]).await;
    let model = client(MODEL, &server);
    let chunks: Vec<Chunk> = model
        .stream(ask("hi"))
        .map(|chunk| chunk.unwrap())
        .collect()
        .await;
    let mut usage = Usage::of_request(100, 25);
    usage.cached_input_tokens = 60;
    usage.reasoning_tokens = 5;
    let expected = [
        Chunk::Text("Grü".into()),
        Chunk::Text("ße 👋".into()),
        Chunk::Usage(usage),
        Chunk::Finish(FinishReason::Stop),
    ];
    assert_eq!(chunks, expected);
    let sent = &server.requests()[0];
    assert_eq!(
        sent.path,
        "/v1/models/gemini-test:streamGenerateContent?alt=sse"
    );
    assert_eq!(sent.header("x-goog-api-key"), Some(crate::KEY));
}

#[tokio::test]
async fn parallel_calls_come_whole_and_their_signatures_go_back() {
    let parts = json!([
        {"text": "Thinking it over.", "thought": true},
        {"functionCall": {"id": "a", "name": "weather", "args": {"city": "Paris"}},
         "thoughtSignature": "sig-1"},
        {"functionCall": {"id": "b", "name": "weather", "args": {"city": "Rome"}}},
    ]);
    let turns = [
        events([last(parts, "STOP")]),
        events([last(json!([{"text": "ok"}]), "STOP")]),
    ];
    let server = TestServer::start_anywhere(turns).await;
    let model = client(MODEL, &server);
    let reply = model
        .complete(ask("hi").with_tools(weather()))
        .await
        .unwrap();
    assert_eq!(reply.reasoning, "Thinking it over.");
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    let said: Vec<(&str, &str)> = reply
        .calls
        .iter()
        .map(|call| (call.name.as_str(), call.arguments.as_str()))
        .collect();
    let expected = [
        ("weather", "{\"city\":\"Paris\"}"),
        ("weather", "{\"city\":\"Rome\"}"),
    ];
    assert_eq!(said, expected);

    let ids: Vec<String> = reply
        .calls
        .iter()
        .map(|call| call.id.clone().unwrap())
        .collect();
    let mut prompt: Prompt = [Message::user("hi")].into_iter().collect();
    prompt.push(Message::Assistant {
        text: reply.text,
        calls: reply.calls,
        opaque: reply.opaque,
    });
    for id in ids {
        prompt.push(Message::Tool {
            call_id: id,
            name: "weather".into(),
            parts: vec![Part::Text("20 °C".into())],
        });
    }
    model
        .complete(Request::new(prompt).with_tools(weather()))
        .await
        .unwrap();
    let sent = server.requests()[1].json();
    let contents = sent["contents"].as_array().unwrap();
    assert_eq!(contents.len(), 3, "{sent}");
    assert_eq!(contents[1]["parts"][0]["thoughtSignature"], "sig-1");
    assert_eq!(
        contents[1]["parts"][0]["functionCall"]["args"]["city"],
        "Paris"
    );
    assert_eq!(
        contents[1]["parts"][1]["functionCall"]["args"]["city"],
        "Rome"
    );
    assert_eq!(contents[1]["parts"][1].get("thoughtSignature"), None);
    let results = contents[2]["parts"].as_array().unwrap();
    assert_eq!(results.len(), 2, "{sent}");
    assert_eq!(results[0]["functionResponse"]["name"], "weather");
}

#[tokio::test]
async fn what_another_provider_signed_is_not_sent() {
    let server =
        TestServer::start_anywhere([events([last(json!([{"text": "ok"}]), "STOP")])]).await;
    let opaque = json!({
        "genai": {"provider": "cohere", "thoughts": [{"ThoughtSignature": "foreign"}], "calls": []},
        "anthropic": {"thinking": [{"type": "thinking", "signature": "foreign"}]},
    });
    let prompt = Prompt::from_iter([
        Message::user("hi"),
        Message::Assistant {
            text: "Hello.".into(),
            calls: Vec::new(),
            opaque: Some(opaque),
        },
        Message::user("Go on."),
    ]);
    client(MODEL, &server)
        .complete(Request::new(prompt))
        .await
        .unwrap();
    let sent = server.requests()[0].text();
    assert!(!sent.contains("foreign"), "{sent}");
}

#[tokio::test]
async fn everything_that_is_asked_is_sent() {
    let server =
        TestServer::start_anywhere([events([last(json!([{"text": "{}"}]), "STOP")])]).await;
    let mut options = ModelOptions::default();
    options.temperature = Some(0.5);
    options.max_tokens = Some(99);
    let chart = Message::Tool {
        call_id: "a".into(),
        name: "weather".into(),
        parts: vec![Part::Image(Image::from_base64("QQ", "image/png"))],
    };
    let prompt = Prompt::from_iter([
        Message::System {
            text: "Be brief.".into(),
        },
        Message::user("hi"),
        Message::Assistant {
            text: String::new(),
            calls: vec![call("a", "Paris")],
            opaque: None,
        },
        chart,
    ]);
    let request = Request::new(prompt)
        .with_tools(weather())
        .with_tool_choice(ToolChoice::Named("weather".into()))
        .with_stop(vec!["END".into()])
        .with_options(options);
    client(MODEL, &server).complete(request).await.unwrap();
    let sent = server.requests()[0].json();
    assert_eq!(sent["systemInstruction"]["parts"][0]["text"], "Be brief.");
    assert_eq!(sent["generationConfig"]["temperature"], 0.5);
    assert_eq!(sent["generationConfig"]["maxOutputTokens"], 99);
    assert_eq!(sent["generationConfig"]["stopSequences"], json!(["END"]));
    let declared = &sent["tools"][0]["functionDeclarations"][0];
    assert_eq!(declared["name"], "weather");
    let calling = &sent["toolConfig"]["functionCallingConfig"];
    assert_eq!(calling["allowedFunctionNames"], json!(["weather"]));
    // The picture follows behind the result.
    let picture = &sent["contents"].as_array().unwrap().last().unwrap()["parts"][1];
    assert_eq!(picture["inline_data"]["data"], "QQ");
}

#[tokio::test]
async fn a_response_schema_is_sent() {
    let server =
        TestServer::start_anywhere([events([last(json!([{"text": "{}"}]), "STOP")])]).await;
    let format = ResponseFormat::Schema {
        name: "answer".into(),
        schema: Arc::new(json!({"type": "object", "properties": {"n": {"type": "integer"}}})),
    };
    let request = ask("hi").with_response_format(format);
    client(MODEL, &server).complete(request).await.unwrap();
    let sent = server.requests()[0].text();
    assert!(
        sent.contains("\"n\"") && sent.contains("application/json"),
        "{sent}"
    );
}

#[tokio::test]
async fn a_reply_cut_by_the_length_limit_says_so() {
    let reply = reply_of(
        MODEL,
        events([last(json!([{"text": "and th"}]), "MAX_TOKENS")]),
    )
    .await;
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("and th", FinishReason::Length)
    );
}

#[tokio::test]
async fn a_filter_is_told_from_other_ends() {
    let error = error_of(MODEL, events([last(json!([]), "SAFETY")])).await;
    assert_eq!(error.kind(), ModelErrorKind::ContentFilter);
    let refused = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    let error = error_of(MODEL, events([refused])).await;
    assert_eq!(error.kind(), ModelErrorKind::ContentFilter);
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_waited_out() {
    let report = json!({"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}});
    let busy = Turn::status(429)
        .header("retry-after", "7")
        .body(report.to_string());
    let server =
        TestServer::start_anywhere([busy, events([last(json!([{"text": "hi"}]), "STOP")])]).await;
    let before = tokio::time::Instant::now();
    let reply = Retrying::new(client(MODEL, &server))
        .complete(ask("hi"))
        .await
        .unwrap();
    assert_eq!(before.elapsed().as_secs(), 7);
    assert_eq!((reply.text.as_str(), reply.attempts), ("hi", 2));
}

#[tokio::test]
async fn the_wish_to_wait_is_passed_on() {
    let error = error_of(
        MODEL,
        Turn::status(429).header("retry-after", "7").body("{}"),
    )
    .await;
    assert_eq!(error.kind(), ModelErrorKind::RateLimit);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    assert_eq!(error.status(), Some(429));
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_recognised() {
    let message = "The input token count (2000000) exceeds the maximum number of tokens allowed \
                   (1048576).";
    let report = json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
    let error = error_of(MODEL, Turn::status(400).body(report.to_string())).await;
    assert_eq!(error.kind(), ModelErrorKind::ContextLength);
    assert!(error.to_string().contains("1048576"), "{error}");
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_has_a_kind() {
    let report = json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
    let server =
        TestServer::start_anywhere([events([piece(json!([{"text": "half"}])), report])]).await;
    let model = client(MODEL, &server);
    let mut stream = model.stream(ask("hi"));
    assert_eq!(
        stream.next().await.unwrap().unwrap(),
        Chunk::Text("half".into())
    );
    let error = stream.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Server);
    assert!(error.to_string().contains("overloaded"), "{error}");
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_stalled_stream_times_out() {
    let turn = events([piece(json!([{"text": "half"}]))]).then_stall();
    let server = TestServer::start_anywhere([turn]).await;
    let model = client(MODEL, &server).with_timeouts(Timeouts {
        idle: Duration::from_secs(20),
        ..Timeouts::default()
    });
    let before = tokio::time::Instant::now();
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Timeout);
    assert_eq!(before.elapsed().as_secs(), 20);
    assert!(error.to_string().contains("Timeouts::idle"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_does_not_begin_times_out() {
    let late = events([last(json!([{"text": "late"}]), "STOP")]).latency(Duration::from_secs(60));
    let server = TestServer::start_anywhere([late]).await;
    let model = client(MODEL, &server).with_timeouts(Timeouts {
        first_byte: Duration::from_secs(3),
        ..Timeouts::default()
    });
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Timeout);
    assert!(
        error.to_string().contains("Timeouts::first_byte"),
        "{error}"
    );
}

#[tokio::test]
async fn a_reply_that_is_cut_off_or_no_reply_breaks_the_protocol() {
    for turn in [
        events([piece(json!([{"text": "half"}]))]),
        Turn::raw_chunks(["data: {\"half\": \n\n"]),
        Turn::status(200).body("<html><h1>Welcome to the router</h1></html>"),
    ] {
        let error = error_of(MODEL, turn).await;
        assert_eq!(error.kind(), ModelErrorKind::Protocol, "{error}");
    }
    let turn = events([piece(json!([{"text": "half"}]))]).then_cut();
    assert_eq!(
        error_of(MODEL, turn).await.kind(),
        ModelErrorKind::Connection
    );
}

#[tokio::test]
async fn a_key_that_is_missing_or_refused_is_explained() {
    let report =
        json!({"error": {"code": 403, "message": format!("key {} not valid", crate::KEY)}});
    let error = error_of(MODEL, Turn::status(403).body(report.to_string())).await;
    assert_eq!(error.kind(), ModelErrorKind::Authentication);
    assert!(error.to_string().contains("Genai::with_api_key"), "{error}");

    let keyless = Genai::model(MODEL).unwrap().with_api_key("");
    let error = keyless.complete(ask("hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Authentication);
    assert!(error.to_string().contains("none was sent"), "{error}");
}

#[tokio::test]
async fn dropping_the_stream_abandons_the_request() {
    let turn = events([piece(json!([{"text": "half"}]))]).then_stall();
    let server = TestServer::start_anywhere([turn]).await;
    let model = client(MODEL, &server);
    let mut stream = model.stream(ask("hi"));
    stream.next().await.unwrap().unwrap();
    drop(stream);
    server.wait_for_hangups(1).await;
}
