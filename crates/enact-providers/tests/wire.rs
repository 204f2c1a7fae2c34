//! Models through genai against a server that decides every byte.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use enact_core::model::{
    Function, Functions, LanguageModel as _, Message, ModelError, RawCall, Reply, Request,
};
use enact_providers::Genai;
use enact_test_server::{TestServer, Turn};
use serde_json::json;

mod wire {
    mod gemini;
    mod ollama;
}

const KEY: &str = "key-0123456789abcdef";

fn client(name: &str, server: &TestServer) -> Genai {
    Genai::model(name)
        .unwrap()
        .with_api_key(KEY)
        .with_base_url(server.base_url())
        .unwrap()
}

fn ask(text: &str) -> Request {
    Request::new([Message::user(text)].into_iter().collect())
}

async fn reply_of(name: &str, turn: Turn) -> Reply {
    let server = TestServer::start_anywhere([turn]).await;
    let reply = client(name, &server).complete(ask("hi")).await.unwrap();
    server.assert_complete();
    reply
}

/// The error, which never holds the key or the prompt.
async fn error_of(name: &str, turn: Turn) -> ModelError {
    let server = TestServer::start_anywhere([turn]).await;
    let model = client(name, &server);
    let error = model.complete(ask("a private prompt")).await.unwrap_err();
    server.assert_complete();
    let shown = format!("{error} {error:?} {model:?}");
    assert!(!shown.contains(KEY), "{shown}");
    assert!(!shown.contains("private"), "{shown}");
    error
}

fn weather() -> Arc<Functions> {
    Arc::new(Functions::new(vec![Function {
        name: "weather".into(),
        description: "Current weather.".into(),
        parameters: json!({"type": "object", "properties": {"city": {"type": "string"}}}),
    }]))
}

fn call(id: &str, city: &str) -> RawCall {
    RawCall {
        id: Some(id.into()),
        name: "weather".into(),
        arguments: json!({ "city": city }).to_string(),
    }
}
