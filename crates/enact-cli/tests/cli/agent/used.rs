//! Commands with `--agent`.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use super::{WRITER, asked, done, run, tool_names, write};
use crate::command::{Said, asking, enact};
use crate::place::{Place, pending};

#[test]
fn a_run_goes_on_as_it_began_whatever_becomes_of_its_file() {
    let place = Place::new();
    std::fs::create_dir(place.files.path().join("work")).unwrap();
    let path = write(&place, "agent.toml", WRITER);
    let server = TestServer::start_blocking([
        Turn::call("write_file", json!({"path": "a.txt", "content": "hello"}))
            .thinking("The task says to write it."),
        done(),
    ]);
    let said = run(&place, &server, &path).args(["task=Write it."]).said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let events = place.enact(["show", &run_id, "--as", "events"]).said();
    let started: Value = serde_json::from_str(events.stdout.lines().next().unwrap()).unwrap();
    let text = started.to_string();
    assert!(text.contains("\"max_iterations\":7"), "{text}");
    assert!(text.contains("\"time_budget_ns\":300000000000"), "{text}");

    std::fs::remove_file(&path).unwrap();
    let said = place
        .enact([
            "resume",
            &run_id,
            "--approve",
            &pending(&object)[0],
            "--json",
        ])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.written("work/a.txt").as_deref(), Some("hello"));
    // The second request begins with the first one: demonstrations, instructions, sampling.
    let (first, second) = (asked(&server, 0), asked(&server, 1));
    let messages = first["messages"].as_array().unwrap();
    let later = second["messages"].as_array().unwrap();
    assert_eq!(later[..messages.len()], messages[..]);
    assert!(first.to_string().contains("nothing was written"), "{first}");
    for request in [&first, &second] {
        assert_eq!(request["model"], "of-the-file");
        assert_eq!(request["temperature"], 0.5);
    }
    server.assert_complete();
}

#[test]
fn flags_win_over_the_file_and_the_environment_over_its_model() {
    let place = Place::new();
    std::fs::create_dir(place.files.path().join("work")).unwrap();
    let path = write(&place, "agent.toml", WRITER);
    let server = TestServer::start_blocking([done(), done(), done()]);
    let said = run(&place, &server, &path)
        .args(["task=x", "--model=of-the-flag", "--temperature=0"])
        .args([
            "--tools=calculator",
            "--max-iterations=3",
            "--instructions=Be quick.",
        ])
        .env("ENACT_MODEL", "of-the-environment")
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let request = asked(&server, 0);
    assert_eq!(request["model"], "of-the-flag");
    assert_eq!(request["temperature"], 0.0);
    assert_eq!(
        tool_names(&request)[..2],
        ["calculator", "list_files"],
        "a folder whose tools nobody names hands over all"
    );
    assert!(request.to_string().contains("Be quick."), "{request}");
    for (variable, model) in [
        ("of-the-environment", "of-the-environment"),
        ("", "of-the-file"),
    ] {
        let said = run(&place, &server, &path)
            .args(["task=x"])
            .env("ENACT_MODEL", variable)
            .said();
        assert_eq!(said.code, 0, "{said:?}");
        let last = server.requests().len() - 1;
        assert_eq!(asked(&server, last)["model"], model);
    }
    server.assert_complete();
}

#[test]
fn without_a_model_in_the_file_the_order_goes_on_to_what_is_at_hand() {
    let place = Place::new();
    let path = write(&place, "agent.toml", "signature = 'question -> answer'");
    let said = enact(["run", "--agent", &path, "question=x"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("no model is set"), "{said:?}");
}

#[test]
fn a_command_that_is_wrong_about_its_file_says_so_in_one_line() {
    let place = Place::new();
    let good = write(&place, "good.toml", "signature = 'question -> answer'");
    let bad = write(&place, "bad.toml", "signature = 'a -> b'\nx = 1\ny = 2\n");
    let line = |args: &[&str]| {
        let said = enact(args.iter().copied()).said();
        assert_eq!(said.code, 2, "{said:?}");
        said.error_line().to_owned()
    };
    let told = line(&["run", "--agent", &bad, "a=1"]);
    let expected = format!("(and 1 more: `enact check {bad}` lists them)");
    assert!(
        told.starts_with(&format!("{bad}:2:1: unknown key `x`")),
        "{told}"
    );
    assert!(told.ends_with(&expected), "{told}");
    let told = line(&["run", "--agent", "/no/such/agent.toml", "a=1"]);
    assert!(
        told.contains("/no/such/agent.toml: the agent file cannot be read"),
        "{told}"
    );
    let told = line(&[
        "run",
        "--agent",
        &good,
        "question -> answer",
        "--model=ollama::m",
    ]);
    assert!(
        told.contains("contains the signature: leave it out"),
        "{told}"
    );
    let said = enact(["chat", "question -> answer", "--agent", &good]).said();
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn a_conversation_and_an_evaluation_are_of_the_file() {
    let place = Place::new();
    let path = write(
        &place,
        "agent.toml",
        "signature = 'n: int -> twice: int'\nmodel = 'm'\ntools = ['calculator']\n",
    );
    let twice = |n: i64| Turn::call("submit", json!({"twice": n}));
    let server = TestServer::start_blocking([twice(42), twice(8)]);
    let said: Said = enact(["chat", "--agent", &path])
        .env("OPENAI_BASE_URL", server.base_url())
        .stdin("21\n")
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("42"), "{said:?}");
    let dataset = write(
        &place,
        "numbers.jsonl",
        &json!({"inputs": {"n": 4}, "expected": {"twice": 8}}).to_string(),
    );
    let said = asking(
        &server,
        ["eval", &dataset, "--agent", &path, "--min-accuracy=1"],
    )
    .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(tool_names(&asked(&server, 1)), ["calculator", "submit"]);
    server.assert_complete();
}

#[test]
fn a_file_says_every_limit_and_every_rule() {
    let place = Place::new();
    let path = write(
        &place,
        "agent.toml",
        r#"
signature = "task -> answer"
model = "m"

[limits]
max_iterations = 1
max_repairs = 2
stall_threshold = 4
max_observation_tokens = 5
max_tool_calls = 6
token_budget = 70_000
cost_budget = 0.5
time_budget = "1m"
answer_within = "2h"

[rules]
success_phrases = ["I have it"]
failure_phrases = ["it cannot be done"]
judges = true
condenses = true
reads_again = true
thoughts_in_context = { last = 3 }

[rules.thoughts]
required = true
min_length = 9
substantive = true
new = true

[prices.m]
input = 1
output = 2
"#,
    );
    let server = TestServer::start_blocking([done()]);
    let said = run(&place, &server, &path).args(["task=x"]).said();
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap();
    let events = place.enact(["show", run_id, "--as", "events"]).said();
    let first: Value = serde_json::from_str(events.stdout.lines().next().unwrap()).unwrap();
    let started = find(&first, "limits").unwrap();
    assert_eq!(
        started["limits"],
        json!({
            "max_iterations": 1, "max_repairs": 2, "stall_threshold": 4,
            "max_observation_tokens": 5, "max_tool_calls": 6, "token_budget": 70_000,
            "cost_budget": 0.5, "time_budget_ns": 60_000_000_000_u64,
            "answer_within_ns": 7_200_000_000_000_u64,
        })
    );
    assert_eq!(
        started["rules"],
        json!({
            "success_phrases": ["I have it"], "failure_phrases": ["it cannot be done"],
            "judges": true, "condenses": true, "reads_again": true,
            "thoughts": {"required": true, "min_length": 9, "substantive": true, "new": true},
            "thoughts_in_context": {"last": 3},
        })
    );
    let prices = started["agent"]["prices"]["step"].clone();
    assert_eq!(prices, json!({"input": 1.0, "output": 2.0}));
}

/// The object that has this key, at any depth.
pub(super) fn find<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let object = value.as_object()?;
    match object.contains_key(key) {
        true => Some(value),
        false => object.values().find_map(|inner| find(inner, key)),
    }
}
