//! What servers refuse, and what is asked again without it.

use std::sync::Arc;

use enact::model::{
    Function, Functions, LanguageModel as _, ModelErrorKind, Request, ResponseFormat, ToolChoice,
};
use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::{ask, client};

fn with_tools() -> Request {
    let search = Function {
        name: "search".into(),
        description: String::new(),
        parameters: json!({"type": "object"}),
    };
    ask("hi").with_tools(Arc::new(Functions::new(vec![search])))
}

fn with_schema(request: Request) -> Request {
    request.with_response_format(ResponseFormat::Schema {
        name: "answer".into(),
        schema: Arc::new(json!({"type": "object"})),
    })
}

async fn kind_of(turn: Turn, request: Request) -> ModelErrorKind {
    let server = TestServer::start([turn]).await;
    let error = client(&server).complete(request).await.unwrap_err();
    server.assert_complete();
    error.kind()
}

#[tokio::test]
async fn truth_a_refusal_of_tools_is_known_in_the_words_of_each_server() {
    for (status, body) in [
        (
            422,
            r#"{"error":"Tool error: No tool support for this model","error_type":"tool_error"}"#,
        ),
        (
            422,
            "Failed to deserialize the JSON body: tools: unknown field `tools` at line 1 column 90",
        ),
        (501, r#"{"error":"tools not implemented"}"#),
    ] {
        let kind = kind_of(Turn::status(status).body(body), with_tools()).await;
        assert_eq!(kind, ModelErrorKind::ToolsRefused, "{body}");
        assert!(!kind.is_retryable());
    }
}

#[tokio::test]
async fn truth_a_refusal_without_a_word_is_one_of_tools_then_of_the_format() {
    for (request, kind) in [
        (with_schema(with_tools()), ModelErrorKind::ToolsRefused),
        (with_schema(ask("hi")), ModelErrorKind::FormatRefused),
        (ask("hi"), ModelErrorKind::InvalidRequest),
    ] {
        assert_eq!(kind_of(Turn::status(400), request.clone()).await, kind);
        let said = Turn::status(400).body(r#"{"error":{"message":"no"}}"#);
        let told = ModelErrorKind::InvalidRequest;
        assert_eq!(kind_of(said, request).await, told);
    }
}

#[tokio::test]
async fn truth_what_can_be_spared_is_left_out_and_remembered() {
    for (field, refusal) in [
        (
            "stream_options",
            "Unrecognized request argument supplied: stream_options",
        ),
        (
            "parallel_tool_calls",
            "Unknown parameter: 'parallel_tool_calls'.",
        ),
        (
            "tool_choice",
            "`tool_choice` is not supported by this model",
        ),
    ] {
        let body = json!({"error": {"message": refusal, "type": "invalid_request_error"}});
        let refused = Turn::status(400).body(body.to_string());
        let server = TestServer::start([refused, Turn::text("ok"), Turn::text("ok")]).await;
        let model = client(&server);
        let request = with_tools().with_tool_choice(ToolChoice::Required);
        for _ in 0..2 {
            let reply = model.clone().complete(request.clone()).await.unwrap();
            assert_eq!((&*reply.text, reply.attempts), ("ok", 1), "{field}");
        }
        server.assert_complete();
        let sent: Vec<Value> = server.requests().iter().map(|sent| sent.json()).collect();
        let has = |sent: &Value| [sent.get(field).is_some(), sent.get("tools").is_some()];
        let has: Vec<_> = sent.iter().map(has).collect();
        assert_eq!(has, [[true, true], [false, true], [false, true]], "{field}");
    }
}

#[tokio::test]
async fn truth_a_server_that_streams_no_calls_is_asked_for_whole_replies() {
    let body = json!({"error": {"message": "Streaming with tools is not supported"}});
    let refused = Turn::status(400).body(body.to_string());
    let turns = [
        refused,
        Turn::text("ok"),
        Turn::text("ok"),
        Turn::text("ok"),
    ];
    let server = TestServer::start(turns).await;
    let model = client(&server).with_replies_streamed();
    for request in [with_tools(), with_tools(), ask("hi")] {
        assert_eq!(model.complete(request).await.unwrap().text, "ok");
    }
    let sent = server.requests();
    let streams: Vec<bool> = sent
        .iter()
        .map(|sent| sent.json()["stream"] == true)
        .collect();
    assert_eq!(streams, [true, false, false, true]);
}
