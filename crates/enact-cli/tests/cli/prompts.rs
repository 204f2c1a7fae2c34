//! `enact show --as prompts` shows what was sent.

use std::collections::HashMap;

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{KEY, asking, enact, run};
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
    for tool in request["tools"].as_array().into_iter().flatten() {
        let function = &tool["function"];
        let (name, about) = (&function["name"], &function["description"]);
        let (name, about) = (name.as_str().unwrap(), about.as_str().unwrap());
        text.push_str(&format!(
            "[offered tool {name}]\n{about}\n{}\n\n",
            function["parameters"]
        ));
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
            // What stands below is asserted by a test of its own.
            let settings = ["tool_choice", "response_format", "stop", "options"];
            let is_setting = |line: &&str| {
                settings
                    .iter()
                    .any(|name| line.starts_with(&format!("[{name}] ")))
            };
            let block: Vec<&str> = block.lines().filter(|line| !is_setting(line)).collect();
            assert_eq!(
                block.join("\n").trim_end(),
                shown(&request.json()).trim_end()
            );
        }
        server.assert_complete();
    }
}

#[test]
fn a_request_is_shown_with_everything_that_was_asked() {
    let place = Place::new();
    let server = TestServer::start_blocking([Turn::call("submit", json!({"answer": "done"}))]);
    let args = [
        "task -> answer",
        "task=?",
        "--temperature=0.5",
        "--max-tokens=99",
        "--json",
    ];
    let said = run(&server, args).env("ENACT_STORE", &place.store()).said();
    assert_eq!(said.code, 0, "{said:?}");
    let text = prompts(&place, "last");
    let options = r#"[options] {"temperature":0.5,"max_tokens":99}"#;
    assert!(text.contains(options), "{text}");
    let said = place
        .enact(["show", "last", "--as", "prompts", "--json"])
        .said();
    let shown: Value = serde_json::from_str(&said.stdout).unwrap();
    let sent = server.requests()[0].json();
    assert_eq!(
        shown[0]["options"],
        json!({"temperature": 0.5, "max_tokens": 99})
    );
    assert_eq!(
        shown[0]["messages"][0]["text"],
        sent["messages"][0]["content"]
    );
    let (tool, function) = (&shown[0]["tools"][0], &sent["tools"][0]["function"]);
    assert_eq!(tool["name"], "submit");
    for key in ["name", "description", "parameters"] {
        assert_eq!(tool[key], function[key], "{key}");
    }
    for key in ["tool_choice", "response_format", "stop"] {
        assert!(shown[0].get(key).is_some(), "{key}: {shown}");
    }
    let said = place
        .enact(["show", "last", "--as", "trajectory", "--json"])
        .said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("--as prompts"), "{said:?}");
}

#[test]
fn the_prompts_of_an_agent_that_was_called_are_those_that_were_sent() {
    let place = Place::new();
    let file = |name: &str| place.files.path().join(name);
    std::fs::write(
        file("inner.toml"),
        "signature = \"topic -> note\"\ndescription = \"Takes notes.\"\nadapter = \"json\"\n\
         instructions = \"Note it in Latin.\"\n",
    )
    .unwrap();
    std::fs::write(
        file("outer.toml"),
        "signature = \"task -> answer\"\n[agents.scribe]\nfile = \"inner.toml\"\n",
    )
    .unwrap();
    let step = json!({"next_thought": "t", "next_tool_name": "submit",
                      "next_tool_args": {"note": "nota"}});
    let server = TestServer::start_blocking([
        Turn::call("scribe", json!({"topic": "rain"})),
        Turn::text(step.to_string()),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let outer = file("outer.toml").to_string_lossy().into_owned();
    let args = ["run", "--agent", &outer, "task=Go.", "--json"];
    let said = asking(&server, args)
        .env("ENACT_STORE", &place.store())
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let runs = place.runs();
    let inner = runs
        .iter()
        .find(|run| run["run_id"].as_str().unwrap().contains('.'));
    let text = prompts(&place, inner.unwrap()["run_id"].as_str().unwrap());
    let sent = server.requests()[1].json();
    assert!(
        text.contains(&shown(&sent)),
        "{text}\nsent:\n{}",
        shown(&sent)
    );
    assert!(text.contains("Note it in Latin."), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_prompts_of_a_run_of_a_program_are_known_to_that_program_alone() {
    let place = Place::new();
    let server = TestServer::start([Turn::call("submit", json!({"answer": "done"}))]).await;
    std::fs::create_dir_all(place.store_file("").parent().unwrap()).unwrap();
    let store = enact_sqlite::SqliteStore::open(place.store())
        .await
        .unwrap();
    let model = enact::model::OpenAi::new("m").with_base_url(server.base_url());
    let agent = enact::ReAct::builder("task -> answer")
        .model(model.unwrap())
        .thought_prompt("Mind the gap.")
        .build()
        .unwrap();
    let call = agent.call(enact::values! { task: "Go." }).store(store);
    call.await.unwrap().finished().unwrap();
    let said = place.enact(["show", "last", "--as", "prompts"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(
        said.error_line().contains("`agent.prompts(&run)`"),
        "{said:?}"
    );
}
