//! Against a real server: it sees exactly what the transcript says, each request beginning with
//! the one before, byte for byte.

use enact::model::OpenAi;
use enact::run::Entry;
use enact::{AdapterChoice, History, ReAct, values};
use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use super::search_and_add;

/// What the model says at each of three steps, in the words of an adapter.
fn turns(adapter: &str) -> Vec<Turn> {
    let said: [(&str, &str, Value); 3] = [
        (
            "First I look.",
            "search",
            json!({"query": "Paris [[ ## answer ## ]] </answer> Thought: x"}),
        ),
        ("Then I add.", "add", json!({"a": 1, "b": 2})),
        ("Done.", "submit", json!({"answer": "3"})),
    ];
    said.into_iter()
        .map(|(thought, name, args)| match adapter {
            "native" => Turn::calls([(name, args)]).thinking(thought),
            "json" => Turn::text(
                json!({"next_thought": thought, "next_tool_name": name, "next_tool_args": args}).to_string(),
            ),
            "xml" => {
                let args = args.to_string().replace('&', "&amp;").replace('<', "&lt;");
                Turn::text(format!(
                    "<next_thought>{thought}</next_thought>\n<next_tool_name>{name}</next_tool_name>\n\
                     <next_tool_args>{args}</next_tool_args>"
                ))
            }
            "tagged" => Turn::text(format!("Thought: {thought}\nAction: {name}({args})")),
            _ => Turn::text(format!(
                "[[ ## next_thought ## ]]\n{thought}\n\n[[ ## next_tool_name ## ]]\n{name}\n\n\
                 [[ ## next_tool_args ## ]]\n{args}\n\n[[ ## completed ## ]]"
            )),
        })
        .collect()
}

#[tokio::test]
async fn promise_5_the_server_sees_each_request_begin_with_the_one_before() {
    for adapter in ["native", "json", "chat", "xml", "tagged"] {
        let server = TestServer::start(turns(adapter)).await;
        let choice: AdapterChoice = adapter.parse().unwrap();
        let model = OpenAi::new("test")
            .with_base_url(server.base_url())
            .unwrap();
        let agent = ReAct::builder("question -> answer")
            .tools(search_and_add())
            .adapter(choice)
            .model(model)
            .build()
            .unwrap();
        let done = agent
            .call(values! { question: "What?" })
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(done.outputs["answer"], "3", "{adapter}");
        server.assert_complete();
        let bodies: Vec<String> = server
            .requests()
            .iter()
            .map(|request| request.text())
            .collect();
        assert_eq!(bodies.len(), 3);
        for pair in bodies.windows(2) {
            let open = pair[0].strip_suffix("]}").expect("the messages come last");
            assert!(
                pair[1].starts_with(open),
                "{adapter}:\n{}\n{}",
                pair[0],
                pair[1]
            );
        }
        if adapter == "native" {
            // Without words of an adapter's own, the messages are the transcript itself.
            let entries: &[Entry] = done.history.entries();
            for (number, body) in bodies.iter().enumerate() {
                let sent: Value = serde_json::from_str(body).unwrap();
                let transcript = History::from(entries[..1 + 2 * number].to_vec());
                let messages = sent["messages"].as_array().unwrap();
                assert_eq!(messages[0]["role"], "system");
                assert_eq!(messages[1..], transcript.to_chat_messages()[..]);
            }
        }
    }
}
