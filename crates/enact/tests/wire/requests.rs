//! What the client sends.

use std::sync::Arc;

use enact::model::openai::OpenAi;
use enact::model::{
    Delivery, Function, Functions, Image, LanguageModel as _, Message, ModelErrorKind,
    ModelOptions, Part, Prompt, RawCall, Request, ResponseFormat, ToolChoice,
};
use enact_test_server::{Received, TestServer, Turn};
use serde_json::{Value, json};

use crate::{ask, client};

async fn sent(requests: impl IntoIterator<Item = Request>) -> Vec<Received> {
    let server = TestServer::start([]).await;
    let model = client(&server);
    for request in requests {
        server.push(Turn::text("ok"));
        model.complete(request).await.unwrap();
    }
    server.assert_complete();
    server.requests()
}

async fn body_of(request: Request) -> String {
    sent([request]).await[0].text()
}

fn weather() -> Arc<Functions> {
    Arc::new(Functions::new(vec![Function {
        name: "weather".into(),
        description: "The weather in a \"city\".".into(),
        parameters: json!({"type": "object", "properties": {"city": {"type": "string"}}}),
    }]))
}

fn text(text: &str) -> Part {
    Part::Text(text.into())
}

fn call(id: Option<&str>, name: &str, arguments: &str) -> RawCall {
    RawCall {
        id: id.map(str::to_owned),
        name: name.into(),
        arguments: arguments.into(),
    }
}

fn tool(call_id: &str, parts: Vec<Part>) -> Message {
    Message::Tool {
        call_id: call_id.into(),
        name: "chart".into(),
        parts,
    }
}

#[tokio::test]
async fn every_kind_of_message_has_its_form() {
    let prompt: Prompt = [
        Message::System {
            text: "Be \"brief\".\n".into(),
        },
        Message::user("Hallo\u{1} 👋"),
        Message::User {
            parts: vec![text("one"), text("two")],
        },
        Message::User {
            parts: vec![
                text("look"),
                Part::Image(Image::from_url("https://x/y.png", "image/png")),
                Part::Image(Image::from_base64("QUJD", "image/jpeg")),
            ],
        },
        Message::Assistant {
            text: String::new(),
            calls: vec![
                call(Some("a"), "chart", "{\"n\": 1}"),
                call(Some("b"), "no such.tool", "{\"n\":"),
                call(None, "chart", ""),
            ],
            opaque: Some(json!({"reasoning_details": [{"data": "x"}], "role": "ignored"})),
        },
        tool(
            "a",
            vec![
                text("done"),
                Part::Image(Image::from_base64("QQ", "image/png")),
            ],
        ),
        tool("b", vec![text("there is no such tool")]),
        tool(
            "call_2",
            vec![Part::Image(Image::from_base64("Qg", "image/png"))],
        ),
        Message::assistant("Here."),
        Message::assistant(""),
    ]
    .into_iter()
    .collect();
    let body = body_of(Request::new(prompt)).await;
    let picture = |data: &str| {
        let url = format!("data:image/png;base64,{data}");
        json!({"type": "image_url", "image_url": {"url": url}})
    };
    let calls = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let expected = json!({
        "model": "test-model",
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_tokens": 8192,
        "messages": [
            {"role": "system", "content": "Be \"brief\".\n"},
            {"role": "user", "content": "Hallo\u{1} 👋"},
            {"role": "user", "content": "one\ntwo"},
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
                {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,QUJD"}},
            ]},
            {
                "role": "assistant",
                "content": null,
                "tool_calls": [
                    calls("a", "chart", "{\"n\": 1}"),
                    calls("b", "no_such_tool", "{}"),
                    calls("call_2", "chart", "{}"),
                ],
                "reasoning_details": [{"data": "x"}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "done"},
            {"role": "tool", "tool_call_id": "b", "content": "there is no such tool"},
            {
                "role": "tool",
                "tool_call_id": "call_2",
                "content": "The images follow in the next message.",
            },
            {"role": "user", "content": [
                {"type": "text", "text": "Images returned by `chart` (a):"},
                picture("QQ"),
                {"type": "text", "text": "Images returned by `chart` (call_2):"},
                picture("Qg"),
            ]},
            {"role": "assistant", "content": "Here."},
            {"role": "assistant", "content": ""},
        ],
    });
    // Byte for byte: no white space, and the order of the fields is part of the form.
    assert_eq!(body, expected.to_string());
}

#[tokio::test]
async fn a_reply_that_nobody_reads_along_comes_whole() {
    let mut request = ask("hi").with_delivery(Delivery::Whole);
    let asked = json!({"include_usage": true});
    request.options.extra.insert("stream_options".into(), asked);
    let body =
        r#"{"model":"test-model","max_tokens":8192,"messages":[{"role":"user","content":"hi"}]}"#;
    assert_eq!(body_of(request).await, body);
}

#[tokio::test]
async fn calls_are_demanded_where_a_tool_may_be_called() {
    let server = TestServer::start([]).await;
    let model = client(&server).with_demanded_calls();
    let none = ask("hi")
        .with_tools(weather())
        .with_tool_choice(ToolChoice::None);
    for request in [ask("hi"), ask("hi").with_tools(weather()), none] {
        server.push(Turn::text("ok"));
        model.complete(request).await.unwrap();
    }
    let choices = server.requests().into_iter();
    let choices: Vec<Value> = choices
        .map(|sent| sent.json()["tool_choice"].take())
        .collect();
    assert_eq!(choices, [json!(null), json!("required"), json!("none")]);
}

#[tokio::test]
async fn options_and_tools_come_before_the_messages() {
    let mut options = ModelOptions::default();
    options.temperature = Some(0.5);
    options.max_tokens = Some(100);
    options.seed = Some(7);
    options.reasoning_effort = Some("low".into());
    options.extra.insert("top_k".into(), json!(40));
    options.extra.insert("seed".into(), json!(8));
    options.extra.insert("stream_options".into(), Value::Null);
    let request = ask("hi")
        .with_tools(weather())
        .with_tool_choice(ToolChoice::Named("weather".into()))
        .with_response_format(ResponseFormat::Schema {
            name: "an answer".into(),
            schema: Arc::new(json!({"type": "object"})),
        })
        .with_stop(vec!["END".into(), "\n".into()])
        .with_options(options);
    let expected = json!({
        "model": "test-model",
        "stream": true,
        "temperature": 0.5,
        "max_tokens": 100,
        "seed": 8,
        "reasoning_effort": "low",
        "tools": [{"type": "function", "function": {
            "name": "weather",
            "description": "The weather in a \"city\".",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        }}],
        "parallel_tool_calls": true,
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "response_format": {"type": "json_schema", "json_schema": {
            "name": "an_answer",
            "schema": {"type": "object"},
            "strict": false,
        }},
        "stop": ["END", "\n"],
        "top_k": 40,
        "messages": [{"role": "user", "content": "hi"}],
    });
    assert_eq!(body_of(request).await, expected.to_string());
}

#[tokio::test]
async fn choices_and_formats_have_their_words() {
    let with = |choice| ask("hi").with_tools(weather()).with_tool_choice(choice);
    let requests = sent([
        with(ToolChoice::Auto),
        with(ToolChoice::Required),
        with(ToolChoice::None),
        ask("hi").with_tool_choice(ToolChoice::Required),
        ask("hi").with_response_format(ResponseFormat::JsonObject),
    ])
    .await;
    let bodies: Vec<Value> = requests.iter().map(Received::json).collect();
    assert_eq!(bodies[0].get("tool_choice"), None);
    assert_eq!(bodies[1]["tool_choice"], "required");
    assert_eq!(bodies[2]["tool_choice"], "none");
    assert_eq!(bodies[3].get("tool_choice"), None);
    assert_eq!(bodies[3].get("parallel_tool_calls"), None);
    assert_eq!(bodies[4]["response_format"], json!({"type": "json_object"}));
}

#[tokio::test]
async fn what_came_with_a_reply_goes_back_with_it() {
    let extra = json!({"google": {"thought_signature": "s"}});
    let delta = json!({
        "reasoning_content": "I need the weather.",
        "tool_calls": [
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}},
            {"index": 1, "id": "b", "function": {"name": "x", "arguments": "{}"},
             "extra_content": extra},
        ],
    });
    let turn = Turn::events([json!({"choices": [{"delta": delta}]})]);
    let server = TestServer::start([turn, Turn::text("ok")]).await;
    let model = client(&server).with_reasoning_returned();
    let reply = model.complete(ask("hi")).await.unwrap();

    let mut request = ask("hi");
    request.prompt.push(Message::Assistant {
        text: reply.text,
        calls: reply.calls,
        opaque: reply.opaque,
    });
    model.complete(request).await.unwrap();
    let sent = server.requests()[1].json()["messages"][1].clone();
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "x", "arguments": "{}"}});
    let mut second = call("b");
    second["extra_content"] = extra;
    let expected = json!({
        "role": "assistant",
        "content": null,
        "tool_calls": [call("a"), second],
        "reasoning_content": "I need the weather.",
    });
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn what_the_client_depends_on_cannot_be_replaced() {
    let mut request = ask("hi");
    request.options.extra.insert("stream".into(), json!(false));
    let server = TestServer::start([]).await;
    let error = client(&server).complete(request).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::InvalidRequest);
    assert!(error.to_string().contains("`stream`"), "{error}");
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn a_growing_prompt_keeps_its_beginning_byte_for_byte() {
    let turns = [
        vec![
            Message::System {
                text: "Use tools.".into(),
            },
            Message::user("Weather?"),
        ],
        vec![
            Message::Assistant {
                text: "Looking.".into(),
                calls: vec![
                    call(Some("a"), "chart", "{}"),
                    call(Some("b"), "chart", "{broken"),
                ],
                opaque: Some(json!({"reasoning_details": [1]})),
            },
            tool(
                "a",
                vec![Part::Image(Image::from_base64("QQ", "image/png"))],
            ),
            tool("b", vec![text("ü\n")]),
        ],
        vec![Message::assistant("Done."), Message::user("Thanks.")],
    ];
    let mut prompt = Prompt::new();
    let mut requests = Vec::new();
    for turn in turns {
        prompt.extend(turn);
        requests.push(
            Request::new(prompt.clone())
                .with_tools(weather())
                .with_stop(vec!["END".into()]),
        );
    }
    let bodies: Vec<String> = sent(requests).await.iter().map(Received::text).collect();
    for pair in bodies.windows(2) {
        let messages = pair[0].strip_suffix("]}").unwrap();
        let rest = pair[1].strip_prefix(messages).unwrap();
        assert!(rest.starts_with(",{\"role\":"), "{rest}");
    }
}

#[tokio::test]
async fn the_key_and_further_headers_are_sent() {
    let server = TestServer::start([Turn::text("a"), Turn::text("b"), Turn::text("c")]).await;
    let keyless = client(&server);
    let keyed = keyless.clone().with_api_key("sk-1");
    let custom = keyed
        .clone()
        .with_header("Authorization", "Token 2")
        .unwrap()
        .with_header("x-team", "blue")
        .unwrap();
    for model in [keyless, keyed, custom] {
        model.complete(ask("hi")).await.unwrap();
    }
    let requests = server.requests();
    assert_eq!(requests[0].header("authorization"), None);
    assert_eq!(requests[0].header("content-type"), Some("application/json"));
    assert_eq!(requests[1].header("authorization"), Some("Bearer sk-1"));
    assert_eq!(requests[2].header("authorization"), Some("Token 2"));
    assert_eq!(requests[2].header("x-team"), Some("blue"));
}

#[tokio::test]
async fn a_password_in_the_base_url_is_used_and_not_shown() {
    let server = TestServer::start([Turn::text("a")]).await;
    let with_password = server.base_url().replace("http://", "http://user:p4ss@");
    let model = OpenAi::new("test-model")
        .with_base_url(with_password)
        .unwrap();
    model.complete(ask("hi")).await.unwrap();
    let seen = server.requests()[0]
        .header("authorization")
        .map(str::to_owned);
    assert_eq!(seen.as_deref(), Some("Basic dXNlcjpwNHNz"));
    assert_eq!(model.base_url(), Some(server.base_url()));
}
