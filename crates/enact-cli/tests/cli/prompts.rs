//! `enact show --as prompts` shows what was sent.

use std::collections::HashMap;

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{KEY, enact};
use crate::place::{Place, pending};

/// What a request of the wire is as the command shows it.
fn shown(request: &Value) -> String {
    let mut names = HashMap::new();
    let mut text = String::new();
    for message in request["messages"].as_array().unwrap() {
        let mut said: Vec<String> = Vec::new();
        match &message["content"] {
            Value::String(content) if !content.is_empty() => said.push(content.clone()),
            _ => {}
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let (name, arguments) = (&call["function"]["name"], &call["function"]["arguments"]);
            names.insert(call["id"].clone(), name.as_str().unwrap().to_owned());
            let arguments = arguments.as_str().unwrap();
            said.push(format!("[call] {} {arguments}", name.as_str().unwrap()));
        }
        let role = match message["role"].as_str().unwrap() {
            "tool" => format!("tool {}", names[&message["tool_call_id"]]),
            role => role.to_owned(),
        };
        text.push_str(&format!("[{role}]\n{}\n\n", said.join("\n")));
    }
    let tools = request["tools"].as_array().into_iter().flatten();
    let tools: Vec<&str> = tools
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    if !tools.is_empty() {
        text.push_str(&format!("[tools on offer] {}\n", tools.join(", ")));
    }
    text
}

fn prompts(place: &Place, run_id: &str) -> String {
    let said = place.enact(["show", run_id, "--as", "prompts"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    said.stdout
}

#[test]
fn the_prompts_of_a_run_are_those_that_were_sent() {
    let write = json!({"path": "a.txt", "content": "hi"});
    let file = "signature = \"task -> answer, k: int\"\nmodel = \"m\"\nfiles = \".\"\n\
                thought_prompt = \"Mind {tools}.\"\ncompletion = \"finish\"\n";
    for (keys, turns) in [
        (
            "adapter = \"auto\"\n[[demos]]\ninputs = { task = \"t\" }\noutputs = { answer = \"u\" }",
            vec![
                Turn::call("write_file", write.clone()).thinking("I write it."),
                Turn::text("I am done soon."),
                Turn::call("finish", json!({})),
                Turn::text("{\"reasoning\": \"r\", \"answer\": \"done\", \"k\": 2}"),
            ],
        ),
        (
            "adapter = \"tagged\"\nthought_tag = \"Plan\"\naction_tag = \"Do\"",
            vec![
                Turn::text("Plan: I write.\nDo: write_file(path=\"a.txt\", content=\"hi\")"),
                Turn::text("Do: no_such_tool()"),
                Turn::text("Plan: Now I know.\nDo: finish()"),
                Turn::text("reasoning: r\nanswer: done\nk: 2"),
            ],
        ),
    ] {
        let place = Place::new();
        let path = place.files.path().join("agent.toml");
        std::fs::write(&path, format!("{file}{keys}\n")).unwrap();
        let server = TestServer::start_blocking(turns);
        let path = path.to_string_lossy().into_owned();
        let said = enact(["run", "--agent", &path, "--json", "task=Write."])
            .env("OPENAI_BASE_URL", server.base_url())
            .env("OPENAI_API_KEY", KEY)
            .env("ENACT_STORE", &place.store())
            .said();
        assert_eq!(said.code, 3, "{said:?}");
        let object = said.json();
        let run_id = object["run_id"].as_str().unwrap();
        // While it waits there is one.
        let (text, first) = (prompts(&place, run_id), shown(&server.requests()[0].json()));
        assert!(text.contains(&first), "{text}\nsent:\n{first}");
        let resumed = place
            .enact([
                "resume",
                run_id,
                "--approve",
                &pending(&object)[0],
                "--json",
            ])
            .said();
        assert_eq!(resumed.code, 0, "{resumed:?}");
        let text = prompts(&place, run_id);
        let blocks: Vec<&str> = text.split("== request ").skip(1).collect();
        let requests = server.requests();
        assert_eq!(blocks.len(), requests.len(), "{text}");
        for (block, request) in blocks.iter().zip(requests) {
            let (_, block) = block.split_once(" ==\n").unwrap();
            assert_eq!(block.trim_end(), shown(&request.json()).trim_end());
        }
        server.assert_complete();
    }
}
