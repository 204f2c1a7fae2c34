//! What goes over the wire.

use std::sync::Arc;

use enact::model::{
    Delivery, Function, Functions, Image, LanguageModel as _, Message, ModelErrorKind,
    ModelOptions, Part, Prompt, RawCall, Request, ResponseFormat, ToolChoice,
};
use enact_test_server::{Received, TestServer};
use serde_json::{Value, json};

use crate::{ask, client, says};

async fn sent(request: Request) -> Received {
    let server = TestServer::start_anywhere([says("ok")]).await;
    client(&server)
        .with_api_key("sk-1")
        .complete(request)
        .await
        .unwrap();
    server.requests().remove(0)
}

async fn body(request: Request) -> Value {
    sent(request).await.json()
}

fn weather() -> Arc<Functions> {
    let function = |name: &str| Function {
        name: name.into(),
        description: "Current weather.".into(),
        parameters: json!({"type": "object", "properties": {"city": {"type": "string"}}}),
    };
    Arc::new(Functions::new(vec![
        function("weather"),
        function("forecast"),
    ]))
}

fn options(change: impl FnOnce(&mut ModelOptions)) -> ModelOptions {
    let mut options = ModelOptions::default();
    change(&mut options);
    options
}

fn called(id: &str, name: &str) -> RawCall {
    RawCall {
        id: Some(id.into()),
        name: name.into(),
        arguments: "{\"city\":\"Paris\"}".into(),
    }
}

fn result(id: &str, text: &str) -> Message {
    Message::Tool {
        call_id: id.into(),
        name: "weather".into(),
        parts: vec![Part::Text(text.into())],
    }
}

fn marked(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[tokio::test]
async fn a_request_is_what_the_protocol_asks_for() {
    let request = Request::new(Prompt::from_iter([
        Message::System {
            text: "Be brief.".into(),
        },
        Message::user("Weather?"),
    ]))
    .with_tools(weather())
    .with_stop(vec!["END".into()])
    .with_options(options(|options| options.temperature = Some(0.5)));
    let sent = sent(request).await;
    assert_eq!(sent.path, "/v1/messages");
    assert_eq!(sent.header("x-api-key"), Some("sk-1"));
    assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tool = |name: &str| json!({"name": name, "description": "Current weather.", "input_schema": schema});
    let expected = json!({
        "model": "claude-test",
        "stream": true,
        "max_tokens": 8192,
        "temperature": 0.5,
        "stop_sequences": ["END"],
        "tools": [tool("weather"), tool("forecast")],
        "system": [marked(text("Be brief."))],
        "messages": [{"role": "user", "content": [marked(text("Weather?"))]}],
    });
    assert_eq!(sent.json(), expected);
}

#[tokio::test]
async fn a_reply_that_nobody_reads_along_comes_whole() {
    let body = body(ask("hi").with_delivery(Delivery::Whole)).await;
    assert_eq!(body.get("stream"), None, "{body}");
}

#[tokio::test]
async fn the_results_of_one_turn_are_one_message() {
    let picture = Message::Tool {
        call_id: "b".into(),
        name: "chart".into(),
        parts: vec![Part::Image(Image::from_base64("QQ", "image/png"))],
    };
    let request = Request::new(Prompt::from_iter([
        Message::user("Weather?"),
        Message::Assistant {
            text: String::new(),
            calls: vec![called("a", "weather"), called("b", "chart")],
            opaque: None,
        },
        result("a", "20 °C"),
        picture,
        Message::user("Go on."),
    ]));
    let image = json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": "QQ"}});
    let used = |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {"city": "Paris"}});
    let expected = json!([
        {"role": "user", "content": [marked(text("Weather?"))]},
        {"role": "assistant", "content": [used("a", "weather"), used("b", "chart")]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [text("20 °C")]},
            {"type": "tool_result", "tool_use_id": "b", "content": [image]},
            marked(text("Go on.")),
        ]},
    ]);
    assert_eq!(body(request).await["messages"], expected);
}

/// Each request has a breakpoint where the one before it had its last, or nothing would be read
/// from the cache.
#[tokio::test]
async fn each_request_finds_what_the_last_one_cached() {
    let mut prompt = Prompt::from_iter([
        Message::System {
            text: "Be brief.".into(),
        },
        Message::user("Weather?"),
    ]);
    let mut bodies = Vec::new();
    for step in 0..4 {
        bodies.push(body(Request::new(prompt.clone()).with_tools(weather())).await);
        let id = format!("call_{step}");
        prompt.push(Message::Assistant {
            text: "Looking.".into(),
            calls: vec![called(&id, "weather")],
            opaque: None,
        });
        prompt.push(result(&id, "20 °C"));
    }
    let breakpoints = |body: &Value| -> Vec<usize> {
        let messages = body["messages"].as_array().unwrap().iter().enumerate();
        let has_one = |message: &Value| {
            let blocks = message["content"].as_array().unwrap();
            blocks.last().unwrap().get("cache_control").is_some()
        };
        messages
            .filter(|(_, message)| has_one(message))
            .map(|(index, _)| index)
            .collect()
    };
    for pair in bodies.windows(2) {
        let (before, after) = (breakpoints(&pair[0]), breakpoints(&pair[1]));
        assert!(
            after.contains(before.last().unwrap()),
            "{before:?} {after:?}"
        );
    }
    // Breakpoints aside, a request is the beginning of the next one.
    let plain = |body: &Value| {
        let text = body.to_string();
        text.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
    };
    for pair in bodies.windows(2) {
        let first = plain(&pair[0]);
        let shared = first.strip_suffix("]}").unwrap();
        assert!(plain(&pair[1]).starts_with(shared), "{first}");
    }
}

#[tokio::test]
async fn tools_are_cached_where_there_are_no_instructions() {
    let body = body(ask("hi").with_tools(weather())).await;
    assert!(body["tools"][0].get("cache_control").is_none());
    assert_eq!(
        body["tools"][1]["cache_control"],
        json!({"type": "ephemeral"})
    );
}

#[tokio::test]
async fn without_a_cache_there_is_no_breakpoint() {
    let server = TestServer::start_anywhere([says("ok")]).await;
    let model = client(&server).without_prompt_cache();
    model
        .complete(ask("hi").with_tools(weather()))
        .await
        .unwrap();
    let sent = server.requests()[0].text();
    assert!(!sent.contains("cache_control"), "{sent}");
}

#[tokio::test]
async fn tool_choices_are_told() {
    let choice = |choice: ToolChoice| async {
        let body = body(ask("hi").with_tools(weather()).with_tool_choice(choice)).await;
        body.get("tool_choice").cloned()
    };
    assert_eq!(choice(ToolChoice::Auto).await, None);
    assert_eq!(
        choice(ToolChoice::Required).await,
        Some(json!({"type": "any"}))
    );
    assert_eq!(
        choice(ToolChoice::None).await,
        Some(json!({"type": "none"}))
    );
    let named = choice(ToolChoice::Named("weather".into())).await;
    assert_eq!(named, Some(json!({"type": "tool", "name": "weather"})));
    let body = body(ask("hi").with_tool_choice(ToolChoice::Required)).await;
    assert_eq!(body.get("tool_choice"), None);
}

#[tokio::test]
async fn a_response_format_is_a_tool_that_has_to_be_called() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let format = ResponseFormat::Schema {
        name: "answer".into(),
        schema: Arc::new(schema.clone()),
    };
    let thinking = options(|options| options.reasoning_effort = Some("2000".into()));
    let request = ask("hi")
        .with_response_format(format.clone())
        .with_options(thinking);
    let body_of = body(request).await;
    assert_eq!(body_of["tools"][0]["name"], "answer_as_json");
    assert_eq!(body_of["tools"][0]["input_schema"], schema);
    let forced = json!({"type": "tool", "name": "answer_as_json"});
    assert_eq!(body_of["tool_choice"], forced);
    // No tool can be demanded of a model that thinks.
    assert_eq!(body_of.get("thinking"), None);

    let beside = body(ask("hi").with_response_format(format).with_tools(weather())).await;
    assert_eq!(beside["tools"].as_array().unwrap().len(), 3);
    assert_eq!(beside["tool_choice"], json!({"type": "any"}));
}

#[tokio::test]
async fn thinking_is_asked_for_by_tokens_or_by_effort() {
    let thinking = |effort: &'static str| async move {
        let options = options(|options| {
            options.reasoning_effort = Some(effort.into());
            options.temperature = Some(0.0);
        });
        let request = ask("hi").with_tools(weather()).with_options(options);
        body(request.with_tool_choice(ToolChoice::Required)).await
    };
    let by_tokens = thinking("2000").await;
    let expected = json!({"type": "enabled", "budget_tokens": 2000});
    assert_eq!(by_tokens["thinking"], expected);
    assert_eq!(by_tokens["max_tokens"], 10_192);
    // Both would be refused while thinking.
    assert_eq!(by_tokens.get("temperature"), None);
    assert_eq!(by_tokens.get("tool_choice"), None);

    let by_effort = thinking("high").await;
    assert_eq!(by_effort["thinking"], json!({"type": "adaptive"}));
    assert_eq!(by_effort["output_config"], json!({"effort": "high"}));

    let off = thinking("none").await;
    assert_eq!(off["thinking"], json!({"type": "disabled"}));
    assert_eq!(off["temperature"], 0.0);
}

#[tokio::test]
async fn extra_options_replace_ours_and_reserved_ones_are_refused() {
    let extra = options(|options| {
        options.extra.insert("max_tokens".into(), json!(99));
        options.extra.insert("top_k".into(), json!(5));
    });
    let body = body(ask("hi").with_options(extra)).await;
    assert_eq!(
        (&body["max_tokens"], &body["top_k"]),
        (&json!(99), &json!(5))
    );

    let server = TestServer::start_anywhere([]).await;
    let messages = options(|options| {
        options.extra.insert("messages".into(), json!([]));
    });
    let request = ask("hi").with_options(messages);
    let error = client(&server).complete(request).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::InvalidRequest);
}
