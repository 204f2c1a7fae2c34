//! Prompts, arguments and observations: absent unless asked for.

use enact::model::{ScriptStep, call};
use enact::telemetry::CONTENT;
use enact::{Settings, Tools, values};
use serde_json::{Value, json};

use crate::{agent, named, only, search, watch};

fn steps() -> [ScriptStep; 2] {
    [
        call("search", json!({"query": "the query"})).thinking("the thought"),
        call("submit", json!({"answer": "the answer"})),
    ]
}

#[tokio::test]
async fn content_is_absent_by_default() {
    let watched = watch();
    let agent = agent(Tools::new().with(search()), steps());
    let ended = agent.call(values! { question: "the question" }).await;
    ended.unwrap().finished().unwrap();
    let spans = watched.spans();
    let told = format!("{spans:?}");
    for word in [
        "the question",
        "the thought",
        "the query",
        "found",
        "the answer",
    ] {
        assert!(!told.contains(word), "{word}: {told}");
    }
    for span in &spans {
        for name in CONTENT {
            assert_eq!(span.attributes.get(name), None);
        }
    }
}

#[tokio::test]
async fn content_is_there_when_asked_for() {
    let watched = watch();
    let agent = agent(Tools::new().with(search()), steps());
    let settings = Settings::new().content_in_spans(true);
    let call = agent
        .call(values! { question: "the question" })
        .into_future();
    let ended = enact::scope(settings, call).await;
    ended.unwrap().finished().unwrap();
    let spans = watched.spans();
    let content = |span: &enact_test_server::Collected, name: &str| -> Value {
        serde_json::from_str(span.attributes[name].as_str().unwrap()).unwrap()
    };

    let root = only(&spans, "invoke_agent");
    let question = &content(root, "gen_ai.input.messages")[0];
    assert_eq!(question["role"], "user");
    let said: Value =
        serde_json::from_str(question["parts"][0]["content"].as_str().unwrap()).unwrap();
    assert_eq!(said, json!({"question": "the question"}));
    let answer = content(root, "gen_ai.output.messages").to_string();
    assert!(answer.contains("the answer"), "{answer}");

    let chats = named(&spans, "chat");
    let system = content(chats[0], "gen_ai.system_instructions");
    assert_eq!(system[0]["type"], "text");
    assert_eq!(
        content(chats[0], "gen_ai.output.messages"),
        json!([{
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "the thought"},
                {
                    "type": "tool_call",
                    "id": content(chats[0], "gen_ai.output.messages")[0]["parts"][1]["id"],
                    "name": "search",
                    "arguments": {"query": "the query"},
                },
            ],
            "finish_reason": "tool_calls",
        }])
    );
    let prompt = content(chats[1], "gen_ai.input.messages");
    let roles: Vec<&str> = prompt
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
    let response = &prompt[2]["parts"][0];
    assert_eq!(response["type"], "tool_call_response");
    assert_eq!(response["response"], "found the query");

    let tool = only(&spans, "execute_tool").attributes.clone();
    assert_eq!(
        tool["gen_ai.tool.call.arguments"],
        r#"{"query":"the query"}"#
    );
    assert_eq!(tool["gen_ai.tool.call.result"], "found the query");
}
