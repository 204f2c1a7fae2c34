//! Agents that call agents, and servers of a file.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use super::{WRITER, asked, done, run, tool_names, write};
use crate::place::{Place, pending};

/// An agent that calls another, whose file is beside it.
fn team(place: &Place) -> String {
    std::fs::create_dir(place.files.path().join("work")).unwrap();
    let writer = WRITER.replace("[rules.thoughts]\nrequired = true\n", "");
    write(place, "writer.toml", &writer);
    write(
        place,
        "agent.toml",
        r#"
signature = "question -> answer"
model = "of-the-caller"
tools = ["calculator"]

[agents.writer]
file = "writer.toml"
description = "Writes files."
"#,
    )
}

#[test]
fn an_agent_hands_over_to_another_and_both_go_on_in_another_process() {
    let place = Place::new();
    let path = team(&place);
    let server = TestServer::start_blocking([
        Turn::call("writer", json!({"task": "Write a.txt."})),
        Turn::call("write_file", json!({"path": "a.txt", "content": "hello"})),
        Turn::call("submit", json!({"answer": "written"})),
        done(),
    ]);
    let said = run(&place, &server, &path).args(["question=x"]).said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let question = object["pending"][0]["question"].as_str().unwrap();
    assert!(question.starts_with("writer asks: "), "{question}");
    let names = tool_names(&asked(&server, 0));
    assert_eq!(names, ["calculator", "writer", "submit"]);

    for file in ["agent.toml", "writer.toml"] {
        std::fs::remove_file(place.files.path().join(file)).unwrap();
    }
    let id = &pending(&object)[0];
    let said = place
        .enact(["resume", &run_id, "--answer", id, "yes", "--json"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["outputs"]["answer"], "done");
    assert_eq!(place.written("work/a.txt").as_deref(), Some("hello"));
    let models: Vec<Value> = (0..4)
        .map(|index| asked(&server, index)["model"].clone())
        .collect();
    let expected = [
        "of-the-caller",
        "of-the-file",
        "of-the-file",
        "of-the-caller",
    ];
    assert_eq!(models, expected);
    server.assert_complete();
}

#[test]
fn the_run_of_an_agent_that_was_called_goes_on_with_its_caller_only() {
    let place = Place::new();
    let path = team(&place);
    let server = TestServer::start_blocking([
        Turn::call("writer", json!({"task": "Write a.txt."})),
        Turn::call("write_file", json!({"path": "a.txt", "content": "hello"})),
    ]);
    let object = run(&place, &server, &path)
        .args(["question=x"])
        .said()
        .json();
    let run_id = object["run_id"].as_str().unwrap();
    let runs = place.runs();
    let inner = runs.iter().find(|run| run["run_id"] != run_id).unwrap();
    let said = place
        .enact(["resume", inner["run_id"].as_str().unwrap(), "--json"])
        .said();
    assert_eq!(said.code, 2, "{said:?}");
    let told = said.error_line();
    assert!(told.contains(&format!("`enact resume {run_id}`")), "{told}");
    // Only the caller has this ending, and it ends both.
    let said = place.enact(["cancel", &run_id[28..]]).said();
    assert_eq!(said.code, 0, "{said:?}");
    let runs = place.runs();
    assert_eq!(runs.len(), 2, "{runs:?}");
    for run in runs {
        assert_eq!(run["termination_reason"], "cancelled", "{run}");
    }
    let said = place.enact(["rm", run_id]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.runs(), [] as [Value; 0]);
}

#[cfg(unix)]
#[test]
fn a_file_lists_servers_and_an_agent_of_a_file_is_one() {
    let place = Place::new();
    let inner = TestServer::start_blocking([Turn::call("submit", json!({"twice": 42}))]);
    let outer = TestServer::start_blocking([
        Turn::call("doubler", json!({"n": 21})),
        Turn::call("submit", json!({"answer": "42"})),
    ]);
    write(
        &place,
        "doubler.toml",
        &format!(
            "signature = 'n: int -> twice: int'\ndescription = 'Doubles a number.'\n\
             model = 'inner'\nbase_url = '{}'\n",
            inner.base_url()
        ),
    );
    // The server starts in the folder of the file, whoever starts it from where.
    let path = write(
        &place,
        "agent.toml",
        &format!(
            "signature = 'question -> answer'\nmodel = 'outer'\n\
             [mcp.numbers]\ncommand = '{}'\n\
             args = ['mcp', '--agent', 'doubler.toml', '--name', 'doubler', '--store', 'none', \
             '--no-probe']\n\
             env = {{ OPENAI_API_KEY = '${{HUSH}}' }}\nallow = ['doub*']\n\
             [approval]\ndoubler = 'always'\n",
            env!("CARGO_BIN_EXE_enact")
        ),
    );
    let said = run(&place, &outer, &path)
        .args(["question=Twice 21?"])
        .env("HUSH", "hush-hush")
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap();
    let events = place
        .enact(["show", run_id, "--as", "events"])
        .said()
        .stdout;
    assert!(events.contains("${HUSH}"), "{events}");
    assert!(!events.contains("hush-hush"), "{events}");
    let said = place
        .enact([
            "resume",
            run_id,
            "--approve",
            &pending(&object)[0],
            "--json",
        ])
        .env("HUSH", "hush-hush")
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        inner.requests()[0].header("authorization"),
        Some("Bearer hush-hush")
    );
    let described = asked(&outer, 0)["tools"][0]["function"]["description"].clone();
    assert_eq!(described, "Doubles a number.");
    inner.assert_complete();
    outer.assert_complete();
}
