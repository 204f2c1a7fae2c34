//! What a probe finds out of a model.

use enact::model::{
    Capabilities, ModelError, ModelErrorKind, OpenAi, ScriptStep, ScriptedModel, ToolChoice, call,
    calls, fail, probe, say,
};
use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

const NATIVE: Capabilities = Capabilities::FULL;

fn looks_up() -> ScriptStep {
    call("look_up", json!({"term": "Konstanz"}))
}

fn submits() -> ScriptStep {
    call("submit", json!({"answer": "It has 84,446 inhabitants."}))
}

/// Makes a call that helps nobody, because it was told to.
fn obeys() -> ScriptStep {
    call("calculate", json!({"expression": "1 + 1"}))
}

fn fits() -> ScriptStep {
    say(r#" {"colour": "blue", "is_deep": true} "#)
}

async fn found(steps: impl IntoIterator<Item = ScriptStep>) -> Result<Capabilities, ModelError> {
    let model = ScriptedModel::new(steps);
    let found = probe(&model).await;
    model.assert_complete();
    found
}

#[tokio::test]
async fn truth_a_model_whose_calls_come_as_calls_is_found() {
    let model = ScriptedModel::new([looks_up(), submits(), fits(), obeys()]);
    assert_eq!(probe(&model).await.unwrap(), NATIVE);
    let requests = model.requests();
    // Nothing was demanded: it called by itself.
    assert_eq!(requests[0].tool_choice, Default::default());
    assert!(requests[0].options.max_tokens.is_some());
    assert_eq!(requests[1].prompt.len(), requests[0].prompt.len() + 2);
    assert!(requests[2].tools.is_empty());
    let demanded = ToolChoice::Named("calculate".to_owned());
    assert_eq!(requests[3].tool_choice, demanded);
    let text = found([looks_up(), submits(), say("The sea is wide."), obeys()]).await;
    assert_eq!(text.unwrap(), NATIVE.with_response_schema(false));
}

#[tokio::test]
async fn truth_a_tool_choice_that_is_not_enforced_is_found() {
    for reply in [
        say("The sea is wide."),
        submits(),
        calls([
            ("calculate", json!({"expression": "1"})),
            ("submit", json!({"answer": "?"})),
        ]),
        fail(ModelErrorKind::Server, "internal error"),
        fail(ModelErrorKind::InvalidRequest, "bad request"),
        fail(ModelErrorKind::ToolsRefused, "tool_choice is not supported"),
    ] {
        let found = found([looks_up(), submits(), fits(), reply]).await.unwrap();
        assert_eq!(found, NATIVE.with_tool_choice(false));
    }
    // Not found out: a demand does no harm.
    let thinking = say("<think>Hm, ").cut_off();
    let unknown = found([looks_up(), submits(), fits(), thinking]).await;
    assert_eq!(unknown.unwrap(), NATIVE);
    let down = fail(ModelErrorKind::Connection, "nobody is there");
    let error = found([looks_up(), submits(), fits(), down]).await;
    assert_eq!(error.unwrap_err().kind(), ModelErrorKind::Connection);
}

#[tokio::test]
async fn truth_a_model_that_writes_calls_as_text_is_found() {
    let written = "```json\n{\"name\": \"look_up\", \"arguments\": {\"term\": \"Konstanz\"}}\n```";
    for reply in [
        say(written),
        say("It is 84446."),
        call("look_up", json!({"term": "a lake"})),
        call("look_up", json!("{\"term\": \"Konstanz\"")),
        call("lookup", json!({"term": "Konstanz"})),
        calls([
            ("look_up", json!({"term": "Konstanz"})),
            ("submit", json!({"answer": "?"})),
        ]),
        looks_up().cut_off(),
        say(""),
    ] {
        assert_eq!(
            found([reply, fits()]).await.unwrap(),
            NATIVE.with_tools(false)
        );
    }
}

#[tokio::test]
async fn truth_a_model_that_makes_the_same_call_for_ever_is_found() {
    for reply in [
        looks_up(),
        say("84446"),
        call("submit", json!({"answer": "?"})),
    ] {
        let found = found([looks_up(), reply, fits()]).await.unwrap();
        assert_eq!(found, NATIVE.with_tools(false));
    }
}

#[tokio::test]
async fn truth_a_schema_that_is_not_enforced_is_found() {
    for reply in [
        say("The sea is blue."),
        say("```json\n{\"colour\": \"blue\", \"is_deep\": true}\n```"),
        say(r#"{"colour": "teal", "is_deep": true}"#),
        say(r#"{"colour": "blue"}"#),
        say(r#"{"colour": "blue", "is_deep": true, "more": 1}"#),
    ] {
        assert_eq!(found([say("?"), reply]).await.unwrap(), Capabilities::TEXT);
    }
}

/// What is found at a server that answers so.
async fn at_server(turns: impl IntoIterator<Item = Turn>) -> Result<Capabilities, ModelError> {
    let server = TestServer::start(turns).await;
    let model = OpenAi::new("tools-and-json").with_base_url(server.base_url());
    let found = probe(&model.unwrap()).await;
    server.assert_complete();
    found
}

fn refusal(status: u16, message: &str) -> Turn {
    let body = json!({"error": {"message": message}});
    Turn::status(status).body(body.to_string())
}

fn schema() -> Turn {
    Turn::text(json!({"colour": "red", "is_deep": false}).to_string())
}

#[tokio::test]
async fn truth_a_refusal_says_what_a_server_cannot_do() {
    for (status, message) in [
        (
            400,
            "registry.ollama.ai/library/gemma:2b does not support tools",
        ),
        (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice",
        ),
        (500, "tools param requires --jinja flag"),
        (404, "No endpoints found that support tool use."),
        (422, ""),
    ] {
        let found = at_server([refusal(status, message), schema()]).await;
        assert_eq!(found.unwrap(), NATIVE.with_tools(false), "{message}");
    }
    let found = at_server([
        refusal(400, "does not support tools"),
        refusal(400, "response_format is not supported"),
    ])
    .await;
    assert_eq!(found.unwrap(), Capabilities::TEXT);
}

#[tokio::test]
async fn truth_a_failure_says_nothing_of_a_model() {
    for (status, message, kind) in [
        (401, "no tool for you", ModelErrorKind::Authentication),
        (429, "slow down", ModelErrorKind::RateLimit),
        (503, "Loading model", ModelErrorKind::Server),
        // What it is called says nothing, either.
        (
            404,
            "model 'tools-and-json' not found",
            ModelErrorKind::NotFound,
        ),
    ] {
        let error = at_server([refusal(status, message)]).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{message}");
    }
    let refused = || refusal(400, "bad temperature");
    let error = at_server([refused(), refused()]).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::InvalidRequest);
    let down = fail(ModelErrorKind::Connection, "nobody is there");
    let error = found([down]).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Connection);
    // What it would have said is not known.
    for thinking in [say("").reasoning("Hm, "), say("<think>Hm, ")] {
        let error = found([thinking.cut_off()]).await.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Protocol);
    }
}

#[tokio::test(start_paused = true)]
async fn truth_a_probe_does_not_wait_for_ever() {
    let server = TestServer::start([Turn::text("…").then_stall()]).await;
    let model = OpenAi::new("slow")
        .with_base_url(server.base_url())
        .unwrap();
    let error = probe(&model).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Timeout);
}

#[tokio::test]
async fn a_probe_goes_over_the_wire() {
    let server = TestServer::start([
        Turn::call("look_up", json!({"term": "Konstanz"})),
        Turn::call("submit", json!({"answer": "84446"})),
        schema(),
        Turn::call("calculate", json!({"expression": "1"})),
    ])
    .await;
    let model = OpenAi::new("m").with_base_url(server.base_url()).unwrap();
    assert_eq!(probe(&model).await.unwrap(), NATIVE);
    let sent: Vec<Value> = server.requests().iter().map(|sent| sent.json()).collect();
    assert_eq!(sent[0]["tool_choice"], Value::Null);
    assert_eq!(sent[1]["messages"][3]["role"], "tool");
    assert_eq!(sent[2]["response_format"]["type"], "json_schema");
    assert_eq!(sent[3]["tool_choice"]["function"]["name"], "calculate");
}
